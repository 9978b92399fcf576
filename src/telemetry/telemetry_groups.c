/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/telemetry_groups.h"

#include <stdio.h>
#include <string.h>

#include "telemetry/telemetry_answer.h"

#define NAMES "group="
#define COMPLAINT 128 /* bytes: the most that an answer's text has in DPDK 22.11 */

int telemetry_service_groups(struct server *s, const char *params, struct rte_tel_data *d) {
	if (params != NULL)
		return telemetry_complain(d, "allowed: no parameter");
	rte_tel_data_start_dict(d);
	for (unsigned i = 0; i < s->group_count; i++) {
		const struct service_group *sg = s->groups[i].sg;
		struct rte_tel_data *in;

		if (!s->groups[i].there)
			continue;
		in = telemetry_inner(d, sg->id);
		if (in == NULL)
			break;
		telemetry_put_text(in, "name", sg->name);
		telemetry_put(in, "modems", sg->modem_count);
		telemetry_put(in, "channels", sg->channel_count);
		telemetry_put(in, "upstream_channels", sg->upstream_channel_count);
	}
	return 0;
}

static struct served_group *group_with_id(struct server *s, uint64_t id) {
	for (unsigned i = 0; i < s->group_count; i++) {
		if (s->groups[i].there && s->groups[i].sg->id == id)
			return &s->groups[i];
	}
	return NULL;
}

/* The group where there is but one. */
static struct served_group *only_group(struct server *s) {
	struct served_group *only = NULL;
	unsigned groups = 0;

	for (unsigned i = 0; i < s->group_count; i++) {
		if (!s->groups[i].there)
			continue;
		only = &s->groups[i];
		groups++;
	}
	return groups == 1 ? only : NULL;
}

struct served_group *telemetry_group_of(struct server *s, const char **params) {
	char number[TELEMETRY_NUMBER];
	const char *text = *params;
	size_t size;
	uint64_t id;

	if (text == NULL || strncmp(text, NAMES, strlen(NAMES)) != 0)
		return only_group(s);
	text += strlen(NAMES);
	size = strcspn(text, ",");
	*params = text[size] == ',' ? text + size + 1 : NULL;
	if (size >= sizeof(number))
		return NULL;
	memcpy(number, text, size);
	number[size] = '\0';
	return telemetry_number(number, UINT32_MAX, &id) ? group_with_id(s, id) : NULL;
}

int telemetry_complain_group(const struct server *s, struct rte_tel_data *d) {
	char text[COMPLAINT];
	int used = snprintf(text, sizeof(text), "found no such group, allowed: group=ID of");

	for (unsigned i = 0; i < s->group_count; i++) {
		char id[TELEMETRY_NUMBER];
		int size;

		if (!s->groups[i].there)
			continue;
		size = snprintf(id, sizeof(id), " %u", s->groups[i].sg->id);

		if ((size_t)(used + size) + sizeof(" ..") > sizeof(text)) {
			snprintf(text + used, sizeof(text) - (size_t)used, " ..");
			break;
		}
		memcpy(text + used, id, (size_t)size + 1);
		used += size;
	}
	return telemetry_complain(d, text);
}

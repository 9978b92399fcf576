/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/subject.h"

#include <stdio.h>
#include <string.h>

#include "model/live/live_group.h"
#include "model/units.h"

#define ID_TEXT 8 /* ", 65535" */

struct served_group *subject_next_group(struct rpc_call *call, unsigned *place) {
	const struct methods *m = call->service;

	return *place < m->server->group_count ? &m->server->groups[(*place)++] : NULL;
}

const struct service_group *subject_config(const struct served_group *g) {
	return g->qos;
}

size_t subject_modems(const struct served_group *g) {
	const struct service_group *sg = subject_config(g);
	size_t modems = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		modems += modem_is_there(&sg->modems[m]);
	return modems;
}

/* The ids of all groups, as many as there is room for. */
static void list_ids(struct rpc_call *call, char *text, size_t size) {
	const struct served_group *g;
	unsigned place = 0;
	size_t used = 0;

	while ((g = subject_next_group(call, &place)) != NULL) {
		if (used + ID_TEXT + sizeof(", ..") > size) {
			snprintf(text + used, size - used, ", ..");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%u", used > 0 ? ", " : "",
					 g->sg->id);
	}
}

struct served_group *subject_group(struct rpc_call *call, const struct group_subject *s) {
	const struct methods *m = call->service;
	struct served_group *g;
	unsigned place = 0;
	char ids[128] = "", found[32] = "nothing";

	if (!s->given && m->server->group_count == 1)
		return &m->server->groups[0];
	while ((g = subject_next_group(call, &place)) != NULL) {
		if (s->given && g->sg->id == s->id)
			return g;
	}
	if (s->given)
		snprintf(found, sizeof(found), "\"%u\"", s->id);
	list_ids(call, ids, sizeof(ids));
	rpc_refuse(call, s->given ? RPC_REFUSED : RPC_WRONG_PARAMS, "group: found %s, allowed: %s",
		   found, ids);
	return NULL;
}

const struct modem *subject_modem(struct rpc_call *call, const struct served_group *g,
				  const uint8_t mac[6]) {
	const struct service_group *sg = subject_config(g);
	char text[UNITS_TEXT_SIZE];

	for (size_t m = 0; m < sg->modem_count; m++) {
		if (modem_is_there(&sg->modems[m]) && memcmp(sg->modems[m].mac, mac, 6) == 0)
			return &sg->modems[m];
	}
	units_format_mac(mac, text);
	rpc_refuse(call, RPC_REFUSED, "mac: service group %u has no modem %s", sg->id, text);
	return NULL;
}

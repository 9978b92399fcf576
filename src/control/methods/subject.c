/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/subject.h"

#include <stdio.h>

#include "model/live/live_group.h"
#include "model/units.h"

#define ID_TEXT 8 /* ", 65535" */

static const struct key bucket_number = {
	.kind = KIND_REAL,
	.example = "0",
	HELP("lower bound of the bucket in us, then its number of packets"),
};
const struct key bucket_item = {
	.kind = KIND_LIST,
	.max = 2,
	.item = &bucket_number,
	HELP("a bucket"),
};

struct server *subject_server(const struct rpc_call *call) {
	const struct methods *m = call->service;

	return m->server;
}

json_t *subject_refuse_change(struct rpc_call *call, const char *why) {
	subject_server(call)->refused++;
	return rpc_refuse(call, RPC_REFUSED, "%s", why);
}

struct served_group *subject_next_group(struct rpc_call *call, unsigned *slot) {
	struct server *s = subject_server(call);

	while (*slot < s->group_count) {
		struct served_group *g = &s->groups[(*slot)++];

		if (g->in_service)
			return g;
	}
	return NULL;
}

size_t subject_live_groups(struct rpc_call *call, const struct live_group **groups) {
	const struct served_group *g;
	unsigned slot = 0;
	size_t count = 0;

	while ((g = subject_next_group(call, &slot)) != NULL)
		groups[count++] = &g->live;
	return count;
}

const struct service_group *subject_config(const struct served_group *g) {
	return g->sg;
}

size_t subject_modems(const struct served_group *g) {
	return g->live.modems;
}

/* The IDs of all groups, as many as fit; of the group `first` only if `with`. */
static void list_ids(struct rpc_call *call, const struct served_group *first, bool with, char *text,
		     size_t size) {
	const struct served_group *g;
	unsigned slot = 0;
	size_t used = 0;

	while ((g = subject_next_group(call, &slot)) != NULL) {
		if (g == first && !with)
			continue;
		if (used + ID_TEXT + sizeof(", ..") > size) {
			snprintf(text + used, size - used, ", ..");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%u", used > 0 ? ", " : "",
					 g->sg->id);
	}
}

struct served_group *subject_group(struct rpc_call *call, const struct group_subject *s) {
	struct served_group *g, *only;
	unsigned slot = 0;
	char ids[128] = "";

	only = subject_next_group(call, &slot);
	if (!s->given && only != NULL && subject_next_group(call, &slot) == NULL)
		return only;
	slot = 0;
	while ((g = subject_next_group(call, &slot)) != NULL) {
		if (s->given && g->sg->id == s->id)
			return g;
	}
	list_ids(call, only, s->given, ids, sizeof(ids));
	if (s->given || only == NULL)
		rpc_refuse(call, RPC_REFUSED, "no service group %u; in service: %s", s->id, ids);
	else
		rpc_refuse(call, RPC_WRONG_PARAMS,
			   "there are several service groups: add group=%u (or %s)", only->sg->id,
			   ids);
	return NULL;
}

const struct modem *subject_modem(struct rpc_call *call, const struct served_group *g,
				  const uint8_t mac[6]) {
	const struct modem *m = modem_by_mac(subject_config(g), mac);
	char text[UNITS_TEXT_SIZE];

	if (m != NULL)
		return m;
	units_format_mac(mac, text);
	rpc_refuse(call, RPC_REFUSED, "no modem %s in service group %u", text,
		   subject_config(g)->id);
	return NULL;
}

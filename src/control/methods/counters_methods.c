/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/counters_methods.h"

#include "telemetry/report_group.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

/* Without `group`, the result covers all groups. */
const struct key counters_get_params[] = {
	{.name = "group", INTEGER(1, SUBJECT_MAX_GROUP),
	 AT(struct counters_get_params, group.id),
	 .flag = offsetof(struct counters_get_params, group.given), .example = "1",
	 HELP("service group (default: all of them, and the ports that they share)")},
	{0},
};

static const struct key counted_item = {
	INTEGER(0, INT64_MAX), .example = "0", HELP("count since the start"),
};
static const struct key counted_keys[] = {
	{.name = "drops", .required = true, .kind = KIND_MAP, .item = &counted_item,
	 HELP("drops by reason (docs/counters.md)")},
	{.name = "counters", .required = true, .kind = KIND_MAP, .item = &counted_item,
	 HELP("counters by name (docs/counters.md)")},
	{0},
};
static const struct key counted_group_keys[] = {
	{.name = "id", .required = true, INTEGER(1, SUBJECT_MAX_GROUP), .example = "1",
	 HELP("ID of the service group")},
	{.name = "downstream", .required = true, .kind = KIND_MAP, .keys = counted_keys,
	 HELP("drops and counters downstream")},
	{.name = "upstream", .kind = KIND_MAP, .keys = counted_keys,
	 HELP("drops and counters upstream; absent if the group has no upstream")},
	{0},
};
static const struct key counted_group_item = {
	.kind = KIND_MAP, .keys = counted_group_keys, HELP("a service group"),
};
static const struct key counted_port_keys[] = {
	{.name = "port", .required = true, .kind = KIND_TEXT, .example = "network 0",
	 HELP("name of the port")},
	{.name = "drops", .required = true, .kind = KIND_MAP, .item = &counted_item,
	 HELP("drops at the port, by reason (docs/counters.md)")},
	{.name = "counters", .required = true, .kind = KIND_MAP, .item = &counted_item,
	 HELP("counters by name (docs/counters.md)")},
	{0},
};
static const struct key counted_port_item = {
	.kind = KIND_MAP, .keys = counted_port_keys, HELP("a port that groups share"),
};

const struct key counters_get_result[] = {
	{.name = "groups", .required = true, .kind = KIND_LIST, .max = SERVER_MAX_GROUPS,
	 .item = &counted_group_item, HELP("service groups")},
	{.name = "shared_ports", .required = true, .kind = KIND_LIST, .max = SERVER_PORTS_MAX,
	 .item = &counted_port_item, HELP("ports that groups share; none if `group` is given")},
	{0},
};
/* clang-format on */

static json_t *counted_json(const struct counters *c, enum direction direction) {
	return json_pack("{s:o, s:o}", "drops", report_drops(c, direction), "counters",
			 report_counters(c, direction));
}

static json_t *counted_group(const struct served_group *g) {
	struct counters down;
	json_t *json;

	downstream_counters(g->downstream, &down);
	json = json_pack("{s:I, s:o}", "id", (json_int_t)g->sg->id, "downstream",
			 counted_json(&down, DIRECTION_DOWN));
	if (g->upstream != NULL)
		json_object_set_new(json, "upstream",
				    counted_json(&g->upstream->counters, DIRECTION_UP));
	return json;
}

static json_t *counted_ports(const struct server *s) {
	json_t *list = json_array();

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct port_share *share = s->shares.of[p];
		struct counters all;

		if (share == NULL)
			continue;
		share_counters(share, &all);
		json_array_append_new(list,
				      json_pack("{s:s, s:o, s:o}", "port", share->name, "drops",
						report_drops(&all, DIRECTION_PORT), "counters",
						report_counters(&all, DIRECTION_PORT)));
	}
	return list;
}

/* Counters of all groups and of shared ports. */
static json_t *counted_server(struct rpc_call *call) {
	const struct methods *m = call->service;
	const struct served_group *g;
	json_t *groups = json_array();
	unsigned slot = 0;

	while ((g = subject_next_group(call, &slot)) != NULL)
		json_array_append_new(groups, counted_group(g));
	return json_pack("{s:o, s:o}", "groups", groups, "shared_ports", counted_ports(m->server));
}

json_t *counters_get(struct rpc_call *call) {
	const struct counters_get_params *p = call->params;
	const struct served_group *g;

	if (!p->group.given)
		return counted_server(call);
	g = subject_group(call, &p->group);
	if (g == NULL)
		return NULL;
	return json_pack("{s:[o], s:[]}", "groups", counted_group(g), "shared_ports");
}

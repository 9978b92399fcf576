/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/config_methods.h"

#include "methods/methods.h"
#include "methods/subject.h"
#include "model/key_rows.h"
#include "model/live/group_json.h"

/* One row a key, to be read as a table. */
/* clang-format off */
const struct key config_get_params[] = {
	{.name = "keys", BOOL, AT(struct config_get_params, keys), .fallback = "false",
	 HELP("with the traffic encryption keys, without which it cannot be read as a file")},
	{0},
};
const struct key config_get_result[] = {
	{.name = "generation", .required = true, INTEGER(0, INT64_MAX), .example = "0",
	 HELP("changes since the start")},
	{.name = "config", .required = true, .kind = KIND_JSON,
	 HELP("what is in service, with the keys of a server's file")},
	{0},
};
const struct key config_reload_result[] = {
	{.name = "done", .required = true, .kind = KIND_TEXT,
	 .example = "sg.yaml: read again: 6 channels changed",
	 HELP("what has changed, as vcmtsd prints it")},
	{0},
};
const struct key config_refuse_result[] = {
	{.name = "refused", .required = true, INTEGER(0, INT64_MAX), .example = "1",
	 HELP("changes that were refused since the start, this one included")},
	{0},
};
/* clang-format on */

json_t *config_get(struct rpc_call *call) {
	const struct config_get_params *p = call->params;
	json_t *groups = json_array();
	const struct served_group *g;
	unsigned place = 0;

	while ((g = subject_next_group(call, &place)) != NULL) {
		json_t *group = group_json(&g->live, p->keys);

		if (json_array_append_new(groups, group) != 0) {
			json_decref(groups);
			return rpc_refuse(call, RPC_INTERNAL, "no memory left");
		}
	}
	return json_pack("{s:I, s:{s:o}}", "generation",
			 (json_int_t)((const struct methods *)call->service)->server->generation,
			 "config", "service_groups", groups);
}

json_t *config_reload(struct rpc_call *call) {
	const struct methods *m = call->service;

	if (!reload_run(m->reload))
		return rpc_refuse(call, RPC_REFUSED, "%s", m->reload->line);
	return json_pack("{s:o}", "done", rpc_text(m->reload->line));
}

/* Whoever makes the file from another one may find that one wrong. */
json_t *config_refuse(struct rpc_call *call) {
	struct server *server = ((const struct methods *)call->service)->server;

	server->refused++;
	return json_pack("{s:I}", "refused", (json_int_t)server->refused);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes methods as an OpenRPC document. */
#include "control/reported_keys.h"
#include "control/rpc.h"
#include "model/load/schema.h"

static json_t *params_describe(const struct key *keys) {
	json_t *params = json_array();

	for (const struct key *key = keys; key != NULL && key->name != NULL; key++)
		json_array_append_new(params,
				      json_pack("{s:s, s:b, s:o}", "name", key->name, "required",
						key->required, "schema", schema_of_key(key)));
	return params;
}

static json_t *refusals_describe(const char *refused) {
	if (refused == NULL)
		return json_array();
	return json_pack("[{s:i, s:s}]", "code", (int)RPC_REFUSED, "message", refused);
}

/* Returns NULL without memory. */
static json_t *result_describe(const struct rpc_method *m) {
	struct arena *arena;
	const struct key *keys;
	json_t *schema = NULL;

	if (m->reported == NULL)
		return schema_of_keys(m->result, true);
	arena = arena_new();
	keys = arena != NULL ? reported_keys(arena, m->reported, m->result) : NULL;
	if (keys != NULL)
		schema = schema_of_keys(keys, true);
	arena_free(arena);
	return schema;
}

static json_t *method_describe(const struct rpc_method *m) {
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:s, s:o}, s:o}", "name", m->name, "summary",
			 m->about, "paramStructure", "by-name", "params",
			 params_describe(m->params), "result", "name", "result", "schema",
			 result_describe(m), "errors", refusals_describe(m->refused));
}

json_t *rpc_describe(const struct rpc *rpc) {
	json_t *methods = json_array();

	for (size_t m = 0; m < rpc->method_count; m++)
		json_array_append_new(methods, method_describe(&rpc->methods[m]));
	return json_pack("{s:s, s:{s:s, s:s}, s:o}", "openrpc", "1.3.2", "info", "title",
			 "OpenVCMTS control", "version", "1", "methods", methods);
}

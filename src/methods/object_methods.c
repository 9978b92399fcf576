/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/object_methods.h"

#include "model/live/request.h"
#include "server/changes.h"

/* One row a key, to be read as a table. */
/* clang-format off */
const struct key object_result[] = {
	{.name = "done", .required = true, .kind = KIND_TEXT, .example = "1 modem added",
	 HELP("what has changed")},
	{.name = "generation", .required = true, INTEGER(0, INT64_MAX), .example = "1",
	 HELP("changes since the start, this one included")},
	{0},
};

#define OBJECT_KEY(key, text) {.name = (key), .required = true, .kind = KIND_JSON, HELP(text)}
#define OBJECT_KEYS(object, list, by)                                                          \
	const struct key object##_params[] = {                                                 \
		GROUP_KEY(struct object_params, group),                                        \
		OBJECT_KEY(#object, "the keys of an item of `" list "` in the configuration; " \
			   "set: " by " and those that are to differ (a merge patch, RFC 7396, " \
			   "in which an object for a list names its items by their ids)"),     \
		{0},                                                                           \
	};                                                                                     \
	const struct key object##_remove_params[] = {                                          \
		GROUP_KEY(struct object_params, group),                                        \
		OBJECT_KEY(#object, "its " by " alone"),                                       \
		{0},                                                                           \
	};

OBJECT_KEYS(modem, "modems", "mac")
OBJECT_KEYS(channel, "channels", "id")
OBJECT_KEYS(upstream_channel, "upstream_channels", "id")
OBJECT_KEYS(bonding_group, "bonding_groups", "id")
OBJECT_KEYS(filter_group, "filter_groups", "id")

const struct key group_set_params[] = {
	GROUP_KEY(struct object_params, group),
	OBJECT_KEY("values", "rate_limit, cpe_timeout or both, as in the configuration"),
	{0},
};
/* clang-format on */

static json_t *make(struct rpc_call *call, struct served_group *g, struct live_changes *changes,
		    const char *text) {
	const struct methods *m = call->service;
	struct server_change *c = server_change_open(m->server);
	char why[LIVE_LINE];
	bool good;

	if (c == NULL)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	good = server_change_add(c, (unsigned)(g - m->server->groups), changes, why);
	if (good)
		server_change_make(c);
	server_change_close(c);
	if (!good)
		return rpc_refuse(call, RPC_REFUSED, "%s", why);
	return json_pack("{s:s, s:I}", "done", text, "generation",
			 (json_int_t)m->server->generation);
}

json_t *object_change(struct rpc_call *call, struct served_group *g, struct live_changes *changes) {
	const struct methods *m = call->service;
	char text[LIVE_LINE];
	json_t *result;

	live_changes_text(&g->live, changes, text, sizeof(text));
	if (changes->count == 0)
		result = json_pack("{s:s, s:I}", "done", text, "generation",
				   (json_int_t)m->server->generation);
	else
		result = make(call, g, changes, text);
	live_changes_free(changes);
	return result;
}

static json_t *request(struct rpc_call *call, enum live_verb verb, enum live_object object,
		       const char *param) {
	const struct object_params *p = call->params;
	struct served_group *g = subject_group(call, &p->group);
	struct live_changes changes = {0};
	char why[LIVE_LINE];

	if (g == NULL)
		return NULL;
	if (!live_request(&g->live, verb, object, json_object_get(call->given, param), &changes,
			  why))
		return rpc_refuse(call, RPC_REFUSED, "%s", why);
	return object_change(call, g, &changes);
}

#define OBJECT_RUNS(object, kind)                                  \
	json_t *object##_add(struct rpc_call *call) {              \
		return request(call, LIVE_ADD, kind, #object);     \
	}                                                          \
	json_t *object##_replace(struct rpc_call *call) {          \
		return request(call, LIVE_REPLACE, kind, #object); \
	}                                                          \
	json_t *object##_set(struct rpc_call *call) {              \
		return request(call, LIVE_SET, kind, #object);     \
	}                                                          \
	json_t *object##_remove(struct rpc_call *call) {           \
		return request(call, LIVE_REMOVE, kind, #object);  \
	}

OBJECT_RUNS(modem, LIVE_MODEM)
OBJECT_RUNS(channel, LIVE_CHANNEL)
OBJECT_RUNS(upstream_channel, LIVE_UPSTREAM_CHANNEL)
OBJECT_RUNS(bonding_group, LIVE_BONDING_GROUP)
OBJECT_RUNS(filter_group, LIVE_FILTER_GROUP)

json_t *group_set(struct rpc_call *call) {
	return request(call, LIVE_SET, LIVE_GROUP, "values");
}

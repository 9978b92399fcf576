/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/object_methods.h"

#include <stdio.h>

#include "model/live/live_kind.h"
#include "model/live/live_port_conflicts.h"
#include "model/live/request.h"
#include "platform/log/log.h"
#include "server/changes.h"

/* One entry per key, laid out as a table. */
/* clang-format off */
const struct key object_result[] = {
	{.name = "done", .required = true, .kind = KIND_TEXT, .example = "1 modem added",
	 HELP("summary of the change")},
	{.name = "generation", .required = true, INTEGER(0, INT64_MAX), .example = "1",
	 HELP("number of changes since the server's start, including this one")},
	{0},
};

#define OBJECT_KEY(key, text) {.name = (key), .required = true, .kind = KIND_JSON, HELP(text)}
#define ID_KEY(text)                                                                           \
	{.name = "id", .required = true, INTEGER(0, KEYS_MAX_ID), AT(struct object_params, id),     \
	 .example = "1", HELP(text)}
#define WHOLE(list, by)                                                                        \
	"add, replace: the keys of an item of `" list "` in the configuration; set: `" by           \
	"` and the keys to change, as a merge patch (RFC 7396). An object in place of a list "    \
	"changes items of the list: its names are their IDs"

const struct key modem_params[] = {
	GROUP_KEY(struct object_params, group),
	OBJECT_KEY("modem", WHOLE("modems", "mac")),
	{0},
};
const struct key modem_remove_params[] = {
	GROUP_KEY(struct object_params, group),
	{.name = "mac", .required = true, .kind = KIND_MAC, AT(struct object_params, mac),
	 .example = "02:01:00:00:00:01", HELP("MAC address of the modem")},
	{0},
};
const struct key filter_group_params[] = {
	GROUP_KEY(struct object_params, group),
	OBJECT_KEY("filter_group", WHOLE("filter_groups", "id")),
	{0},
};
const struct key filter_group_remove_params[] = {
	GROUP_KEY(struct object_params, group),
	ID_KEY("ID of the filter group"),
	{0},
};
const struct key channel_params[] = {
	GROUP_KEY(struct object_params, group),
	OBJECT_KEY("channel", WHOLE("channels", "id")),
	{0},
};
const struct key channel_remove_params[] = {
	GROUP_KEY(struct object_params, group),
	ID_KEY("ID of the channel"),
	{0},
};
const struct key upstream_channel_params[] = {
	GROUP_KEY(struct object_params, group),
	OBJECT_KEY("upstream_channel", WHOLE("upstream_channels", "id")),
	{0},
};
const struct key upstream_channel_remove_params[] = {
	GROUP_KEY(struct object_params, group),
	ID_KEY("ID of the upstream channel"),
	{0},
};
const struct key bonding_group_params[] = {
	GROUP_KEY(struct object_params, group),
	OBJECT_KEY("bonding_group", WHOLE("bonding_groups", "id")),
	{0},
};
const struct key bonding_group_remove_params[] = {
	GROUP_KEY(struct object_params, group),
	ID_KEY("ID of the bonding group"),
	{0},
};
const struct key group_set_params[] = {
	GROUP_KEY(struct object_params, group),
	OBJECT_KEY("values", "rate_limit, cpe_timeout or both, as in the configuration"),
	{0},
};
/* clang-format on */

#define MAX_RETIRING 256 /* limit of changes that retire at the same time; the next one waits */

/* State of a call that waits until its removed objects, or earlier changes in conflict with it,
 * have retired. */
struct object_wait {
	bool applied;
	uint64_t generation; /* of this change, or of the last earlier change */
	char text[LIVE_LINE]; /* the summary of the change for the response */
};

static json_t *done(const char *text, uint64_t generation) {
	log_debug("change", LOG_FIELDS(LOG_NUMBER("generation", generation)), "%s", text);
	return json_pack("{s:s, s:I}", "done", text, "generation", (json_int_t)generation);
}

/* The state of the call; NULL without memory. */
static struct object_wait *wait_of(struct rpc_call *call) {
	if (call->state == NULL)
		call->state = arena_alloc(call->arena, 1, sizeof(struct object_wait));
	return call->state;
}

/* Responds after the removed objects have retired. Without memory to wait, responds at once. */
static json_t *applied(struct rpc_call *call, const char *text, uint64_t generation, bool removes) {
	struct object_wait *w;

	call->changed = true;
	if (!removes || server_changes_retired(subject_server(call), generation))
		return done(text, generation);
	w = wait_of(call);
	if (w == NULL)
		return done(text, generation);
	w->applied = true;
	w->generation = generation;
	snprintf(w->text, sizeof(w->text), "%s", text);
	return rpc_wait(call);
}

/* An object that still retires may have a slot or session that this change needs. So the call
 * repeats the change once all current changes have retired; then a refusal is final. */
static json_t *refused(struct rpc_call *call, const char *why) {
	struct server *s = subject_server(call);
	bool first = call->state == NULL;
	struct object_wait *w = s->retiring != NULL ? wait_of(call) : call->state;

	if (w != NULL && first)
		w->generation = s->generation;
	if (w != NULL && !server_changes_retired(s, w->generation))
		return rpc_wait(call);
	return subject_refuse_change(call, why);
}

static bool removes_any(const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		if (changes->list[i].next == NULL)
			return true;
	}
	return false;
}

/* Prepares and applies the changes. */
static json_t *make(struct rpc_call *call, unsigned group, struct live_changes *changes,
		    const char *text) {
	struct server_change *c = server_change_open(subject_server(call), call->method->name);
	bool removes = removes_any(changes);
	char why[LIVE_LINE];

	if (c == NULL)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	if (server_change_add(c, group, changes, why))
		return applied(call, text, server_change_apply(c), removes);
	server_change_close(c);
	return refused(call, why);
}

json_t *object_change(struct rpc_call *call, struct served_group *g, struct live_changes *changes,
		      const char *summary) {
	struct server *s = subject_server(call);
	unsigned group = (unsigned)(g - s->groups);
	char text[LIVE_LINE];
	json_t *result;

	if (summary != NULL)
		snprintf(text, sizeof(text), "%s", summary);
	else
		live_changes_text(&g->live, changes, text, sizeof(text));
	server_changes_retire(s);
	if (changes->count == 0)
		result = done(text, s->generation);
	else if (server_changes_retiring(s) >= MAX_RETIRING ||
		 server_changes_overlap(s, group, changes))
		result = rpc_wait(call);
	else
		result = make(call, group, changes, text);
	live_changes_free(changes);
	return result;
}

/* Continues a call that waits for its removed objects to retire. */
static json_t *finish(struct rpc_call *call, const struct object_wait *w) {
	server_changes_retire(subject_server(call));
	if (!server_changes_retired(subject_server(call), w->generation))
		return rpc_wait(call);
	return done(w->text, w->generation);
}

/* Validates as for a file: added objects must not conflict with those of other groups on the same
 * ports. */
static bool differs_from_others(struct rpc_call *call, const struct served_group *g,
				const struct live_changes *changes, char why[LIVE_LINE]) {
	const struct live_group *groups[SERVER_MAX_GROUPS];
	size_t count = subject_live_groups(call, groups), changed = 0;

	while (groups[changed] != &g->live)
		changed++;
	return live_port_conflicts(groups, count, changed, changes, why);
}

/* The name of the parameter that has the object, such as "modem". */
static const char *object_param(enum live_object object) {
	return object == LIVE_GROUP ? "values" : live_kinds[object].item;
}

json_t *object_request(struct rpc_call *call) {
	const struct object_params *p = call->params;
	const struct object_wait *w = call->state;
	enum live_object object = call->method->object;
	struct live_changes changes = {0};
	struct served_group *g;
	char why[LIVE_LINE];
	json_t *value;

	if (w != NULL && w->applied)
		return finish(call, w);
	g = subject_group(call, &p->group);
	if (g == NULL)
		return NULL;
	/* a removal has the name beside the group */
	value = call->method->verb == LIVE_REMOVE
			? call->given
			: json_object_get(call->given, object_param(object));
	if (!live_request(&g->live, call->method->verb, object, value, &changes, why))
		return subject_refuse_change(call, why);
	if (!differs_from_others(call, g, &changes, why)) {
		live_changes_free(&changes);
		return subject_refuse_change(call, why);
	}
	return object_change(call, g, &changes, NULL);
}

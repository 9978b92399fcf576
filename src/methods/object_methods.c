/* SPDX-License-Identifier: BSD-3-Clause */
#include "methods/object_methods.h"

#include <stdio.h>

#include "log/log.h"
#include "model/live/live_between.h"
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

#define MOST_LEAVING 256 /* changes whose remains leave, when another one is taken */

/* Of a call that waits: for what it has removed, or for what others have, and what stands in its way. */
struct object_wait {
	bool taken;
	uint64_t generation; /* with this change, or with those before it */
	char text[LIVE_LINE]; /* what was done */
};

static json_t *done(const char *text, uint64_t generation) {
	log_debug("change", LOG_FIELDS(LOG_NUMBER("generation", generation)), "%s", text);
	return json_pack("{s:s, s:I}", "done", text, "generation", (json_int_t)generation);
}

static struct object_wait *wait_of(struct rpc_call *call) {
	if (call->state == NULL)
		call->state = arena_alloc(call->arena, 1, sizeof(struct object_wait));
	return call->state;
}

/* What goes has left when this is answered. Without memory to remember it, it is answered before. */
static json_t *taken(struct rpc_call *call, const char *text, uint64_t generation, bool goes) {
	struct object_wait *w;

	call->changed = true;
	if (!goes || server_changes_have_left(subject_server(call), generation))
		return done(text, generation);
	w = wait_of(call);
	if (w == NULL)
		return done(text, generation);
	w->taken = true;
	w->generation = generation;
	snprintf(w->text, sizeof(w->text), "%s", text);
	return rpc_wait(call);
}

/* Something that leaves may have what this needs: a place, a session. It is tried again once all that leaves now
 * has left, and then what is said holds. */
static json_t *refused(struct rpc_call *call, const char *why) {
	struct server *s = subject_server(call);
	bool first = call->state == NULL;
	struct object_wait *w = s->leaving != NULL ? wait_of(call) : call->state;

	if (w != NULL && first)
		w->generation = s->generation;
	if (w != NULL && !server_changes_have_left(s, w->generation))
		return rpc_wait(call);
	return subject_refuse_change(call, why);
}

static bool something_goes(const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		if (changes->list[i].next == NULL)
			return true;
	}
	return false;
}

static json_t *make(struct rpc_call *call, unsigned group, struct live_changes *changes,
		    const char *text) {
	struct server_change *c = server_change_open(subject_server(call));
	bool goes = something_goes(changes);
	char why[LIVE_LINE];

	if (c == NULL)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	if (server_change_add(c, group, changes, why))
		return taken(call, text, server_change_take(c), goes);
	server_change_close(c);
	return refused(call, why);
}

json_t *object_change(struct rpc_call *call, struct served_group *g, struct live_changes *changes) {
	struct server *s = subject_server(call);
	unsigned group = (unsigned)(g - s->groups);
	char text[LIVE_LINE];
	json_t *result;

	live_changes_text(&g->live, changes, text, sizeof(text));
	server_changes_go_on(s);
	if (changes->count == 0)
		result = done(text, s->generation);
	else if (server_changes_leaving(s) >= MOST_LEAVING ||
		 server_changes_meet(s, group, changes))
		result = rpc_wait(call);
	else
		result = make(call, group, changes, text);
	live_changes_free(changes);
	return result;
}

/* Of a call that waits for what it has removed. */
static json_t *left(struct rpc_call *call, const struct object_wait *w) {
	server_changes_go_on(subject_server(call));
	if (!server_changes_have_left(subject_server(call), w->generation))
		return rpc_wait(call);
	return done(w->text, w->generation);
}

/* As a file is checked: what the changes bring must differ from what other groups of the same ports have. */
static bool differs_from_others(struct rpc_call *call, const struct served_group *g,
				const struct live_changes *changes, char why[LIVE_LINE]) {
	const struct live_group *groups[SERVER_MAX_GROUPS];
	size_t count = subject_live_groups(call, groups), changed = 0;

	while (groups[changed] != &g->live)
		changed++;
	return live_between(groups, count, changed, changes, why);
}

static json_t *request(struct rpc_call *call, enum live_verb verb, enum live_object object,
		       const char *param) {
	const struct object_params *p = call->params;
	const struct object_wait *w = call->state;
	struct live_changes changes = {0};
	struct served_group *g;
	char why[LIVE_LINE];

	if (w != NULL && w->taken)
		return left(call, w);
	g = subject_group(call, &p->group);
	if (g == NULL)
		return NULL;
	if (!live_request(&g->live, verb, object, json_object_get(call->given, param), &changes,
			  why))
		return subject_refuse_change(call, why);
	if (!differs_from_others(call, g, &changes, why)) {
		live_changes_free(&changes);
		return subject_refuse_change(call, why);
	}
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

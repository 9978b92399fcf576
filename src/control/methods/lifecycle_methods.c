/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/lifecycle_methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/grants_times.h"
#include "model/live/live_port_conflicts.h"
#include "server/group_lifecycle.h"
#include "server/running.h"

#define NS_PER_MS 1000000

/* One entry per key, laid out as a table. */
/* clang-format off */
#define LIMIT_KEY                                                                            \
	{.name = "limit", .kind = KIND_DURATION, AT(struct group_lifecycle_params, limit_ns),     \
	 .min = 0, .max = UINT64_C(10000000000), .fallback = "500ms",                        \
	 HELP("time limit for sending pending packets")}

const struct key group_add_params[] = {
	{.name = "file", .required = true, .kind = KIND_PATH, AT(struct group_add_params, file),
	 .example = "sg5.yaml", HELP("path of the configuration of one service group, on "
				     "vcmtsd's machine")},
	{0},
};
const struct key group_lifecycle_params[] = {
	GROUP_KEY(struct group_lifecycle_params, group),
	LIMIT_KEY,
	{0},
};
const struct key group_resume_params[] = {
	GROUP_KEY(struct group_lifecycle_params, group),
	{0},
};

#define CORE_KEY(key, member, text)                                                          \
	{.name = (key), .required = true, INTEGER(0, KEYS_MAX_CORE),                         \
	 AT(struct worker_params, member), .example = "1", HELP(text)}

const struct key worker_drain_params[] = {
	CORE_KEY("core", core, "core of the worker to drain"),
	CORE_KEY("to", to, "core of the worker that gets its pipelines"),
	{0},
};
const struct key worker_resume_params[] = {
	CORE_KEY("core", core, "core of the worker that gets its original pipelines back"),
	{0},
};

const struct key lifecycle_result[] = {
	{.name = "generation", .required = true, INTEGER(0, INT64_MAX), .example = "1",
	 HELP("number of changes since the server's start, including this one")},
	{0},
};
const struct key drain_result[] = {
	{.name = "held", .required = true, INTEGER(0, INT64_MAX), .example = "0",
	 HELP("packets and parts of packets that are still pending")},
	{.name = "waiting", .required = true, INTEGER(0, INT64_MAX), .example = "0",
	 HELP("pending parts whose missing parts have not arrived; they wait until the "
	      "group is resumed")},
	{0},
};
/* clang-format on */

static unsigned number_of(const struct rpc_call *call, const struct served_group *g) {
	return (unsigned)(g - subject_server(call)->groups);
}

static json_t *lifecycle_done(struct rpc_call *call) {
	call->changed = true;
	return json_pack("{s:I}", "generation", (json_int_t)subject_server(call)->generation);
}

/* Makes space for one more unsaved change. */
static bool group_may_be_noted(const struct rpc_call *call, char why[LIVE_LINE]) {
	if (unsaved_reserve(&subject_server(call)->unsaved, 1))
		return true;
	snprintf(why, LIVE_LINE, "no memory left for a change");
	return false;
}

static bool add(struct rpc_call *call, const struct service_group *sg, char why[LIVE_LINE]) {
	const struct live_group *groups[SERVER_MAX_GROUPS];
	size_t count = subject_live_groups(call, groups);
	unsigned group;

	if (!live_port_conflicts_new(groups, count, sg, why) || !group_may_be_noted(call, why) ||
	    !server_group_add(subject_server(call), sg, &group, why))
		return false;
	unsaved_add_group(&subject_server(call)->unsaved, sg->id, UNSAVED_ADDED,
			  call->method->name);
	return true;
}

json_t *group_add(struct rpc_call *call) {
	const struct group_add_params *p = call->params;
	const struct methods *m = call->service;
	struct load_cache *kept = NULL;
	const struct server_config *config;
	char *message, why[LIVE_LINE];
	bool good = false;

	config = reload_load(m->reload, &kept, p->file, &message);
	if (config == NULL) {
		int length;
		const char *first = reload_first_line(message, &length);

		m->server->refused++;
		rpc_refuse(call, RPC_REFUSED, "%.*s", length, first);
		free(message);
		return NULL;
	}
	if (config->group_count != 1)
		snprintf(why, sizeof(why), "file: has %zu service groups; group.add adds one",
			 config->group_count);
	else
		good = add(call, &config->groups[0], why);
	server_config_free_cache(kept);
	return good ? lifecycle_done(call) : subject_refuse_change(call, why);
}

json_t *group_remove(struct rpc_call *call) {
	const struct group_lifecycle_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	unsigned limit = (unsigned)(p->limit_ns / NS_PER_MS);
	char why[LIVE_LINE];
	uint32_t id;

	if (g == NULL)
		return NULL;
	id = g->sg->id;
	if (!group_may_be_noted(call, why) ||
	    !server_group_remove(subject_server(call), number_of(call, g), limit, why))
		return subject_refuse_change(call, why);
	unsaved_add_group(&subject_server(call)->unsaved, id, UNSAVED_REMOVED, call->method->name);
	return lifecycle_done(call);
}

/* The time until granted upstream bursts have arrived, with 1 ms for the worker to stop granting; in
 * ms rounded up, at most `limit_ns`. */
static unsigned drain_first(const struct served_group *g, uint64_t limit_ns) {
	uint64_t ahead = g->sg->upstream.scheduled ? grants_ahead(g->sg) + NS_PER_MS : 0;

	return (unsigned)((RTE_MIN(ahead, limit_ns) + NS_PER_MS - 1) / NS_PER_MS);
}

/* Other clients are served while the group drains. The call's `state` is the time limit. */
json_t *group_drain(struct rpc_call *call) {
	const struct group_lifecycle_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	uint64_t *end = call->state, pending, waiting;

	if (g == NULL)
		return NULL;
	if (end == NULL) {
		call->state = end = arena_alloc(call->arena, 1, sizeof(*end));
		if (end == NULL)
			return rpc_refuse(call, RPC_INTERNAL, "no memory left");
		*end = server_now(subject_server(call)) + p->limit_ns;
		server_group_drain(subject_server(call), number_of(call, g),
				   drain_first(g, p->limit_ns));
		call->changed = true;
	}
	if (!g->drained) /* group.resume may have ended the drain meanwhile */
		return rpc_refuse(
			call, RPC_REFUSED,
			"group: service group %u was resumed or replaced during the drain",
			g->sg->id);
	/* read before `pending`, so that a packet that moves between both reads is not counted as
	 * waiting */
	waiting = served_group_waiting(g);
	pending = served_group_remaining(g);
	if (pending > waiting && server_now(subject_server(call)) < *end)
		return rpc_wait(call);
	return json_pack("{s:I,s:I}", "held", (json_int_t)pending, "waiting",
			 (json_int_t)RTE_MIN(waiting, pending));
}

json_t *group_resume(struct rpc_call *call) {
	const struct group_lifecycle_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);

	if (g == NULL)
		return NULL;
	server_group_resume(subject_server(call), number_of(call, g));
	return lifecycle_done(call);
}

/* The index of the worker on a core; `worker_count` if the call was refused. */
static unsigned worker_on(struct rpc_call *call, const char *param, uint32_t core) {
	const struct server *s = subject_server(call);
	unsigned w = 0;

	while (w < s->worker_count && s->layout.cores[w] != core)
		w++;
	if (w == s->worker_count)
		rpc_refuse(call, RPC_REFUSED, "%s: no worker has core %u", param, core);
	return w;
}

json_t *worker_drain(struct rpc_call *call) {
	const struct worker_params *p = call->params;
	struct server *s = subject_server(call);
	unsigned from = worker_on(call, "core", p->core), to;

	if (from == s->worker_count)
		return NULL;
	to = worker_on(call, "to", p->to);
	if (to == s->worker_count)
		return NULL;
	if (from == to)
		return rpc_refuse(call, RPC_REFUSED, "to: core %u is the one to drain", p->to);
	if (server_worker_drain(s, from, to) != 0)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	return lifecycle_done(call);
}

json_t *worker_resume(struct rpc_call *call) {
	const struct worker_params *p = call->params;
	struct server *s = subject_server(call);
	unsigned worker = worker_on(call, "core", p->core);

	if (worker == s->worker_count)
		return NULL;
	if (server_worker_resume(s, worker) != 0)
		return rpc_refuse(call, RPC_INTERNAL, "no memory left");
	return lifecycle_done(call);
}

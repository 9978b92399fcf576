/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies a prepared change on the workers, and retires what it replaced. */
#include "downstream/change/change.h"
#include "server/change_parts.h"
#include "server/running.h"
#include "server/steering.h"
#include "sharing/change.h"
#include "upstream/change/change.h"

static void chain_add(struct chain *chain, struct worker_task *task, struct worker *w,
		      bool (*step)(void *arg), void *arg) {
	*task = (struct worker_task){.step = step, .arg = arg, .worker = w};
	if (chain->first == NULL)
		chain->first = task;
	else
		*chain->end = task;
	chain->end = &task->next;
}

/* Adds a task for a part of the change; NULL: the part does not change. */
static void apply_add(struct server_change *c, struct group_change *g, struct worker *w,
		      bool (*step)(void *arg), void *arg) {
	if (arg != NULL)
		chain_add(&c->apply, &g->applies[g->apply_count++], w, step, arg);
}

/* As apply_add(), for a task after the queues of removed flows have drained. */
static void retire_add(struct group_change *g, struct worker *w, bool (*step)(void *arg),
		       void *arg) {
	if (arg != NULL)
		chain_add(&g->retire, &g->retires[g->retire_count++], w, step, arg);
}

/* The owner of a shared port removes objects first and adds objects last: it hands the group no
 * packets of objects that the group does not know. The upstream knows a new key before the
 * downstream uses it. */
static void group_tasks_add(struct server_change *c, struct group_change *g) {
	const struct served_group *group = g->group;

	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		apply_add(c, g, g->shares[p].owner, share_change_remove, g->shares[p].change);
	apply_add(c, g, group->upstream_worker, us_change_apply, g->upstream);
	apply_add(c, g, group->upper, ds_change_upper, g->downstream);
	apply_add(c, g, group->lower, ds_change_lower, g->downstream);
	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		apply_add(c, g, g->shares[p].owner, share_change_add, g->shares[p].change);
	retire_add(g, group->upper, ds_change_close, g->downstream);
	retire_add(g, group->lower, ds_change_flushed, g->downstream);
	retire_add(g, group->upstream_worker, us_change_flushed, g->upstream);
}

/* One chain for the tasks of all groups, so that the caller waits once. */
static void tasks_add(struct server_change *c) {
	server_notify_differences(c);
	for (unsigned g = 0; g < c->count; g++)
		group_tasks_add(c, c->groups[g]);
	c->next = c->apply.first;
	c->has_tasks = true;
}

/* Updates the NIC's rules where sessions may have changed, after owner and group know them. */
static void steer_update(struct server_change *c) {
	struct server *s = c->server;

	for (unsigned i = 0; i < c->count; i++) {
		unsigned slot = (unsigned)(c->groups[i]->group - s->groups);

		if (c->groups[i]->shares[DEVICE_RPHY].change != NULL)
			server_steer(s, s->ports.of[slot][DEVICE_RPHY]);
	}
}

/* Updates the live groups, with which the next change is compared. */
static void groups_apply(struct server_change *c) {
	pthread_rwlock_wrlock(&c->server->lock);
	c->generation = ++c->server->generation;
	for (unsigned i = 0; i < c->count; i++) {
		struct group_change *g = c->groups[i];

		if (c->method != NULL)
			unsaved_add(&c->server->unsaved, &g->group->live, &g->changes, c->method);
		change_keys_apply(&g->keys, g->group, &g->changes);
		live_changes_apply(&g->group->live, &g->changes);
	}
	pthread_rwlock_unlock(&c->server->lock);
	steer_update(c);
	c->applied = true;
	server_notify_applied(c->server, &c->watched);
}

/* Returns when all workers have applied the change, which has not retired yet. */
static void change_apply(struct server_change *c) {
	tasks_add(c);
	if (c->apply.first != NULL) {
		worker_chain_begin(c->apply.first, WORKER_NOW, &c->all_applied);
		worker_chain_wait(&c->all_applied);
	}
	groups_apply(c);
}

/* Whether the queues of removed flows are empty, or CHANGE_DRAIN_MS have passed since the first
 * call. */
static bool queues_are_done(struct group_change *g) {
	uint64_t now = __atomic_load_n(&g->group->upper->clock.now, __ATOMIC_RELAXED);

	if (g->drain_end == 0)
		g->drain_end = now + CHANGE_DRAIN_MS * UINT64_C(1000000);
	return ds_change_drained(g->downstream) || now >= g->drain_end;
}

/* Returns whether the group has retired its part. Chains of WORKER_LATER run one at a time. */
static bool group_retires(struct server *s, struct group_change *g) {
	if (g->retiring == RETIRE_QUEUES && s->retires == NULL && queues_are_done(g)) {
		g->retiring = RETIRE_RELEASE;
		s->retires = g;
		worker_chain_begin(g->retire.first, WORKER_LATER, &g->retired);
	}
	if (g->retiring == RETIRE_RELEASE && worker_chain_is_done(&g->retired)) {
		g->retiring = RETIRE_DONE;
		s->retires = NULL;
	}
	return g->retiring == RETIRE_DONE;
}

/* Returns whether every group is done and no worker can reach what was replaced. */
static bool change_retires(struct server_change *c) {
	struct server *s = c->server;
	bool retired = true;

	for (unsigned g = 0; g < c->count; g++)
		retired &= group_retires(s, c->groups[g]);
	if (!retired || !server_runs(s))
		return retired;
	if (!c->in_grace)
		c->token = rte_rcu_qsbr_start(s->quiet);
	c->in_grace = true;
	return rte_rcu_qsbr_check(s->quiet, c->token, false) == 1;
}

/* Runs the tasks from `*next` up to one that needs a later round. Returns whether all are done. */
static bool tasks_round(const struct worker_task **next) {
	for (; *next != NULL; *next = (*next)->next) {
		if (!(*next)->step((*next)->arg))
			return false;
	}
	return true;
}

static bool group_round(struct server_change *c, struct group_change *g) {
	if (g->retiring == RETIRE_QUEUES) {
		if (!queues_are_done(g))
			return false;
		g->retiring = RETIRE_RELEASE;
		c->next = g->retire.first;
	}
	if (g->retiring == RETIRE_RELEASE) {
		if (!tasks_round(&c->next))
			return false;
		g->retiring = RETIRE_DONE;
	}
	return true;
}

bool server_change_round(struct server_change *c) {
	if (!c->has_tasks)
		tasks_add(c);
	if (!c->applied) {
		if (!tasks_round(&c->next))
			return false;
		groups_apply(c);
	}
	for (unsigned g = 0; g < c->count; g++) {
		if (!group_round(c, c->groups[g]))
			return false;
	}
	return true;
}

/* Applies the change without a round in between, then runs server.rounds until it has retired. */
static void make_by_rounds(struct server_change *c) {
	unsigned us = 0;

	while (!server_change_round(c)) {
		if (c->applied)
			server_wait(c->server, &us);
	}
}

void server_change_make(struct server_change *c) {
	unsigned us = 0;

	if (c->server->rounds != NULL) {
		make_by_rounds(c);
		return;
	}
	server_changes_settle(c->server);
	change_apply(c);
	while (!change_retires(c))
		worker_nap(&us);
}

uint64_t server_change_apply(struct server_change *c) {
	struct server_change **end = &c->server->retiring;
	uint64_t generation;

	if (c->server->rounds != NULL) {
		make_by_rounds(c);
		generation = c->generation;
		server_change_close(c);
		return generation;
	}
	change_apply(c);
	generation = c->generation;
	while (*end != NULL)
		end = &(*end)->later;
	*end = c;
	server_changes_retire(c->server);
	return generation;
}

void server_changes_retire(struct server *s) {
	struct server_change **at = &s->retiring;

	while (*at != NULL) {
		struct server_change *c = *at;

		if (!change_retires(c)) {
			at = &c->later;
			continue;
		}
		*at = c->later;
		server_change_close(c);
	}
}

void server_changes_settle(struct server *s) {
	unsigned us = 0;

	for (server_changes_retire(s); s->retiring != NULL; server_changes_retire(s))
		worker_nap(&us);
}

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

static void take_add(struct server_change *c, struct group_change *g, struct worker *w,
		     bool (*step)(void *arg), void *arg) {
	if (arg != NULL)
		chain_add(&c->take, &g->takes[g->take_count++], w, step, arg);
}

static void leave_add(struct group_change *g, struct worker *w, bool (*step)(void *arg),
		      void *arg) {
	if (arg != NULL)
		chain_add(&g->leave, &g->leaves[g->leave_count++], w, step, arg);
}

/* Removed objects are closed starting from the port; added ones are opened towards it. The upstream
 * knows a new key before the downstream uses it. */
static void group_list(struct server_change *c, struct group_change *g) {
	const struct served_group *group = g->group;

	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		take_add(c, g, g->shares[p].owner, share_change_go, g->shares[p].change);
	take_add(c, g, group->upstream_worker, us_change_take, g->upstream);
	take_add(c, g, group->upper, ds_change_upper, g->downstream);
	take_add(c, g, group->lower, ds_change_lower, g->downstream);
	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		take_add(c, g, g->shares[p].owner, share_change_come, g->shares[p].change);
	leave_add(g, group->upper, ds_change_close, g->downstream);
	leave_add(g, group->lower, ds_change_passed, g->downstream);
	leave_add(g, group->upstream_worker, us_change_passed, g->upstream);
}

/* One chain for all groups: all have their new state before the caller waits for them. */
static void tasks_list(struct server_change *c) {
	server_tell_differences(c);
	for (unsigned g = 0; g < c->count; g++)
		group_list(c, c->groups[g]);
	c->next = c->take.first;
	c->listed = true;
}

/* Sessions were added or removed: everything behind the NIC knows of it before its rules change. */
static void steer_anew(struct server_change *c) {
	struct server *s = c->server;

	for (unsigned i = 0; i < c->count; i++) {
		unsigned place = (unsigned)(c->groups[i]->group - s->groups);

		if (c->groups[i]->shares[DEVICE_RPHY].change != NULL)
			server_steer(s, s->ports.of[place][DEVICE_RPHY]);
	}
}

/* Updates the live groups, from which the next change differs. */
static void all_take(struct server_change *c) {
	pthread_rwlock_wrlock(&c->server->lock);
	c->generation = ++c->server->generation;
	for (unsigned i = 0; i < c->count; i++) {
		struct group_change *g = c->groups[i];

		change_keys_take(&g->keys, g->group, &g->changes);
		live_changes_take(&g->group->live, &g->changes);
	}
	pthread_rwlock_unlock(&c->server->lock);
	steer_anew(c);
	c->taken = true;
	server_tell_applied(c->server, &c->watched);
}

static void take_over(struct server_change *c) {
	tasks_list(c);
	if (c->take.first != NULL) {
		worker_chain_begin(c->take.first, WORKER_NOW, &c->taken_over);
		worker_chain_wait(&c->taken_over);
	}
	all_take(c);
}

/* Whether the queues of removed flows are empty, or the time limit has passed. */
static bool queues_are_done(struct group_change *g) {
	uint64_t now = __atomic_load_n(&g->group->upper->clock.now, __ATOMIC_RELAXED);

	if (g->drain_end == 0)
		g->drain_end = now + CHANGE_DRAIN_MS * UINT64_C(1000000);
	return ds_change_drained(g->downstream) || now >= g->drain_end;
}

/* Returns whether the group has retired its part. Workers do this for one group at a time. */
static bool group_leaves(struct server *s, struct group_change *g) {
	if (g->leaving == LEAVING_QUEUES && s->leaves == NULL && queues_are_done(g)) {
		g->leaving = LEAVING_REST;
		s->leaves = g;
		worker_chain_begin(g->leave.first, WORKER_BEHIND, &g->left);
	}
	if (g->leaving == LEAVING_REST && worker_chain_is_done(&g->left)) {
		g->leaving = LEAVING_DONE;
		s->leaves = NULL;
	}
	return g->leaving == LEAVING_DONE;
}

/* Returns whether every group is done and no worker can reach what was replaced. */
static bool change_leaves(struct server_change *c) {
	struct server *s = c->server;
	bool left = true;

	for (unsigned g = 0; g < c->count; g++)
		left &= group_leaves(s, c->groups[g]);
	if (!left || !server_runs(s))
		return left;
	if (!c->passes)
		c->token = rte_rcu_qsbr_start(s->quiet);
	c->passes = true;
	return rte_rcu_qsbr_check(s->quiet, c->token, false) == 1;
}

/* Returns whether all tasks are done. */
static bool tasks_round(const struct worker_task **next) {
	for (; *next != NULL; *next = (*next)->next) {
		if (!(*next)->step((*next)->arg))
			return false;
	}
	return true;
}

static bool group_round(struct server_change *c, struct group_change *g) {
	if (g->leaving == LEAVING_QUEUES) {
		if (!queues_are_done(g))
			return false;
		g->leaving = LEAVING_REST;
		c->next = g->leave.first;
	}
	if (g->leaving == LEAVING_REST) {
		if (!tasks_round(&c->next))
			return false;
		g->leaving = LEAVING_DONE;
	}
	return true;
}

bool server_change_round(struct server_change *c) {
	if (!c->listed)
		tasks_list(c);
	if (!c->taken) {
		if (!tasks_round(&c->next))
			return false;
		all_take(c);
	}
	for (unsigned g = 0; g < c->count; g++) {
		if (!group_round(c, c->groups[g]))
			return false;
	}
	return true;
}

/* Applies the change at one instant of the clock; only what it removes takes time to drain. */
static void make_by_rounds(struct server_change *c) {
	unsigned us = 0;

	while (!server_change_round(c)) {
		if (c->taken)
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
	take_over(c);
	while (!change_leaves(c))
		worker_nap(&us);
}

uint64_t server_change_take(struct server_change *c) {
	struct server_change **end = &c->server->leaving;
	uint64_t generation;

	if (c->server->rounds != NULL) {
		make_by_rounds(c);
		generation = c->generation;
		server_change_close(c);
		return generation;
	}
	take_over(c);
	generation = c->generation;
	while (*end != NULL)
		end = &(*end)->behind;
	*end = c;
	server_changes_go_on(c->server);
	return generation;
}

void server_changes_go_on(struct server *s) {
	struct server_change **at = &s->leaving;

	while (*at != NULL) {
		struct server_change *c = *at;

		if (!change_leaves(c)) {
			at = &c->behind;
			continue;
		}
		*at = c->behind;
		server_change_close(c);
	}
}

void server_changes_settle(struct server *s) {
	unsigned us = 0;

	for (server_changes_go_on(s); s->leaving != NULL; server_changes_go_on(s))
		worker_nap(&us);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes grants: reserved rates first, then by priority; round robin among equals. */
#include "scheduler/maps/lists.h"
#include "scheduler/maps/rates.h"

/* The open group in the earliest round. `far`: another group is ahead by more than MAX_LEAD rounds. */
static uint32_t best_of(const struct maps *m, uint32_t level, bool *far) {
	uint64_t min = UINT64_MAX, max = 0;
	uint32_t best = NONE;

	for (uint32_t word = 0; word < SET_WORDS; word++) {
		for (uint64_t left = m->levels[level].active[word]; left != 0; left &= left - 1) {
			uint32_t i = word * 64 + first_bit(left);
			uint64_t round = m->queues[queue_index(i, level)].round;

			if (!(m->groups[i].channels & m->open))
				continue;
			if (round < min)
				best = i;
			min = round < min ? round : min;
			max = round > max ? round : max;
		}
	}
	*far = best != NONE && max > min + MAX_LEAD;
	return best;
}

/* The open group in the earliest round. Limits the lead of the others to MAX_LEAD rounds. */
static uint32_t next_group(struct maps *m, uint32_t level) {
	bool far;
	uint32_t best = best_of(m, level, &far);
	uint64_t max = best == NONE ? 0 : m->queues[queue_index(best, level)].round + MAX_LEAD;

	for (uint32_t word = 0; far && word < SET_WORDS; word++) {
		for (uint64_t left = m->levels[level].active[word]; left != 0; left &= left - 1) {
			uint32_t i = word * 64 + first_bit(left);
			struct class_queue *c = &m->queues[queue_index(i, level)];

			if ((m->groups[i].channels & m->open) && c->round > max)
				c->round = max;
		}
	}
	return best;
}

/* Excludes a flow whose grants have their longest size until the next round. */
static void set_aside(struct maps *m, uint32_t flow, uint32_t level) {
	m->flows[flow].credit = 0;
	if (level == RESERVED)
		reserved_leave(m, flow);
	else
		class_leave(m, flow);
	m->skipped[m->skipped_count++] = flow;
}

/* Ends the exclusion of all flows. */
static void join_again(struct maps *m, uint32_t level) {
	for (uint32_t i = 0; i < m->skipped_count; i++) {
		if (level == RESERVED)
			reserved_join(m, m->skipped[i]);
		else
			class_join(m, m->skipped[i]);
	}
	m->skipped_count = 0;
}

/* The flow after `flow` in its class queue. */
static uint32_t next_of(const struct maps *m, uint32_t flow, uint32_t level) {
	const struct flow *f = &m->flows[flow];

	return level == RESERVED ? f->reserved.next : f->link.next;
}

/* The first flow used its quantum, or got less than it may although channels are open: serves the
 * next one, and ends a flow that is owed nothing. `full`: its grants have their longest size. */
static void end_quantum(struct maps *m, struct class_queue *c, uint32_t level, bool full) {
	uint32_t flow = c->first;
	const struct flow *f = &m->flows[flow];

	if (f->owed == 0)
		flow_idle(m, flow);
	else if (f->owed_here == 0)
		flow_switch(m, flow);
	else if (full)
		set_aside(m, flow, level);
	else
		c->first = next_of(m, flow, level);
}

/* Prefetches the flow after the next one. */
static void prefetch_ahead(const struct maps *m, uint32_t flow, uint32_t level) {
	prefetch_flow(m, next_of(m, next_of(m, flow, level), level));
}

/* Serves the first flow of a class queue. It leaves the queue, moves to its end, or stays first with the
 * rest of its quantum if channels are full. */
static void serve(struct maps *m, struct group *g, struct class_queue *c, uint32_t level) {
	uint32_t flow = c->first, left = c->left;
	struct flow *f = &m->flows[flow];
	uint32_t quantum = f->credit == 0 ? QUANTUM : f->credit, want, got;

	prefetch_ahead(m, flow, level);
	want = level == RESERVED ? rate_reserved(m, flow) : lesser(f->owed_here, quantum);
	if (want > 0 && rates_admit(m, flow)) {
		bool stays;

		got = assign(m, flow, g, want);
		flow_charge(m, flow, got);
		stays = got < want && (g->channels & m->open) == 0;
		if (level != RESERVED)
			f->credit = stays ? quantum - got : 0;
		if (stays)
			return;
		end_quantum(m, c, level, got < want);
	}
	c->left = left - 1;
}

static void share_level(struct maps *m, uint32_t level) {
	uint32_t group;

	while (m->open != 0 && (group = next_group(m, level)) != NONE) {
		struct group *g = &m->groups[group];
		struct class_queue *c = &m->queues[queue_index(group, level)];

		m->levels[level].served = c->round;
		while (c->left > 0 && (g->channels & m->open) != 0)
			serve(m, g, c, level);
		if (c->left == 0) {
			c->round++;
			c->left = c->count;
		}
	}
	join_again(m, level);
}

void share(struct maps *m) {
	for (uint32_t level = LEVELS; level-- > 0;)
		share_level(m, level);
}

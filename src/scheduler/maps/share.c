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
			uint64_t round = m->groups[i].queues[level].round;

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
	uint64_t max = best == NONE ? 0 : m->groups[best].queues[level].round + MAX_LEAD;

	for (uint32_t word = 0; far && word < SET_WORDS; word++) {
		for (uint64_t left = m->levels[level].active[word]; left != 0; left &= left - 1) {
			struct group *g = &m->groups[word * 64 + first_bit(left)];

			if ((g->channels & m->open) && g->queues[level].round > max)
				g->queues[level].round = max;
		}
	}
	return best;
}

/* Excludes a flow whose grants have their longest size until the next round. */
static void set_aside(struct maps *m, uint32_t flow, uint32_t level) {
	m->flows[flow].credit = 0;
	list_leave(m, flow, level);
	m->skipped[m->skipped_count++] = flow;
}

/* Bytes that the first flow of a class queue may get now. 0: it has left the queue. */
static uint32_t wanted(struct maps *m, uint32_t flow, uint32_t level) {
	struct flow *f = &m->flows[flow];
	uint32_t want;

	if (level == RESERVED) {
		want = rate_reserved(m, flow);
	} else {
		f->credit = f->credit == 0 ? QUANTUM : f->credit;
		want = lesser(f->owed_here, f->credit);
	}
	return want > 0 && rates_admit(m, flow) ? want : 0;
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
	struct flow *f = &m->flows[flow];

	if (f->owed_here == 0 && f->owed > 0)
		flow_switch(m, flow);
	else if (f->owed_here == 0)
		flow_idle(m, flow);
	else if (full)
		set_aside(m, flow, level);
	else
		c->first = next_of(m, flow, level);
}

/* Prefetches the flow after the next one. */
static void prefetch_ahead(const struct maps *m, uint32_t flow, uint32_t level) {
	prefetch_flow(m, next_of(m, next_of(m, flow, level), level));
}

/* Serves the first flow of a class queue. It leaves the queue, moves to its end, or stays first if
 * channels are full. */
static void serve(struct maps *m, struct group *g, uint32_t level) {
	struct class_queue *c = &g->queues[level];
	uint32_t flow = c->first, left = c->left;
	struct flow *f = &m->flows[flow];
	uint32_t want, got;

	prefetch_ahead(m, flow, level);
	want = wanted(m, flow, level);
	if (want > 0) {
		got = assign(m, flow, g, want);
		flow_charge(m, flow, got);
		if (level != RESERVED)
			f->credit -= got;
		if (got < want && (g->channels & m->open) == 0)
			return;
		end_quantum(m, c, level, got < want);
	}
	c->left = lesser(left - 1, c->count);
}

static void share_level(struct maps *m, uint32_t level) {
	uint32_t group;

	while (m->open != 0 && (group = next_group(m, level)) != NONE) {
		struct group *g = &m->groups[group];
		struct class_queue *c = &g->queues[level];

		m->levels[level].served = c->round;
		while (c->left > 0 && (g->channels & m->open) != 0)
			serve(m, g, level);
		if (c->left == 0) {
			c->round++;
			c->left = c->count;
		}
	}
	for (uint32_t i = 0; i < m->skipped_count; i++)
		list_join(m, m->skipped[i], level);
	m->skipped_count = 0;
}

void share(struct maps *m) {
	for (uint32_t level = LEVELS; level-- > 0;)
		share_level(m, level);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/leads.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/order_keys.h"

/* Rounds that the bitmap covers, per present group and in addition. Leads grow to 2 * MAX_LEAD
 * per group before they are reduced. A group that returns may be MAX_LEAD behind. */
#define NOTED_ROUNDS (3 * MAX_LEAD)
#define NOTED_BESIDE 128

enum leads_phase {
	LEADS_NOTE, /* record rounds */
	LEADS_SUM, /* sum the gaps between them */
	LEADS_APPLY, /* apply the reductions */
};

/* Rounds from `from` on are reduced by `off`. */
struct reduction {
	uint64_t from, off;
};

struct leads {
	enum leads_phase phase;
	uint32_t cluster;
	unsigned class_queue;
	uint32_t next; /* group, or word of the bitmap */
	uint64_t base; /* round of the first bit */
	uint64_t last; /* latest round summed; UINT64_MAX: none yet */
	uint64_t lowest; /* after the reduction */
	uint32_t words;
	uint64_t *noted; /* bit per round */
	uint32_t reduction_count;
	struct reduction *reductions; /* in ascending order; at most one per round */
};

bool leads_create(struct scheduler *s) {
	struct leads *l = s->leads = calloc(1, sizeof(*l));

	if (l == NULL)
		return false;
	l->words = (s->group_count * NOTED_ROUNDS + NOTED_BESIDE) / 64 + 1;
	l->noted = calloc(l->words, sizeof(*l->noted));
	l->reductions = calloc(s->group_count, sizeof(*l->reductions));
	return l->noted != NULL && l->reductions != NULL;
}

void leads_free(struct scheduler *s) {
	if (s->leads == NULL)
		return;
	free(s->leads->noted);
	free(s->leads->reductions);
	free(s->leads);
}

static bool leads_concern(const struct scheduler *s, uint32_t group, unsigned class_queue) {
	return s->groups[group].cluster == s->leads->cluster &&
	       class_queue == s->leads->class_queue;
}

static bool has_members(const struct group *g, unsigned class_queue) {
	return (g->waiting >> class_queue & 1) != 0;
}

static void leads_begin(struct scheduler *s, uint32_t cluster, unsigned class_queue,
			uint64_t base) {
	struct leads *l = s->leads;

	l->phase = LEADS_NOTE;
	l->cluster = cluster;
	l->class_queue = class_queue;
	l->next = 0;
	l->base = base;
	l->last = UINT64_MAX;
	l->reduction_count = 0;
	memset(l->noted, 0, l->words * sizeof(*l->noted));
}

static void leads_note(struct scheduler *s, uint32_t group) {
	struct leads *l = s->leads;
	const struct group *g = &s->groups[group];
	uint64_t round = g->queues[l->class_queue].round,
		 bit = round < l->base ? 0 : round - l->base;

	s->groups[group].reductions &= ~(1u << l->class_queue);
	if (!has_members(g, l->class_queue))
		return;
	if (bit >= (uint64_t)l->words * 64)
		bit = (uint64_t)l->words * 64 - 1;
	l->noted[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Handles the next higher round in use. */
static void leads_sum_round(struct leads *l, uint64_t round) {
	uint64_t off = l->reduction_count > 0 ? l->reductions[l->reduction_count - 1].off : 0,
		 more_off = 0;

	if (l->last == UINT64_MAX) { /* restart the rounds, near where they were */
		more_off = round > MAX_ROUND / 2 ? MAX_ROUND / 2 : 0;
		l->lowest = round - more_off;
	} else if (round - l->last > MAX_LEAD) {
		more_off = round - l->last - MAX_LEAD;
	}
	if (more_off > 0)
		l->reductions[l->reduction_count++] = (struct reduction){round, off + more_off};
	l->last = round;
}

static void leads_sum_word(struct leads *l, uint32_t word) {
	uint64_t rounds = l->noted[word];

	for (; rounds != 0; rounds &= rounds - 1)
		leads_sum_round(l,
				l->base + (uint64_t)word * 64 + (unsigned)__builtin_ctzll(rounds));
}

/* The round after the reduction. A round inside a gap, reached meanwhile, does not pass those
 * above the gap. */
static uint64_t round_after(const struct leads *l, uint64_t round) {
	uint32_t low = 0, high = l->reduction_count;
	uint64_t after;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (l->reductions[middle].from <= round)
			low = middle + 1;
		else
			high = middle;
	}
	after = low > 0 ? round - l->reductions[low - 1].off : round;
	if (low < l->reduction_count) {
		const struct reduction *next = &l->reductions[low];
		uint64_t ceiling = next->from - next->off;

		after = after < ceiling ? after : ceiling;
	}
	return after;
}

/* The reductions are complete: applies them from here on. */
static void leads_summed(struct scheduler *s) {
	struct leads *l = s->leads;
	struct cluster *c = &s->clusters[l->cluster];

	c->served[l->class_queue] = round_after(l, c->served[l->class_queue]);
	c->far_ahead[l->class_queue] = l->lowest + (uint64_t)2 * MAX_LEAD * c->present_count;
	l->phase = LEADS_APPLY;
	l->next = 0;
}

void leads_apply(struct scheduler *s, uint32_t group, unsigned class_queue) {
	struct group *g = &s->groups[group];

	if (s->leads->phase != LEADS_APPLY || !leads_concern(s, group, class_queue) ||
	    (g->reductions >> class_queue & 1) != 0)
		return;
	g->reductions |= 1u << class_queue;
	g->queues[class_queue].round = round_after(s->leads, g->queues[class_queue].round);
	if (g->waiting != 0)
		group_set_key(s, group);
}

void leads_enter(struct scheduler *s, uint32_t group, unsigned class_queue) {
	struct group *g = &s->groups[group];

	if (!leads_concern(s, group, class_queue))
		return;
	if (s->leads->phase == LEADS_APPLY)
		g->reductions |= 1u << class_queue;
	else
		g->reductions &= ~(1u << class_queue);
}

/* All three phases, for the groups that wait in the cluster. */
static void leads_at_once(struct scheduler *s) {
	struct leads *l = s->leads;
	const struct cluster *c = &s->clusters[l->cluster];

	for (uint32_t i = 0; i < c->present_count; i++)
		leads_note(s, c->present[i]);
	for (uint32_t w = 0; w < l->words; w++)
		leads_sum_word(l, w);
	leads_summed(s);
	for (uint32_t i = 0; i < c->present_count; i++)
		leads_apply(s, c->present[i], l->class_queue);
}

/* The least round of the present groups with members in this class queue. */
static uint64_t leads_lowest(const struct scheduler *s, const struct cluster *c,
			     unsigned class_queue) {
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i < c->present_count; i++) {
		const struct group *g = &s->groups[c->present[i]];

		if (has_members(g, class_queue) && g->queues[class_queue].round < lowest)
			lowest = g->queues[class_queue].round;
	}
	return lowest;
}

void leads_reduce(struct scheduler *s, uint32_t cluster, unsigned class_queue) {
	const struct cluster *c = &s->clusters[cluster];
	const uint64_t span = (uint64_t)s->leads->words * 64;
	uint64_t top = c->far_ahead[class_queue] + NOTED_BESIDE / 2;

	if (s->reducing)
		return;
	if (c->present_count > LEADS_AT_ONCE) {
		leads_begin(s, cluster, class_queue, top > span ? top - span : 0);
		s->reducing = true;
	} else {
		leads_begin(s, cluster, class_queue, leads_lowest(s, c, class_queue));
		leads_at_once(s);
	}
}

void leads_cancel(struct scheduler *s) {
	s->reducing = false;
}

/* One step of the phase: one group or one word. */
static void leads_step(struct scheduler *s, struct leads *l) {
	switch (l->phase) {
	case LEADS_NOTE:
		if (s->groups[l->next].cluster == l->cluster)
			leads_note(s, l->next);
		if (++l->next == s->group_count) {
			l->phase = LEADS_SUM;
			l->next = 0;
		}
		break;
	case LEADS_SUM:
		leads_sum_word(l, l->next);
		if (++l->next == l->words)
			leads_summed(s);
		break;
	case LEADS_APPLY:
		if (has_members(&s->groups[l->next], l->class_queue))
			leads_apply(s, l->next, l->class_queue);
		if (++l->next == s->group_count)
			s->reducing = false;
		break;
	}
}

void leads_continue(struct scheduler *s) {
	for (uint32_t steps = CHANGE_STEPS; steps > 0 && s->reducing; steps--)
		leads_step(s, s->leads);
}

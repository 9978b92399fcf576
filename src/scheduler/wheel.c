/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/wheel.h"

#include <stdlib.h>

#define TOP (WHEEL_LEVELS - 1)
/* The furthest time of a timer from now, in slots. It must not wrap around to the current slot. */
#define FURTHEST ((uint64_t)(WHEEL_SLOTS - 2) << (TOP * WHEEL_BITS))

static struct links wheel_links(const struct wheel *w) {
	return (struct links){w->timers, sizeof(*w->timers)};
}

int wheel_create(struct wheel *w, uint32_t count) {
	*w = (struct wheel){
		.timers = calloc(count, sizeof(*w->timers)),
		.count = count,
		.begun = WHEEL_IDLE,
	};
	if (w->timers == NULL)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		w->timers[i].list = WHEEL_IDLE;
	for (uint32_t i = 0; i <= WHEEL_DUE; i++)
		w->first[i] = NONE;
	return 0;
}

void wheel_free(struct wheel *w) {
	free(w->timers);
}

/*
 * The level is given by the highest bit in which the timer's slot differs from the current one.
 * Below the top level, all slots belong to the current rotation of the wheel, so timers are ahead
 * of the current slot. At the top level, slots up to the current one belong to the next rotation.
 */
static uint16_t wheel_list(const struct wheel *w, uint64_t slot) {
	uint64_t differs = slot ^ w->now;
	unsigned level = 0;

	if (differs >= WHEEL_SLOTS)
		level = (63u - (unsigned)__builtin_clzll(differs)) / WHEEL_BITS;
	if (level > TOP)
		level = TOP;
	return (uint16_t)(level * WHEEL_SLOTS + (slot >> (level * WHEEL_BITS) & (WHEEL_SLOTS - 1)));
}

static void wheel_put(struct wheel *w, uint32_t timer, uint16_t list) {
	w->timers[timer].list = list;
	ring_append(wheel_links(w), &w->first[list], timer);
	if (list < WHEEL_DUE)
		w->occupied[list / WHEEL_SLOTS] |= UINT64_C(1) << list % WHEEL_SLOTS;
}

void wheel_clear(struct wheel *w, uint32_t timer) {
	uint16_t list = w->timers[timer].list;

	if (list == WHEEL_IDLE)
		return;
	ring_remove(wheel_links(w), &w->first[list], timer);
	if (list < WHEEL_DUE && w->first[list] == NONE)
		w->occupied[list / WHEEL_SLOTS] &= ~(UINT64_C(1) << list % WHEEL_SLOTS);
	w->timers[timer].list = WHEEL_IDLE;
}

void wheel_set(struct wheel *w, uint32_t timer, int64_t at) {
	uint64_t slot = at <= 0 ? 0 : ((uint64_t)at + (1u << WHEEL_SHIFT) - 1) >> WHEEL_SHIFT;

	wheel_clear(w, timer);
	if (slot <= w->now)
		slot = w->now + 1;
	if (slot - w->now > FURTHEST)
		slot = w->now + FURTHEST;
	w->timers[timer].slot = slot;
	wheel_put(w, timer, wheel_list(w, slot));
}

/* Finds the next occupied slot: its level and start time. Returns false if there is none. */
static bool wheel_ahead(const struct wheel *w, unsigned *level, uint64_t *slot) {
	for (*level = 0; *level < WHEEL_LEVELS; (*level)++) {
		unsigned shift = *level * WHEEL_BITS;
		uint64_t present = w->now >> shift, round_start = present - present % WHEEL_SLOTS;
		uint64_t later = w->occupied[*level] & (UINT64_MAX - 1) << present % WHEEL_SLOTS;

		if (later == 0 && *level == TOP) {
			later = w->occupied[TOP];
			round_start += WHEEL_SLOTS;
		}
		if (later != 0) {
			*slot = (round_start + (unsigned)__builtin_ctzll(later)) << shift;
			return true;
		}
	}
	return false;
}

static void wheel_begin(struct wheel *w, unsigned level, uint64_t slot) {
	w->now = slot;
	w->begun = (uint16_t)(level * WHEEL_SLOTS +
			      (slot >> (level * WHEEL_BITS) & (WHEEL_SLOTS - 1)));
}

/* Moves the timers of a slot that has begun to finer levels, or expires them. Returns false if
 * steps run out. */
static bool wheel_spread(struct wheel *w, uint32_t *steps) {
	uint32_t timer;

	while (w->begun != WHEEL_IDLE && (timer = w->first[w->begun]) != NONE) {
		uint64_t slot = w->timers[timer].slot;

		if (*steps == 0)
			return false;
		(*steps)--;
		wheel_clear(w, timer);
		wheel_put(w, timer, slot <= w->now ? WHEEL_DUE : wheel_list(w, slot));
	}
	w->begun = WHEEL_IDLE;
	return true;
}

uint32_t wheel_pop(struct wheel *w, int64_t now, uint32_t *steps) {
	uint64_t until = (uint64_t)now >> WHEEL_SHIFT;
	uint32_t timer;

	while (wheel_spread(w, steps) && w->first[WHEEL_DUE] == NONE) {
		unsigned level;
		uint64_t slot;

		if (!wheel_ahead(w, &level, &slot) || slot > until) {
			w->now = until > w->now ? until : w->now;
			return NONE;
		}
		wheel_begin(w, level, slot);
	}
	if (*steps == 0)
		return NONE;
	(*steps)--;
	timer = w->first[WHEEL_DUE];
	wheel_clear(w, timer);
	return timer;
}

int64_t wheel_next(const struct wheel *w) {
	unsigned level;
	uint64_t slot;

	if (w->first[WHEEL_DUE] != NONE || (w->begun != WHEEL_IDLE && w->first[w->begun] != NONE))
		return 0;
	return wheel_ahead(w, &level, &slot) ? (int64_t)(slot << WHEEL_SHIFT) : INT64_MAX;
}

void wheel_rebase(struct wheel *w, int64_t ticks) {
	uint64_t slots = (uint64_t)ticks >> WHEEL_SHIFT;

	w->now -= slots;
	for (uint32_t i = 0; i < w->count; i++) {
		if (w->timers[i].list < WHEEL_DUE)
			w->timers[i].slot -= slots;
	}
}

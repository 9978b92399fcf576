/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/loop_source.h"

#include <math.h>
#include <stdlib.h>

#define FIRST_CAPACITY 16
#define TO_FRACTION 0x1p-53

/* Random number from 0 to below 1. */
static double fraction(struct random *r) {
	return (double)(random_next(r) >> 11) * TO_FRACTION;
}

static struct loop_measure *measure_of(struct loop *l, const struct loop_flow *f) {
	return &l->measures[f->group - l->scenario->groups];
}

/* Whether `time` is after the warm-up. */
static bool is_measured(const struct loop *l, uint64_t time) {
	return time >= l->scenario->warmup;
}

static double mean_bytes(const struct loop_group *g) {
	double bytes = 0, shares = 0;

	for (uint32_t i = 0; i < g->size_count; i++) {
		bytes += g->sizes[i].bytes * g->sizes[i].share;
		shares += g->sizes[i].share;
	}
	return bytes / shares;
}

/* Mean time between two packets, in samples. */
static double mean_gap(const struct loop_group *g) {
	return mean_bytes(g) * 8 * MAPS_HZ / (double)g->rate;
}

/* Bytes of a frame, drawn by the shares of the sizes. */
static uint32_t draw_size(struct loop *l, const struct loop_group *g) {
	double shares = 0, at = fraction(&l->random);
	uint32_t i = 0;

	for (uint32_t k = 0; k < g->size_count; k++)
		shares += g->sizes[k].share;
	for (at *= shares; i + 1 < g->size_count && at >= g->sizes[i].share; i++)
		at -= g->sizes[i].share;
	return g->sizes[i].bytes;
}

/* Schedules the next arrival `gap` samples after the last, plus jitter; none after the end. */
static void schedule_next(struct loop *l, uint32_t flow, double gap) {
	struct loop_flow *f = &l->flows[flow];
	double late = f->group->regular ? f->group->jitter * MAPS_HZ * fraction(&l->random) : 0;

	f->next += (uint64_t)gap + 1;
	if (f->next + (uint64_t)late < l->scenario->duration)
		due_add(&l->arrivals, f->next + (uint64_t)late, flow);
}

void loop_source_begin(struct loop *l, uint32_t flow) {
	const struct loop_group *g = l->flows[flow].group;

	if (g->rate > 0)
		schedule_next(l, flow, mean_gap(g) * fraction(&l->random));
}

/* Doubles the ring of packets. Returns false if memory is short. */
static bool grow(struct loop_flow *f) {
	uint32_t capacity = f->capacity == 0 ? FIRST_CAPACITY : 2 * f->capacity;
	struct loop_packet *packets = malloc(capacity * sizeof(*packets));

	if (packets == NULL)
		return false;
	for (uint32_t i = 0; i < f->count; i++)
		packets[i] = f->packets[(f->first + i) % f->capacity];
	free(f->packets);
	f->packets = packets;
	f->first = 0;
	f->capacity = capacity;
	return true;
}

void loop_source_arrive(struct loop *l, uint32_t flow) {
	struct loop_flow *f = &l->flows[flow];
	const struct loop_group *g = f->group;
	uint32_t bytes = draw_size(l, g);
	double gap = mean_gap(g);

	if (f->count == f->capacity && !grow(f)) {
		l->error = "memory is short";
		return;
	}
	f->packets[(f->first + f->count++) % f->capacity] = (struct loop_packet){l->now, bytes};
	l->packets++;
	access_queue(l->access, flow, bytes, l->now);
	/* exponential gaps make a Poisson process */
	schedule_next(l, flow, g->regular ? gap : -log(1 - fraction(&l->random)) * gap);
}

/* Counts a completed packet and its latency. */
static void record_departure(struct loop *l, uint32_t flow, const struct loop_packet *p) {
	struct loop_measure *m = measure_of(l, &l->flows[flow]);

	if (!is_measured(l, p->arrived))
		return;
	hdr_record_value(m->latency, (int64_t)((double)(l->flows[flow].departed - p->arrived) * 16 /
					       LOOP_UNIT));
	m->packets++;
}

void loop_source_depart(struct loop *l, uint32_t flow, uint64_t bytes, uint64_t at) {
	struct loop_flow *f = &l->flows[flow];

	f->departed = at > f->departed ? at : f->departed;
	if (is_measured(l, at)) {
		l->carried[flow] += bytes;
		measure_of(l, f)->bytes += bytes;
	}
	while (bytes > 0 && f->count > 0) {
		struct loop_packet *p = &f->packets[f->first];

		if (bytes < p->bytes) {
			p->bytes -= (uint32_t)bytes;
			return;
		}
		bytes -= p->bytes;
		record_departure(l, flow, p);
		f->first = (f->first + 1) % f->capacity;
		f->count--;
	}
}

uint32_t loop_source_give_up(struct loop *l, uint32_t flow) {
	struct loop_flow *f = &l->flows[flow];
	uint32_t bytes;

	if (f->count == 0)
		return 0;
	bytes = f->packets[f->first].bytes;
	f->first = (f->first + 1) % f->capacity;
	f->count--;
	measure_of(l, f)->given_up++;
	return bytes;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/loop.h"

#include <stdlib.h>

#include "upstream/loop_record.h"
#include "upstream/loop_source.h"

#define MILLION 1000000

/* Whether the warm-up is over. */
static bool counting(const struct loop *l) {
	return l->now >= l->scenario->warmup;
}

/* Doubles `flying`. Returns false and sets the error if memory is short. */
static bool more_flying(struct loop *l) {
	uint32_t capacity = l->flying_capacity == 0 ? 256 : 2 * l->flying_capacity;
	struct loop_flying *flying = reallocarray(l->flying, capacity, sizeof(*flying));

	if (flying == NULL || !due_reserve(&l->arriving, capacity)) {
		l->flying = flying == NULL ? l->flying : flying;
		l->error = "memory is short";
		return false;
	}
	for (uint32_t i = l->flying_capacity; i < capacity; i++)
		flying[i].next = i + 1;
	l->flying = flying;
	l->flying_free = l->flying_capacity;
	l->flying_capacity = capacity;
	return true;
}

/* The scheduler gets a request, or a collision of `collided` flows, after the decoding delay. */
static void fly(struct loop *l, const struct access_event *e, uint32_t bytes, uint32_t collided) {
	uint32_t number;

	if (l->flying_free == l->flying_capacity && !more_flying(l))
		return;
	number = l->flying_free;
	l->flying_free = l->flying[number].next;
	l->flying[number].collided = collided;
	l->flying[number].request = (struct maps_request){
		.flow = e->flow,
		.channel = e->channel,
		.bytes = bytes,
		.minislot_at = e->end - l->scenario->channel.frame,
		.contended = e->contended,
	};
	due_add(&l->arriving, e->end + l->scenario->delays.decode, number);
}

/* Sends a request to the scheduler, unless an impairment loses it. */
static void submit(struct loop *l, const struct access_event *e) {
	uint32_t loss = l->flows[e->flow].group->request_loss;

	if (loss > 0 && random_below(&l->random, MILLION) < loss)
		l->lost_requests += counting(l);
	else
		fly(l, e, e->request, 0);
}

/* The scheduler gets the next request or collision. */
static void arrive(struct loop *l) {
	uint32_t number = due_pop(&l->arriving).number;
	const struct loop_flying *f = &l->flying[number];

	if (f->collided > 0) {
		maps_report_collisions(l->maps, f->request.channel, 1);
	} else {
		enum maps_verdict verdict = maps_request(l->maps, &f->request, l->now);

		loop_record_request(l, &f->request);
		l->verdicts[verdict] += counting(l);
	}
	l->flying[number].next = l->flying_free;
	l->flying_free = number;
}

/* Counts the minislots of a grant in use: bytes, and the overhead of each burst. */
static void use(struct loop *l, const struct access_event *e) {
	const struct maps_channel *c = &l->scenario->channel;
	uint32_t bytes = e->bytes + l->scenario->header_bytes;
	uint32_t minislots =
		c->burst_minislots + (bytes + c->minislot_bytes - 1) / c->minislot_bytes;

	if (e->bytes == 0 || !counting(l))
		return;
	l->used_minislots += minislots;
	l->used_channel[e->channel] += minislots;
}

static void process_event(struct loop *l, const struct access_event *e) {
	switch (e->kind) {
	case ACCESS_BURST:
		use(l, e);
		loop_source_depart(l, e->flow, e->bytes, e->end + l->scenario->delays.decode);
		if (e->bytes > 0)
			maps_data_received(l->maps, e->flow, l->now);
		if (e->request > 0)
			submit(l, e);
		break;
	case ACCESS_REQUEST: submit(l, e); break;
	case ACCESS_GIVEN_UP:
		access_discard(l->access, e->flow, loop_source_give_up(l, e->flow));
		break;
	case ACCESS_COLLISION: fly(l, e, 0, e->request); break;
	case ACCESS_STATION: break;
	}
}

/* Makes all MAPs that are due, and gives them to the modems. */
static void make_maps(struct loop *l) {
	const struct loop_delays *d = &l->scenario->delays;
	struct map map;
	uint32_t channel;

	while ((channel = maps_make(l->maps, l->now, &map)) != MAPS_NONE) {
		loop_record_map(l, channel, &map);
		access_map(l->access, (uint16_t)channel, &map, l->now + d->cmts + d->downstream);
	}
}

static void snapshot(struct loop *l, struct access_counts *access, struct maps_counts *maps) {
	access_counts(l->access, access);
	for (uint32_t i = 0; i < l->scenario->channel_count; i++)
		maps_counts(l->maps, i, &maps[i]);
}

static uint64_t next_time(const struct loop *l) {
	uint64_t times[] = {due_next(&l->arrivals), due_next(&l->arriving), access_due(l->access),
			    maps_due(l->maps)};
	uint64_t min = times[0];

	for (unsigned i = 1; i < sizeof(times) / sizeof(times[0]); i++)
		min = times[i] < min ? times[i] : min;
	return min;
}

/* Processes all that is due now: modems' decisions, arriving packets, requests, MAPs. */
static void step(struct loop *l) {
	struct access_event event;

	while (access_next(l->access, l->now, &event))
		process_event(l, &event);
	while (due_next(&l->arrivals) <= l->now && l->error == NULL)
		loop_source_arrive(l, due_pop(&l->arrivals).number);
	while (due_next(&l->arriving) <= l->now)
		arrive(l);
	if (maps_due(l->maps) <= l->now)
		make_maps(l);
}

const char *loop_run(struct loop *l) {
	bool warm = false;

	for (;;) {
		uint64_t next = next_time(l);

		if (!warm && next >= l->scenario->warmup) {
			warm = true;
			snapshot(l, &l->access_before, l->maps_before);
		}
		if (next >= l->scenario->duration || l->error != NULL)
			break;
		l->now = next > l->now ? next : l->now;
		step(l);
	}
	snapshot(l, &l->access_after, l->maps_after);
	return l->error;
}

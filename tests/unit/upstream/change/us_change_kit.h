/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of an upstream in the kit, step by step while packets pass, for the programs that test them. */
#pragma once

#include "upstream/change/change.h"
#include "upstream_cases.h"

#define SIZE 120 /* of Ethernet frames */
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)
#define LIST 256

static struct live_change list[LIST];
static struct live_changes changes = {.list = list, .capacity = LIST};
static void *given[2 * LIST]; /* schedules of keys */
static char why[LIVE_LINE];

/* Roomy: modems up to 40, and in proportion. */
static const struct group_capacity roomy = {
	.modems = 40,
	.upstream_channels = 5,
	.upstream_flows = 60,
	.streams = 80,
	.sids = 200,
};

#define CROWD 150

/* For a crowd of 150 modems, each with one flow. */
static const struct group_capacity crowded = {
	.modems = 200,
	.upstream_channels = 3,
	.upstream_flows = 200,
	.streams = 200,
	.sids = 180,
};

static inline void with_room(void) {
	changes.count = 0;
	bench->capacity = &roomy;
}

static inline void without_last(void) {
	with_room();
	bench->sg.modem_count = BENCH_MODEMS - 1;
}

static inline void with_crowd(void) {
	with_room();
	bench_crowd(CROWD);
	bench->capacity = &crowded;
}

/* NULL: it goes. A modem keeps its keys. */
static inline void will_be(enum live_object object, uint32_t slot, const void *next) {
	list[changes.count++] = (struct live_change){.object = object, .slot = slot, .next = next};
}

static inline struct us_change *begin(void) {
	struct us_change *c = us_change_begin(bench->u, &bench->sg, &changes, given, why);

	if (c == NULL)
		print_error("%s\n", why);
	assert_non_null(c);
	return c;
}

/* Rounds run between the steps. */
static inline void take(struct us_change *c) {
	while (!us_change_apply(c))
		bench_round();
}

static inline void pass(struct us_change *c) {
	for (unsigned rounds = 0; !us_change_flushed(c); rounds++) {
		assert_in_range(rounds, 0, 1000);
		bench_round();
	}
}

static inline void finish(struct us_change *c) {
	us_change_end(c);
	changes.count = 0;
	memset(given, 0, sizeof(given));
}

/* The half of it, and the other half. */
static inline struct us_change *taken(void) {
	struct us_change *c = begin();

	take(c);
	return c;
}

static inline void pass_and_finish(struct us_change *c) {
	pass(c);
	finish(c);
}

static inline void change(void) {
	pass_and_finish(taken());
}

/* A change of that alone. */
static inline void change_to(enum live_object object, uint32_t slot, const void *next) {
	will_be(object, slot, next);
	change();
}

static inline void refused(const char *part) {
	assert_null(us_change_begin(bench->u, &bench->sg, &changes, given, why));
	if (strstr(why, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, why);
	changes.count = 0;
	memset(given, 0, sizeof(given));
}

static inline void refuses(enum live_object object, uint32_t slot, const void *next,
			   const char *part) {
	will_be(object, slot, next);
	refused(part);
}

/* The next frame of the stream in a segment or burst of its own; nothing runs. */
static inline void put(unsigned stream) {
	bench_put(stream, SIZE);
}

static inline void whole(unsigned stream) {
	bench_whole(stream, SIZE);
}

/* One frame comes, and it is all that was made. */
static inline void passes(unsigned stream) {
	whole(stream);
	bench_complete(stream);
}

/* One of each. */
static inline void all_pass(void) {
	for (unsigned s = 0; s < BENCH_STREAMS; s++)
		passes(s);
}

/* What was received comes as far as the segments, and stays there. */
static inline void to_segments(void) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = us_receive(&bench->u->receive, pkts, 0);

	us_uepi(&bench->u->uepi, pkts, us_validate(&bench->u->validate, pkts, n));
	n = queue_take_burst(us_queue(bench->u, US_BURSTS), pkts, PIPELINE_BURST);
	us_reassemble(&bench->u->reassemble, pkts, n);
}

/* All that was sent of the stream was lost, but for what came. */
static inline void lost(unsigned stream, enum drop_reason reason, unsigned units) {
	bench_dropped(reason, units);
	bench->came[stream] = bench->serial[stream];
	bench->next[stream] = bench->serial[stream];
}

static inline void nothing_held(void) {
	bench_nothing_held();
	assert_int_equal(rte_mempool_in_use_count(bench->packets), 0);
	assert_int_equal(rte_mempool_in_use_count(bench->pieces),
			 bench->u->streams.buffers.attached.count);
	assert_int_equal(rte_mempool_in_use_count(bench->frames),
			 bench->u->streams.buffers.copied.count);
}

/* One frame of it, which is dropped. */
static inline void drops(unsigned stream, enum drop_reason reason) {
	whole(stream);
	lost(stream, reason, 1);
}

/* Places that are free, and SIDs that are in use. */
struct places_seen {
	uint32_t flows, streams, sessions, sids, keys;
};

static inline struct places_seen places_now(void) {
	const struct us_tables *t = &bench->u->tables;

	return (struct places_seen){
		t->slots.flows.count,
		t->slots.streams.count,
		t->slots.sessions.count,
		t->slots.sids,
		(uint32_t)(rte_hash_count(t->by_sid) + rte_hash_count(t->by_session)),
	};
}

static inline void places_are(struct places_seen before) {
	struct places_seen now = places_now();

	assert_memory_equal(&now, &before, sizeof(now));
}

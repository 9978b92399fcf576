/* SPDX-License-Identifier: BSD-3-Clause */
/* Extends the upstream kit by live changes, which tests apply step by step while packets arrive. */
#pragma once

#include "upstream/change/change.h"
#include "upstream_cases.h"

#define SIZE 120 /* of Ethernet frames */
#define MAC_SIZE (DOCSIS_MAC_HEADER + SIZE + 4)
#define MAX_CHANGES 256

static struct live_change change_list[MAX_CHANGES];
static struct live_changes changes = {.list = change_list, .capacity = MAX_CHANGES};
static void *key_schedules[2 * MAX_CHANGES]; /* of the change */
static char why[LIVE_LINE];

/* Capacity for 40 modems. */
static const struct group_capacity spare_capacity = {
	.modems = 40,
	.upstream_channels = 5,
	.upstream_flows = 60,
	.streams = 80,
	.sids = 200,
};

#define ADDED 150 /* modems */

/* Capacity for 150 added modems with one flow each. */
static const struct group_capacity added_capacity = {
	.modems = 200,
	.upstream_channels = 3,
	.upstream_flows = 200,
	.streams = 200,
	.sids = 180,
};

/* For a case's `prepare`. */
static inline void use_spare_capacity(void) {
	changes.count = 0;
	kit->capacity = &spare_capacity;
}

static inline void leave_out_last_modem(void) {
	use_spare_capacity();
	kit->sg.modem_count = KIT_MODEMS - 1;
}

static inline void use_added_modems(void) {
	use_spare_capacity();
	kit_add_modems(ADDED);
	kit->capacity = &added_capacity;
}

/* Adds an object to the change; without `next`, its removal. A modem keeps its keys. */
static inline void add_change(enum live_object object, uint32_t slot, const void *next) {
	change_list[changes.count++] =
		(struct live_change){.object = object, .slot = slot, .next = next};
}

/* Prepares the change. Fails if it is refused. */
static inline struct us_change *begin_change(void) {
	struct us_change *c = us_change_begin(kit->u, &kit->sg, &changes, key_schedules, why);

	if (c == NULL)
		print_error("%s\n", why);
	assert_non_null(c);
	return c;
}

/* Applies all steps, and runs a round after each. */
static inline void apply_change(struct us_change *c) {
	while (!us_change_apply(c))
		kit_run_round();
}

/* Runs rounds until nothing that was received before uses replaced objects. */
static inline void flush_change(struct us_change *c) {
	for (unsigned rounds = 0; !us_change_flushed(c); rounds++) {
		assert_in_range(rounds, 0, 1000);
		kit_run_round();
	}
}

/* Frees what the change has replaced, and starts an empty change. */
static inline void end_change(struct us_change *c) {
	us_change_end(c);
	changes.count = 0;
	memset(key_schedules, 0, sizeof(key_schedules));
}

/* A change until it has taken effect, and its end. */
static inline struct us_change *begin_and_apply(void) {
	struct us_change *c = begin_change();

	apply_change(c);
	return c;
}

static inline void flush_and_end(struct us_change *c) {
	flush_change(c);
	end_change(c);
}

static inline void run_change(void) {
	flush_and_end(begin_and_apply());
}

/* A change of one object. */
static inline void change_object(enum live_object object, uint32_t slot, const void *next) {
	add_change(object, slot, next);
	run_change();
}

/* The change must be refused, with a reason that contains `part`. */
static inline void check_refused(const char *part) {
	assert_null(us_change_begin(kit->u, &kit->sg, &changes, key_schedules, why));
	if (strstr(why, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, why);
	changes.count = 0;
	memset(key_schedules, 0, sizeof(key_schedules));
}

static inline void check_object_refused(enum live_object object, uint32_t slot, const void *next,
					const char *part) {
	add_change(object, slot, next);
	check_refused(part);
}

/* Sends the stream's next frame in a segment or burst of its own, and runs no round. */
static inline void send_frame(unsigned stream) {
	kit_send_frame(stream, SIZE);
}

static inline void process_frame(unsigned stream) {
	kit_process_frame(stream, SIZE);
}

/* Sends a frame; all frames of the stream must have been transmitted. */
static inline void check_delivered(unsigned stream) {
	process_frame(stream);
	kit_check_complete(stream);
}

/* The same for each stream. */
static inline void check_all_delivered(void) {
	for (unsigned s = 0; s < KIT_STREAMS; s++)
		check_delivered(s);
}

/* Runs received packets up to the queue of segments. */
static inline void run_to_segments(void) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = us_receive(&kit->u->receive, pkts, 0);

	us_uepi(&kit->u->uepi, pkts, us_validate(&kit->u->validate, pkts, n));
	n = queue_remove_burst(us_queue(kit->u, US_BURSTS), pkts, PIPELINE_BURST);
	us_reassemble(&kit->u->reassemble, pkts, n);
}

/* Expects drops, and that all further frames of the stream are lost. */
static inline void check_lost(unsigned stream, enum drop_reason reason, unsigned units) {
	kit_check_dropped(reason, units);
	kit->received[stream] = kit->serial[stream];
	kit->next[stream] = kit->serial[stream];
}

/* Nothing is pending, and no buffer is in use except for the stock of the stages. */
static inline void check_nothing_pending(void) {
	kit_check_nothing_pending();
	assert_int_equal(rte_mempool_in_use_count(kit->packets), 0);
	assert_int_equal(rte_mempool_in_use_count(kit->pieces),
			 kit->u->streams.buffers.attached.count);
	assert_int_equal(rte_mempool_in_use_count(kit->frames),
			 kit->u->streams.buffers.copied.count);
}

/* Sends a frame, which is dropped. */
static inline void check_dropped(unsigned stream, enum drop_reason reason) {
	process_frame(stream);
	check_lost(stream, reason, 1);
}

/* Free slots per table, and SIDs and hash keys in use. */
struct slot_counts {
	uint32_t flows, streams, sessions, sids, keys;
};

static inline struct slot_counts count_slots(void) {
	const struct us_tables *t = &kit->u->tables;

	return (struct slot_counts){
		t->slots.flows.count,
		t->slots.streams.count,
		t->slots.sessions.count,
		t->slots.sids,
		(uint32_t)(rte_hash_count(t->by_sid) + rte_hash_count(t->by_session)),
	};
}

static inline void check_slots(struct slot_counts before) {
	struct slot_counts now = count_slots();

	assert_memory_equal(&now, &before, sizeof(now));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the reorder queues of PSP packets and segments against a model with a state per number.
 * Each packet or segment has a frame with its number. Taps count what leaves each stage. */
#include "upstream_cases.h"

#define SIZE 64
#define NUMBERS 40000 /* of the model: they do not wrap */
#define ORIGIN 5000 /* first number of a model */
#define WRAP (ORIGIN + 1000) /* 0 on the wire */
#define KNOWN 64 /* latest delivered numbers, whose duplicates are recognized */
#define PATIENCE 64 /* late or duplicate in a row; the next one restarts the numbering */
#define SILENCE (1000 * KIT_MS) /* after which a late number restarts the numbering */

/* What differs between the numbers of packets and of segments. */
static const struct kind {
	unsigned stream;
	uint16_t mask;
	uint32_t window;
	uint64_t timeout;
	enum unit unit;
	enum counter gaps, missing, reordered, resyncs;
	enum drop_reason late, duplicate;
} packets = {PLAIN,
	     UINT16_MAX,
	     32,
	     5 * KIT_MS,
	     UNIT_PACKET,
	     COUNTER_PSP_GAPS,
	     COUNTER_PSP_MISSING,
	     COUNTER_PSP_REORDERED,
	     COUNTER_PSP_RESYNCS,
	     DROP_PSP_LATE,
	     DROP_PSP_DUPLICATE},
  segments = {SEGMENTED,
	      0x1fff,
	      63,
	      10 * KIT_MS,
	      UNIT_SEGMENT,
	      COUNTER_SEGMENT_GAPS,
	      COUNTER_SEGMENTS_MISSING,
	      COUNTER_SEGMENTS_REORDERED,
	      COUNTER_SEGMENT_RESYNCS,
	      DROP_SEGMENT_LATE,
	      DROP_SEGMENT_DUPLICATE};

enum state {
	UNKNOWN,
	PENDING,
	DELIVERED,
	SKIPPED,
};

static struct model {
	const struct kind *kind;
	uint8_t state[NUMBERS];
	uint32_t next, pending, rejected;
	uint32_t offset; /* of the serials in frames, which never go back */
	uint32_t sent;
	uint64_t last; /* time of the latest number */
	uint64_t since; /* when the first gap began */
	bool started;
	uint64_t delivered, gaps, missing, reordered, resyncs, late, duplicate;
} model;

static unsigned stage_packets[PIPELINE_MAX_STAGES]; /* that left each stage */
static uint32_t stage;

static void count_packets(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts,
			  uint16_t n) {
	(void)tap;
	(void)pkts;
	assert_true(boundary % 2 == TAP_OUT);
	stage_packets[boundary / 2] += n;
}

static struct tap tap = {.passed = count_packets, .stage = &stage};
static const struct tap_list tap_all_stages = {&tap, 0, 0, UINT32_MAX};

static void check_stage_packets(const char *name, uint64_t n) {
	unsigned i = 0;

	while (strcmp(us_lists[0].stages[i].name, name) != 0)
		assert_in_range(++i, 1, us_lists[0].count - 1);
	assert_int_equal(stage_packets[i], n);
}

static void model_begin(const struct kind *kind) {
	memset(stage_packets, 0, sizeof(stage_packets));
	kit->u->list.tap = &tap_all_stages;
	memset(&model, 0, sizeof(model));
	model.kind = kind;
}

static void send_number(uint32_t number) {
	const struct kind *k = model.kind;
	uint16_t on_wire = (uint16_t)((number - WRAP) & k->mask);

	kit->serial[k->stream] = number + model.offset;
	model.sent++;
	if (k == &packets) {
		struct psp_packet p;

		kit_write_numbered_packet(&p, k->stream, SIZE, on_wire);
		psp_send(&p);
		return;
	}
	kit->segment[k->stream] = on_wire;
	kit_send_frame(k->stream, SIZE);
}

static void model_deliver(void) {
	model.state[model.next++] = DELIVERED;
	model.delivered++;
}

static void model_deliver_pending(void) {
	while (model.state[model.next] == PENDING) {
		model_deliver();
		model.pending--;
	}
	model.since = kit->clock.now;
}

/* Skips the missing numbers up to the first pending one. If none is pending: up to this one. */
static void model_skip(uint32_t number) {
	uint32_t missing = 0;

	while (model.pending > 0 ? model.state[model.next] != PENDING : model.next < number) {
		model.state[model.next++] = SKIPPED;
		missing++;
	}
	model.missing += missing;
	model.gaps += missing > 0;
	model_deliver_pending();
}

static bool model_later_is_pending(uint32_t number) {
	for (uint32_t n = number + 1; n <= model.next + model.kind->window; n++) {
		if (model.state[n] == PENDING)
			return true;
	}
	return false;
}

/* Restarts the numbering at `number`: no number before it counts as delivered. */
static void model_restart(uint32_t number) {
	while (model.pending > 0)
		model_skip(0);
	model.offset += 2 * ORIGIN;
	memset(model.state, UNKNOWN, sizeof(model.state));
	model.next = number;
	model.rejected = 0;
	model.resyncs++;
}

/* Counts a rejected number. Returns whether it restarts the numbering instead. */
static bool model_reject(uint64_t *why) {
	if (model.rejected == PATIENCE)
		return true;
	model.rejected++;
	++*why;
	return false;
}

/* Returns false if the number is late or a duplicate. */
static bool model_accepts(uint32_t number) {
	bool behind = number < model.next;
	bool known = model.state[number] == (behind ? DELIVERED : PENDING);

	if (behind && model.next - number > KNOWN)
		known = false;
	if (!behind && (number - model.next > model.kind->window || !known))
		return true;
	if (!model_reject(known ? &model.duplicate : &model.late))
		return false;
	model_restart(number);
	return true;
}

static void model_receive(uint32_t number) {
	if (!model.started)
		model.next = number;
	model.started = true;
	if (kit->clock.now - model.last >= SILENCE)
		model.rejected = PATIENCE;
	model.last = kit->clock.now;
	if (!model_accepts(number))
		return;
	while (number - model.next > model.kind->window)
		model_skip(number);
	model.rejected = 0;
	model.reordered += model_later_is_pending(number);
	if (number == model.next) {
		model_deliver();
		model_deliver_pending();
		return;
	}
	model.state[number] = PENDING;
	if (model.pending++ == 0)
		model.since = model.last;
}

/* Settles, and compares the upstream with the model. */
static void check_all(void) {
	const struct kind *k = model.kind;
	uint64_t until = model.pending > 0 ? model.since + k->timeout : UINT64_MAX;

	kit_settle();
	assert_int_equal(kit->received[k->stream], model.delivered);
	assert_int_equal(upstream_pending(kit->u, k->unit), model.pending);
	assert_true(upstream_deadline(kit->u) == until);
	assert_true(pipeline_due(&kit->u->list) == until);
	if (model.pending == 0)
		kit_check_nothing_pending();
	assert_int_equal(kit_counter(k->gaps), model.gaps);
	assert_int_equal(kit_counter(k->missing), model.missing);
	assert_int_equal(kit_counter(k->reordered), model.reordered);
	assert_int_equal(kit_counter(k->resyncs), model.resyncs);
	assert_int_equal(kit->u->counters.drops[k->late], model.late);
	assert_int_equal(kit->u->counters.drops[k->duplicate], model.duplicate);
	check_stage_packets("uepi", k == &packets ? model.delivered : model.sent);
	check_stage_packets("reassemble", model.delivered);
	check_stage_packets("extract", model.delivered);
	check_stage_packets("transmit", model.delivered);
}

/* The model and the upstream receive a number. */
static void receive_number(uint32_t number) {
	model_receive(number);
	send_number(number);
	check_all();
}

/* Advances the clock until the first gap expires, and checks that it does not before. The next gap
 * begins then, and expires if `ns` is longer than the timeout. */
static void expire_gaps(uint64_t ns) {
	uint64_t timeout = model.kind->timeout;

	kit_advance(timeout - 1 - (kit->clock.now - model.since) % timeout);
	check_all();
	kit_advance(1);
	model_skip(0);
	check_all();
	if (ns <= timeout)
		return;
	kit_advance(ns - timeout);
	model_skip(0);
	check_all();
}

/* Draws the next number: mostly near, sometimes far ahead, behind, or a duplicate. */
static uint32_t draw_number(uint32_t head) {
	switch (random_below(&kit->random, 40)) {
	case 0: return head + random_below(&kit->random, 200);
	case 1: return head - random_below(&kit->random, 150);
	case 2: return head - random_below(&kit->random, 4000);
	case 3:
	case 4: return head - random_below(&kit->random, 30);
	default: return head + random_below(&kit->random, 6);
	}
}

static void random_numbers(const struct kind *kind) {
	model_begin(kind);
	for (uint32_t head = ORIGIN; head < NUMBERS - 1000;) {
		uint32_t number = draw_number(head);

		receive_number(number);
		head = RTE_MAX(head, number);
		if (random_below(&kit->random, 300) == 0)
			expire_gaps(random_between(&kit->random, 1, 3) * kind->timeout);
	}
	assert_true(model.gaps > 0 && model.reordered > 0 && model.late > 0 && model.duplicate > 0);
	kit->ignore_drops = true;
}

/* Tests both ends of the window, the oldest number whose duplicate is recognized, and PATIENCE. */
static void check_window_edges(const struct kind *kind) {
	const uint32_t to = ORIGIN + 2 * (kind->window + 1);

	model_begin(kind);
	receive_number(ORIGIN);
	receive_number(ORIGIN + 1 + kind->window);
	assert_int_equal(model.pending, 1);
	receive_number(ORIGIN + 2 + kind->window);
	receive_number(to + 1);
	for (uint32_t i = 2; i < 100; i++)
		receive_number(to + i);
	receive_number(to + 100 - KNOWN);
	receive_number(to + 100 - KNOWN - 1);
	assert_true(model.duplicate == 1 && model.late == 1);
	for (uint32_t i = 0; i < 2 * PATIENCE - 1; i++) /* one is expected */
		receive_number(i == PATIENCE - 2 ? to + 100 : ORIGIN + i);
	assert_int_equal(model.resyncs, 0);
	receive_number(to + 110); /* pending, then skipped */
	for (uint32_t i = 0; i <= PATIENCE; i++) /* late ones, and duplicates of that */
		receive_number(i % 2 == 0 ? ORIGIN + i : to + 110);
	receive_number(ORIGIN + PATIENCE + 1);
	assert_int_equal(model.resyncs, 1);
	receive_number(ORIGIN + PATIENCE - 1); /* of the numbering before */
	receive_number(model.next +
		       kind->mask / 2); /* half of the numbers is ahead, half is behind */
	receive_number(model.next - kind->mask / 2 - 1);
	kit->ignore_drops = true;
}

/* Any number ends the silence, also a late one. */
static void check_silence(const struct kind *kind) {
	static const struct {
		uint64_t after;
		uint32_t number;
		unsigned late, resyncs;
	} steps[] = {
		{SILENCE - 1, ORIGIN - 200, 1, 0},	{SILENCE, ORIGIN - 199, 1, 1},
		{SILENCE * 6 / 10, ORIGIN - 198, 1, 1}, {SILENCE * 6 / 10, ORIGIN - 300, 2, 1},
		{SILENCE, ORIGIN - 197, 2, 1},
	};

	model_begin(kind);
	receive_number(ORIGIN);
	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		kit_advance(steps[i].after);
		receive_number(steps[i].number);
		assert_true(model.late == steps[i].late && model.resyncs == steps[i].resyncs);
	}
	kit->ignore_drops = true;
}

CASE(random_packet_numbers_match_model) {
	random_numbers(&packets);
}

CASE(random_segment_numbers_match_model, .modem_pending_limit = 4000000, .pending = 8000000) {
	random_numbers(&segments);
}

CASE(packet_window_edges) {
	check_window_edges(&packets);
}

CASE(segment_window_edges, .modem_pending_limit = 4000000, .pending = 8000000) {
	check_window_edges(&segments);
}

CASE(silence_restarts_packet_numbering) {
	check_silence(&packets);
}

CASE(silence_restarts_segment_numbering) {
	check_silence(&segments);
}

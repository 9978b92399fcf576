/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of PSP packets and of segments, against a model that remembers what became of every number and knows nothing
 * of bits and slots. Each has a frame with its number in it, so that what comes out of order is seen. A tap at the end of
 * each stage sees what leaves it, also where the wait ended in another stage.
 */
#include "upstream_cases.h"

#define SIZE 64
#define NUMBERS 40000 /* of a model, which do not wrap */
#define ORIGIN 5000
#define WRAP (ORIGIN + 1000) /* is 0 on the wire */
#define KNOWN 64 /* as many delivered numbers back, a duplicate is told from a late one */
#define PATIENCE \
	64 /* late ones and duplicates in a row are dropped; the next one begins a new count */
#define SILENCE (1000 * BENCH_MS) /* after which the first late one begins a new count */

/* What is put into order. */
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
	     5 * BENCH_MS,
	     UNIT_PACKET,
	     COUNTER_PSP_GAPS,
	     COUNTER_PSP_MISSING,
	     COUNTER_PSP_REORDERED,
	     COUNTER_PSP_RESYNCS,
	     DROP_PSP_LATE,
	     DROP_PSP_DUPLICATE},
  segments = {FRAMED,
	      0x1fff,
	      63,
	      10 * BENCH_MS,
	      UNIT_SEGMENT,
	      COUNTER_SEGMENT_GAPS,
	      COUNTER_SEGMENTS_MISSING,
	      COUNTER_SEGMENTS_REORDERED,
	      COUNTER_SEGMENT_RESYNCS,
	      DROP_SEGMENT_LATE,
	      DROP_SEGMENT_DUPLICATE};

enum fate {
	UNKNOWN,
	WAITS,
	DELIVERED,
	GIVEN_UP,
};

static struct model {
	const struct kind *kind;
	uint8_t fate[NUMBERS];
	uint32_t next, waiting, rejected;
	uint32_t offset; /* to numbers in frames, which never go back */
	uint32_t sent;
	uint64_t last; /* time of the last number, and since when the first gap is waited for: */
	uint64_t since;
	bool started;
	uint64_t delivered, gaps, missing, reordered, resyncs, late, duplicate;
} model;

static unsigned seen[PIPELINE_MAX_STAGES]; /* packets, by stage */
static uint32_t stage;

static void passed(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts, uint16_t n) {
	(void)tap;
	(void)pkts;
	assert_true(boundary % 2 == TAP_OUT);
	seen[boundary / 2] += n;
}

static struct tap tap = {.passed = passed, .stage = &stage};
static const struct tap_list all_ends = {&tap, 0, 0, UINT32_MAX};

static void expect_seen(const char *name, uint64_t n) {
	unsigned i = 0;

	while (strcmp(us_lists[0].stages[i].name, name) != 0)
		assert_in_range(++i, 1, us_lists[0].count - 1);
	assert_int_equal(seen[i], n);
}

static void model_begin(const struct kind *kind) {
	memset(seen, 0, sizeof(seen));
	bench->u->list.tap = &all_ends;
	memset(&model, 0, sizeof(model));
	model.kind = kind;
}

static void put_on_wire(uint32_t number) {
	const struct kind *k = model.kind;
	uint16_t on_wire = (uint16_t)((number - WRAP) & k->mask);

	bench->serial[k->stream] = number + model.offset;
	model.sent++;
	if (k == &packets) {
		struct bench_psp p;

		bench_packet_as(&p, k->stream, SIZE, on_wire);
		psp_send(&p);
		return;
	}
	bench->segment[k->stream] = on_wire;
	bench_put(k->stream, SIZE);
}

static void model_deliver(void) {
	model.fate[model.next++] = DELIVERED;
	model.delivered++;
}

static void model_drain(void) {
	while (model.fate[model.next] == WAITS) {
		model_deliver();
		model.waiting--;
	}
	model.since = bench->clock.now;
}

/* Numbers are missing up to the first that waits; where none does, up to this one. */
static void model_pass_over(uint32_t number) {
	uint32_t missing = 0;

	while (model.waiting > 0 ? model.fate[model.next] != WAITS : model.next < number) {
		model.fate[model.next++] = GIVEN_UP;
		missing++;
	}
	model.missing += missing;
	model.gaps += missing > 0;
	model_drain();
}

static bool model_later_waits(uint32_t number) {
	for (uint32_t n = number + 1; n <= model.next + model.kind->window; n++) {
		if (model.fate[n] == WAITS)
			return true;
	}
	return false;
}

/* The count begins at `number`: nothing before it was ever delivered. */
static void model_restart(uint32_t number) {
	while (model.waiting > 0)
		model_pass_over(0);
	model.offset += 2 * ORIGIN;
	memset(model.fate, UNKNOWN, sizeof(model.fate));
	model.next = number;
	model.rejected = 0;
	model.resyncs++;
}

/* Returns whether it is one of a new count. */
static bool model_reject(uint64_t *why) {
	if (model.rejected == PATIENCE)
		return true;
	model.rejected++;
	++*why;
	return false;
}

/* Returns false where the number is late or a duplicate. */
static bool model_accepts(uint32_t number) {
	bool behind = number < model.next;
	bool known = model.fate[number] == (behind ? DELIVERED : WAITS);

	if (behind && model.next - number > KNOWN)
		known = false;
	if (!behind && (number - model.next > model.kind->window || !known))
		return true;
	if (!model_reject(known ? &model.duplicate : &model.late))
		return false;
	model_restart(number);
	return true;
}

static void model_take(uint32_t number) {
	if (!model.started)
		model.next = number;
	model.started = true;
	if (bench->clock.now - model.last >= SILENCE)
		model.rejected = PATIENCE;
	model.last = bench->clock.now;
	if (!model_accepts(number))
		return;
	while (number - model.next > model.kind->window)
		model_pass_over(number);
	model.rejected = 0;
	model.reordered += model_later_waits(number);
	if (number == model.next) {
		model_deliver();
		model_drain();
		return;
	}
	model.fate[number] = WAITS;
	if (model.waiting++ == 0)
		model.since = model.last;
}

static void check(void) {
	const struct kind *k = model.kind;
	uint64_t until = model.waiting > 0 ? model.since + k->timeout : UINT64_MAX;

	bench_settle();
	assert_int_equal(bench->came[k->stream], model.delivered);
	assert_int_equal(upstream_pending(bench->u, k->unit), model.waiting);
	assert_true(upstream_deadline(bench->u) == until);
	assert_true(pipeline_due(&bench->u->list) == until);
	if (model.waiting == 0)
		bench_nothing_held();
	assert_int_equal(bench_count(k->gaps), model.gaps);
	assert_int_equal(bench_count(k->missing), model.missing);
	assert_int_equal(bench_count(k->reordered), model.reordered);
	assert_int_equal(bench_count(k->resyncs), model.resyncs);
	assert_int_equal(bench->u->counters.drops[k->late], model.late);
	assert_int_equal(bench->u->counters.drops[k->duplicate], model.duplicate);
	expect_seen("uepi", k == &packets ? model.delivered : model.sent);
	expect_seen("reassemble", model.delivered);
	expect_seen("extract", model.delivered);
	expect_seen("transmit", model.delivered);
}

static void put(uint32_t number) {
	model_take(number);
	put_on_wire(number);
	check();
}

/* The first gap's time ends, and not before; that of the next one begins then, and is over with a longer pause. */
static void pause(uint64_t ns) {
	uint64_t timeout = model.kind->timeout;

	bench_after(timeout - 1 - (bench->clock.now - model.since) % timeout);
	check();
	bench_after(1);
	model_pass_over(0);
	check();
	if (ns <= timeout)
		return;
	bench_after(ns - timeout);
	model_pass_over(0);
	check();
}

/* Where the next number comes from: mostly near, sometimes far, behind, or the same again. */
static uint32_t choose(uint32_t head) {
	switch (random_below(&bench->random, 40)) {
	case 0: return head + random_below(&bench->random, 200);
	case 1: return head - random_below(&bench->random, 150);
	case 2: return head - random_below(&bench->random, 4000);
	case 3:
	case 4: return head - random_below(&bench->random, 30);
	default: return head + random_below(&bench->random, 6);
	}
}

static void random_numbers(const struct kind *kind) {
	model_begin(kind);
	for (uint32_t head = ORIGIN; head < NUMBERS - 1000;) {
		uint32_t number = choose(head);

		put(number);
		head = RTE_MAX(head, number);
		if (random_below(&bench->random, 300) == 0)
			pause(random_between(&bench->random, 1, 3) * kind->timeout);
	}
	assert_true(model.gaps > 0 && model.reordered > 0 && model.late > 0 && model.duplicate > 0);
	bench->any_drops = true;
}

/* The farthest that waits and the first that does not, how far back is known, 64 and 65 in a row that are late. */
static void edges(const struct kind *kind) {
	const uint32_t to = ORIGIN + 2 * (kind->window + 1);

	model_begin(kind);
	put(ORIGIN);
	put(ORIGIN + 1 + kind->window);
	assert_int_equal(model.waiting, 1);
	put(ORIGIN + 2 + kind->window);
	put(to + 1);
	for (uint32_t i = 2; i < 100; i++)
		put(to + i);
	put(to + 100 - KNOWN);
	put(to + 100 - KNOWN - 1);
	assert_true(model.duplicate == 1 && model.late == 1);
	for (uint32_t i = 0; i < 2 * PATIENCE - 1; i++) /* a good one between them */
		put(i == PATIENCE - 2 ? to + 100 : ORIGIN + i);
	assert_int_equal(model.resyncs, 0);
	put(to + 110); /* waits, and is given up then */
	for (uint32_t i = 0; i <= PATIENCE; i++) /* late ones, and duplicates of that */
		put(i % 2 == 0 ? ORIGIN + i : to + 110);
	put(ORIGIN + PATIENCE + 1);
	assert_int_equal(model.resyncs, 1);
	put(ORIGIN + PATIENCE - 1); /* of the count before */
	put(model.next + kind->mask / 2); /* half of the numbers is ahead, the other half behind */
	put(model.next - kind->mask / 2 - 1);
	bench->any_drops = true;
}

/* A number ends the silence, be it late or not. */
static void silence(const struct kind *kind) {
	static const struct {
		uint64_t after;
		uint32_t number;
		unsigned late, resyncs;
	} rows[] = {
		{SILENCE - 1, ORIGIN - 200, 1, 0},	{SILENCE, ORIGIN - 199, 1, 1},
		{SILENCE * 6 / 10, ORIGIN - 198, 1, 1}, {SILENCE * 6 / 10, ORIGIN - 300, 2, 1},
		{SILENCE, ORIGIN - 197, 2, 1},
	};

	model_begin(kind);
	put(ORIGIN);
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		bench_after(rows[i].after);
		put(rows[i].number);
		assert_true(model.late == rows[i].late && model.resyncs == rows[i].resyncs);
	}
	bench->any_drops = true;
}

CASE(random_packets) {
	random_numbers(&packets);
}

CASE(random_segments, .held_by_modem = 4000000, .pending = 8000000) {
	random_numbers(&segments);
}

CASE(edges_of_packets) {
	edges(&packets);
}

CASE(edges_of_segments, .held_by_modem = 4000000, .pending = 8000000) {
	edges(&segments);
}

CASE(silence_of_packets) {
	silence(&packets);
}

CASE(silence_of_segments) {
	silence(&segments);
}

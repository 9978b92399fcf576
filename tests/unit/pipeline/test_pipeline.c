/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop that runs a list of stages: order, empty bursts, queues, what is accounted, and what is shown to a tap, with
 * which packets go the same way as without. No EAL is needed.
 */
#include "test_main.h"

#include <rte_cycles.h>

#include "pipeline/counters.h"
#include "pipeline/effort.h"
#include "pipeline/pipeline.h"

#define CALLS 32
#define AT 10 /* number of the list's first stage, for the tap */

/* What the stages and the tap of a test saw. */
struct seen {
	struct tap tap;
	struct tap_list looks;
	struct pipeline p;
	struct counters counters;
	struct {
		char stage;
		uint16_t in;
	} calls[CALLS];
	unsigned count;
	struct {
		unsigned calls, packets;
		const struct rte_mbuf *last;
	} shown[2 * (AT + 8)]; /* by boundary */
	unsigned dropped; /* packets that the tap saw */
	unsigned supply; /* packets that the source has */
	unsigned pending; /* by the stage that keeps some back */
	unsigned room; /* of the stage that pulls */
	unsigned made,
		came; /* mbufs that were given to the first queue, and that came to the end, in order */
	struct rte_mbuf *waits;
};

static struct rte_mbuf mbufs[400];
static uint32_t stage_now;

static void show(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts, uint16_t n) {
	struct seen *s = (struct seen *)tap;

	s->shown[boundary].calls++;
	s->shown[boundary].packets += n;
	s->shown[boundary].last = pkts[n - 1];
}

static void show_dropped(struct tap *tap, struct rte_mbuf *m, unsigned reason) {
	struct seen *s = (struct seen *)tap;

	assert_true(m >= mbufs && m < mbufs + ARRAY_COUNT(mbufs));
	assert_int_equal(*tap->stage, AT + 1);
	assert_int_equal(reason, DROP_RUNT);
	s->dropped++;
}

/* What was shown at a boundary of the stage. */
static void was_shown(const struct seen *s, unsigned stage, unsigned side, unsigned calls,
		      unsigned packets) {
	const unsigned boundary = tap_boundary(AT + stage, side);

	assert_int_equal(s->shown[boundary].calls, s->p.tap != NULL ? calls : 0);
	assert_int_equal(s->shown[boundary].packets, s->p.tap != NULL ? packets : 0);
}

static void note(struct seen *s, char stage, uint16_t in) {
	assert_true(s->count < CALLS);
	s->calls[s->count].stage = stage;
	s->calls[s->count++].in = in;
}

static void expect(struct seen *s, const char *stages, const uint16_t *in) {
	assert_int_equal(s->count, strlen(stages));
	for (unsigned i = 0; i < s->count; i++) {
		assert_int_equal(s->calls[i].stage, stages[i]);
		assert_int_equal(s->calls[i].in, in[i]);
	}
	s->count = 0;
	assert_int_equal(stage_now, TAP_NO_STAGE);
}

static uint16_t source(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;
	uint16_t out = (uint16_t)RTE_MIN(s->supply, (unsigned)PIPELINE_BURST);

	note(s, 'S', n);
	for (uint16_t i = 0; i < out; i++)
		pkts[i] = &mbufs[i];
	s->supply -= out;
	return out;
}

/* Passes every other packet, and drops those between, which are not freed, as they belong to nobody. */
static uint16_t halve(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	note(s, 'H', n);
	for (uint16_t i = 0; i < n / 2; i++) {
		drop_of(&s->counters, pkts[2 * i], DROP_RUNT);
		pkts[i] = pkts[2 * i + 1];
	}
	return n / 2;
}

/* Keeps the first burst that it gets and puts it out with the next call, twice as large. */
static uint16_t hold(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;
	uint16_t out = (uint16_t)(2 * s->pending);

	note(s, 'D', n);
	s->pending = n;
	for (uint16_t i = 0; i < out; i++)
		pkts[i] = &mbufs[100 + i];
	return out;
}

static uint16_t swallow(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	note(ctx, 'X', n);
	return 0;
}

/* With accounts and a tap, or without. */
static struct seen *seen_open(const struct stage_list *list, unsigned mode) {
	static struct seen s;

	s = (struct seen){.tap = {show, show_dropped, &stage_now}, .room = 10};
	s.looks = (struct tap_list){&s.tap, AT, 1u << 1 | 1u << 2, 1u << 0 | 1u << 1};
	pipeline_init(&s.p, list, &s);
	s.p.accounting = mode & 1;
	s.p.tap = mode & 2 ? &s.looks : NULL;
	s.counters.tap = mode & 2 ? &s.tap : NULL;
	stage_now = TAP_NO_STAGE;
	return &s;
}

static const struct stage stages[] = {
	{"source", "", "", source, true},
	{"halve", "", "", halve, false},
	{"hold", "", "", hold, true},
	{"swallow", "", "", swallow, false},
};
static const struct stage_list list = {
	.name = "bursts", .stages = stages, .count = ARRAY_COUNT(stages)};

TEST(runs_from_top_to_bottom) {
	for (unsigned mode = 0; mode < 4; mode++) {
		struct seen *s = seen_open(&list, mode);
		const struct stage_account none = {0};

		s->supply = 10;
		/* 10 in, 5 left, kept by the third stage: the fourth is not called */
		assert_int_equal(pipeline_run(&s->p), 10 + 10 + 5);
		expect(s, "SHD", (const uint16_t[]){0, 10, 5});
		assert_int_equal(s->dropped, mode & 2 ? 5 : 0);
		/* nothing new, but the third stage polls and puts out 10 */
		assert_int_equal(pipeline_run(&s->p), 10 + 10);
		expect(s, "SDX", (const uint16_t[]){0, 0, 10});
		was_shown(s, 0, TAP_OUT, 1, 10);
		was_shown(s, 1, TAP_IN, 1, 10);
		was_shown(s, 1, TAP_OUT, 1, 5);
		was_shown(s, 2, TAP_IN, 1, 5);
		/* of sides that the tap does not look at, nothing is shown */
		was_shown(s, 2, TAP_OUT, 0, 0);
		was_shown(s, 3, TAP_IN, 0, 0);
		/* nothing at all: only who polls is called */
		memset(s->p.accounts, 0, sizeof(s->p.accounts));
		s->p.idle_cycles = 0;
		assert_int_equal(pipeline_run(&s->p), 0);
		expect(s, "SD", (const uint16_t[]){0, 0});
		for (unsigned i = 0; i < ARRAY_COUNT(stages); i++)
			assert_memory_equal(&s->p.accounts[i], &none, sizeof(none));
		assert_int_equal(s->p.idle_cycles > 0, mode & 1);
	}
}

static uint16_t part_run(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	(void)pkts;
	++*(unsigned *)ctx;
	return n;
}

static uint64_t part_held(const void *own, enum unit unit) {
	return unit == UNIT_FRAME ? *(const unsigned *)own : 0;
}

TEST(a_stage_works_with_its_own_part) {
	static const struct stage part[] = {
		{"part", "", "", part_run, true, .own = offsetof(struct seen, made),
		 .pending = part_held},
	};
	static const struct stage_list parts = {.name = "parts", .stages = part, .count = 1};

	for (unsigned mode = 0; mode < 4; mode++) {
		struct seen *s = seen_open(&parts, mode);

		pipeline_run(&s->p);
		assert_int_equal(s->made, 1);
		assert_int_equal(stages_pending(&parts, 1, s, UNIT_FRAME), 1);
	}
}

enum { NO_QUEUE, FIRST, SECOND };

/* All that there is is given to the queue. */
static uint16_t supply(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	note(s, 'M', n);
	for (; s->supply > 0; s->supply--) {
		mbufs[s->made].nb_segs = 2;
		pipeline_give(&s->p, FIRST, &mbufs[s->made++]);
	}
	return 0;
}

/* Hands on what the loop gave it, all but the last one, which waits. */
static uint16_t hand_on(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	note(s, 'O', n);
	for (uint16_t i = 0; i + 1 < n; i++)
		pipeline_give(&s->p, SECOND, pkts[i]);
	s->waits = pkts[n - 1];
	return 0;
}

/* Ends the wait of another stage, then takes as many as it has room for. */
static uint16_t pull(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	note(s, 'P', n);
	if (s->waits != NULL)
		pipeline_give(&s->p, SECOND, s->waits);
	s->waits = NULL;
	return queue_take_burst(&s->p.queues[SECOND], pkts, (uint16_t)s->room);
}

static uint16_t sink(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	note(s, 'K', n);
	for (uint16_t i = 0; i < n; i++)
		assert_ptr_equal(pkts[i], &mbufs[s->came++]);
	return n;
}

static const struct stage linked_stages[] = {
	{"supply", "", "", supply, .polls = true, .gives = FIRST},
	{"hand_on", "", "", hand_on, .from = FIRST, .gives = SECOND},
	{"pull", "", "", pull, .polls = true, .from = SECOND, .pulls = true},
	{"sink", "", "", sink},
};
static const struct stage_list linked = {
	.name = "linked", .stages = linked_stages, .count = ARRAY_COUNT(linked_stages)};

/* The loop hands out a burst a run; who pulls takes what it has room for; nothing overtakes. What a stage gives to its
 * queue is shown as it comes out of it, in whichever stage that happens. */
TEST(queues_between_stages) {
	static const unsigned calls[] = {1, 2, 3, 3}; /* with packets */

	packet_meta_offset = RTE_ALIGN(offsetof(struct rte_mbuf, dynfield1), PACKET_META_ALIGN);
	for (unsigned mode = 0; mode < 4; mode++) {
		struct seen *s = seen_open(&linked, mode);
		const unsigned accounted = mode & 1;

		memset(mbufs, 0xa5, sizeof(mbufs)); /* what they carried before */
		s->supply = 100;
		/* 100 given; 64 in, of which 63 are given; 10 taken; 10 in */
		assert_int_equal(pipeline_run(&s->p), 100 + 64 + 10 + 10);
		expect(s, "MOPK", (const uint16_t[]){0, 64, 0, 10});
		was_shown(s, 0, TAP_OUT, 100, 100);
		was_shown(s, 1, TAP_IN, 1, 64);
		was_shown(s, 1, TAP_OUT, 64, 64);
		was_shown(s, 2, TAP_OUT, 0, 0);
		if (mode & 2)
			assert_ptr_equal(s->shown[tap_boundary(AT + 1, TAP_OUT)].last, &mbufs[63]);
		assert_int_equal(s->p.queues[FIRST].count, 36);
		assert_int_equal(s->p.queues[FIRST].buffers, 72);
		assert_int_equal(s->p.queues[SECOND].count, 54);
		s->room = 60;
		assert_int_equal(pipeline_run(&s->p), 36 + 60 + 60);
		expect(s, "MOPK", (const uint16_t[]){0, 36, 0, 60});
		assert_int_equal(pipeline_run(&s->p), 30 + 30);
		expect(s, "MPK", (const uint16_t[]){0, 0, 30});
		assert_int_equal(pipeline_run(&s->p), 0); /* only who polls */
		expect(s, "MP", (const uint16_t[]){0, 0});
		assert_int_equal(s->came, 100);
		for (unsigned i = 0; i < ARRAY_COUNT(linked_stages); i++) {
			assert_int_equal(s->p.accounts[i].calls, accounted * calls[i]);
			assert_int_equal(s->p.accounts[i].packets, accounted * 100);
		}
		for (unsigned q = 0; q <= PIPELINE_MAX_QUEUES; q++)
			assert_int_equal(s->p.queues[q].count + s->p.queues[q].buffers, 0);
	}
}

static uint64_t own_cycles; /* of the last call of spend(), as it sees them itself */

static uint16_t spend(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	uint64_t start = rte_rdtsc();

	do
		own_cycles = rte_rdtsc() - start;
	while (own_cycles < 100000);
	return n;
}

TEST(cycles_go_to_who_spent_them) {
	static const struct stage busy[] = {
		{"source", "", "", source, true},
		{"spend", "", "", spend, true},
		{"swallow", "", "", swallow, false},
	};
	static const struct stage_list busy_list = {.name = "busy", .stages = busy, .count = 3};

	for (unsigned i = 0; i < 100; i++) {
		struct seen *s = seen_open(&busy_list, i % 2 ? 3 : 1);
		uint64_t start = rte_rdtsc(), sum = 0;

		s->supply = 1;
		pipeline_run(&s->p);
		for (int stage = 0; stage < 3; stage++)
			sum += s->p.accounts[stage].cycles;
		assert_true(s->p.accounts[1].cycles >= own_cycles);
		assert_true(sum <= rte_rdtsc() - start);
		assert_int_equal(s->p.idle_cycles, 0);
		pipeline_run(&s->p); /* it spends on nothing */
		assert_int_equal(s->p.accounts[1].calls, 1);
		assert_true(s->p.idle_cycles >= own_cycles);
	}
}

/* A burst that came at once is no queue; one behind it is. */
TEST(full_polls_are_those_behind_full_ones) {
	static const uint16_t polls[] = {64, 0, 32, 31, 64, 32, 40, 8, 64};
	struct effort e = {0};

	for (unsigned i = 0; i < RTE_DIM(polls); i++)
		effort_poll(&e, polls[i]);
	assert_int_equal(e.full_polls, 2);
	assert_int_equal(e.polls_useful, 8);
	assert_int_equal(e.polls_empty, 1);
}

TEST(counters_sum) {
	struct counters a = {0}, b = {0};
	uint64_t dropped = 0;

	for (unsigned i = 0; i < DROP_REASONS; i++) {
		a.drops[i] = i + 1;
		b.drops[i] = 1000 * (i + 1);
		dropped += 1001 * (i + 1);
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		a.values[i] = 7 * i;
		count(&b, (enum counter)i, 3 * i);
		count(&b, (enum counter)i, 2);
	}
	counters_add(&a, &b);
	assert_int_equal(counters_dropped(&a), dropped);
	for (unsigned i = 0; i < COUNTERS; i++)
		assert_int_equal(a.values[i], 10 * i + 2);
	assert_int_equal(b.drops[3], 4000);
}

TEST(names_are_keys) {
	const char *names[DROP_REASONS + COUNTERS];
	unsigned n = 0;

	for (unsigned i = 0; i < DROP_REASONS; i++) {
		names[n++] = drop_name((enum drop_reason)i);
		assert_true(strlen(drop_meaning((enum drop_reason)i)) > 5);
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		names[n++] = counter_name((enum counter)i);
		assert_true(strlen(counter_meaning((enum counter)i)) > 5);
	}
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(strspn(names[i], "abcdefghijklmnopqrstuvwxyz0123456789_"),
				 strlen(names[i]));
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(names[i], names[j]);
	}
	assert_string_equal(drop_name(DROP_CPE_LIMIT), "cpe_limit");
	assert_string_equal(counter_name(COUNTER_DEPI_FULL), "depi_full");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests pipeline_run() with stub stages: order of calls, empty bursts, queues, cycle accounts and what a tap sees. Each
 * test runs with and without accounts and tap. Also tests counters.c and poll_stats.h. No EAL is needed. */
#include "test_main.h"

#include <rte_cycles.h>

#include "pipeline/counters.h"
#include "pipeline/pipeline.h"
#include "pipeline/poll_stats.h"

#define CALLS 32
#define FIRST_STAGE 10 /* the tap's number of the list's first stage */

/* The pipeline under test, and what its stages and tap observed. */
struct observed {
	struct tap tap;
	struct tap_list tap_list;
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
	} shown[2 * (FIRST_STAGE + 8)]; /* to the tap, by boundary */
	unsigned dropped; /* dropped packets that the tap saw */
	unsigned supply; /* packets that the source will still return */
	unsigned pending; /* packets in the stage `delay` */
	unsigned capacity; /* packets per call of the stage `pull` */
	unsigned sent, received; /* mbufs given to the first queue, and received by `sink` */
	struct rte_mbuf *kept; /* by `forward`, until `pull` gives it to the queue */
};

static struct rte_mbuf mbufs[400];
static uint32_t stage_now;

static void show(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts, uint16_t n) {
	struct observed *s = (struct observed *)tap;

	s->shown[boundary].calls++;
	s->shown[boundary].packets += n;
	s->shown[boundary].last = pkts[n - 1];
}

static void show_dropped(struct tap *tap, struct rte_mbuf *m, unsigned reason) {
	struct observed *s = (struct observed *)tap;

	assert_true(m >= mbufs && m < mbufs + ARRAY_COUNT(mbufs));
	assert_int_equal(*tap->stage, FIRST_STAGE + 1);
	assert_int_equal(reason, DROP_RUNT);
	s->dropped++;
}

/* Asserts how many calls and packets the tap saw at a boundary of the stage. */
static void assert_shown(const struct observed *s, unsigned stage, unsigned side, unsigned calls,
			 unsigned packets) {
	const unsigned boundary = tap_boundary(FIRST_STAGE + stage, side);

	assert_int_equal(s->shown[boundary].calls, s->p.tap != NULL ? calls : 0);
	assert_int_equal(s->shown[boundary].packets, s->p.tap != NULL ? packets : 0);
}

/* Records a call of a stage with `in` packets. */
static void record_call(struct observed *s, char stage, uint16_t in) {
	assert_true(s->count < CALLS);
	s->calls[s->count].stage = stage;
	s->calls[s->count++].in = in;
}

/* Asserts the calls since the last check: one letter and one burst size per call. */
static void assert_calls(struct observed *s, const char *stages, const uint16_t *in) {
	assert_int_equal(s->count, strlen(stages));
	for (unsigned i = 0; i < s->count; i++) {
		assert_int_equal(s->calls[i].stage, stages[i]);
		assert_int_equal(s->calls[i].in, in[i]);
	}
	s->count = 0;
	assert_int_equal(stage_now, TAP_NO_STAGE);
}

static uint16_t source(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct observed *s = ctx;
	uint16_t out = (uint16_t)RTE_MIN(s->supply, (unsigned)PIPELINE_BURST);

	record_call(s, 'S', n);
	for (uint16_t i = 0; i < out; i++)
		pkts[i] = &mbufs[i];
	s->supply -= out;
	return out;
}

/* Passes every second packet and drops the others. drop_count() does not free them, as they are no mbufs of a pool. */
static uint16_t halve(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct observed *s = ctx;

	record_call(s, 'H', n);
	for (uint16_t i = 0; i < n / 2; i++) {
		drop_count(&s->counters, pkts[2 * i], DROP_RUNT);
		pkts[i] = pkts[2 * i + 1];
	}
	return n / 2;
}

/* Keeps each burst and returns twice as many packets in the next call. */
static uint16_t delay(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct observed *s = ctx;
	uint16_t out = (uint16_t)(2 * s->pending);

	record_call(s, 'D', n);
	s->pending = n;
	for (uint16_t i = 0; i < out; i++)
		pkts[i] = &mbufs[100 + i];
	return out;
}

static uint16_t swallow(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	record_call(ctx, 'X', n);
	return 0;
}

/* Resets all state. Bit 0 of `mode` enables accounts, bit 1 the tap. */
static struct observed *observed_reset(const struct stage_list *list, unsigned mode) {
	static struct observed s;

	s = (struct observed){.tap = {show, show_dropped, &stage_now}, .capacity = 10};
	s.tap_list = (struct tap_list){&s.tap, FIRST_STAGE, 1u << 1 | 1u << 2, 1u << 0 | 1u << 1};
	pipeline_init(&s.p, list, &s);
	s.p.accounting = mode & 1;
	s.p.tap = mode & 2 ? &s.tap_list : NULL;
	s.counters.tap = mode & 2 ? &s.tap : NULL;
	stage_now = TAP_NO_STAGE;
	return &s;
}

static const struct stage stages[] = {
	{"source", "", "", source, true},
	{"halve", "", "", halve, false},
	{"delay", "", "", delay, true},
	{"swallow", "", "", swallow, false},
};
static const struct stage_list list = {
	.name = "bursts", .stages = stages, .count = ARRAY_COUNT(stages)};

TEST(stages_run_in_order) {
	for (unsigned mode = 0; mode < 4; mode++) {
		struct observed *s = observed_reset(&list, mode);
		const struct stage_account none = {0};

		s->supply = 10;
		/* 10 received, 5 passed and kept by the third stage; the fourth is not called */
		assert_int_equal(pipeline_run(&s->p), 10 + 10 + 5);
		assert_calls(s, "SHD", (const uint16_t[]){0, 10, 5});
		assert_int_equal(s->dropped, mode & 2 ? 5 : 0);
		/* no new packets, but the third stage polls and returns 10 */
		assert_int_equal(pipeline_run(&s->p), 10 + 10);
		assert_calls(s, "SDX", (const uint16_t[]){0, 0, 10});
		assert_shown(s, 0, TAP_OUT, 1, 10);
		assert_shown(s, 1, TAP_IN, 1, 10);
		assert_shown(s, 1, TAP_OUT, 1, 5);
		assert_shown(s, 2, TAP_IN, 1, 5);
		/* boundaries without a capture point are not shown */
		assert_shown(s, 2, TAP_OUT, 0, 0);
		assert_shown(s, 3, TAP_IN, 0, 0);
		/* no packets: only stages with `polls` are called */
		memset(s->p.accounts, 0, sizeof(s->p.accounts));
		s->p.idle_cycles = 0;
		assert_int_equal(pipeline_run(&s->p), 0);
		assert_calls(s, "SD", (const uint16_t[]){0, 0});
		for (unsigned i = 0; i < ARRAY_COUNT(stages); i++)
			assert_memory_equal(&s->p.accounts[i], &none, sizeof(none));
		assert_int_equal(s->p.idle_cycles > 0, mode & 1);
	}
}

static uint16_t own_run(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	(void)pkts;
	++*(unsigned *)ctx;
	return n;
}

static uint64_t own_pending(const void *own, enum unit unit) {
	return unit == UNIT_FRAME ? *(const unsigned *)own : 0;
}

TEST(stage_receives_its_own_struct) {
	static const struct stage part[] = {
		{"part", "", "", own_run, true, .context = offsetof(struct observed, sent),
		 .pending = own_pending},
	};
	static const struct stage_list parts = {.name = "parts", .stages = part, .count = 1};

	for (unsigned mode = 0; mode < 4; mode++) {
		struct observed *s = observed_reset(&parts, mode);

		pipeline_run(&s->p);
		assert_int_equal(s->sent, 1);
		assert_int_equal(stages_pending(&parts, 1, s, UNIT_FRAME), 1);
	}
}

enum { NO_QUEUE, FIRST, SECOND };

/* Gives the whole supply to the first queue. */
static uint16_t supply(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct observed *s = ctx;

	record_call(s, 'M', n);
	for (; s->supply > 0; s->supply--) {
		mbufs[s->sent].nb_segs = 2;
		pipeline_enqueue(&s->p, FIRST, &mbufs[s->sent++]);
	}
	return 0;
}

/* Gives its burst to the second queue, except for the last packet, which it keeps. */
static uint16_t forward(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct observed *s = ctx;

	record_call(s, 'O', n);
	for (uint16_t i = 0; i + 1 < n; i++)
		pipeline_enqueue(&s->p, SECOND, pkts[i]);
	s->kept = pkts[n - 1];
	return 0;
}

/* Gives the packet of `forward` to the queue, then takes at most `capacity` packets. */
static uint16_t pull(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct observed *s = ctx;

	record_call(s, 'P', n);
	if (s->kept != NULL)
		pipeline_enqueue(&s->p, SECOND, s->kept);
	s->kept = NULL;
	return queue_remove_burst(&s->p.queues[SECOND], pkts, (uint16_t)s->capacity);
}

static uint16_t sink(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct observed *s = ctx;

	record_call(s, 'K', n);
	for (uint16_t i = 0; i < n; i++)
		assert_ptr_equal(pkts[i], &mbufs[s->received++]);
	return n;
}

static const struct stage linked_stages[] = {
	{"supply", "", "", supply, .polls = true, .output_queue = FIRST},
	{"forward", "", "", forward, .input_queue = FIRST, .output_queue = SECOND},
	{"pull", "", "", pull, .polls = true, .input_queue = SECOND, .pulls_input = true},
	{"sink", "", "", sink},
};
static const struct stage_list linked = {
	.name = "linked", .stages = linked_stages, .count = ARRAY_COUNT(linked_stages)};

/* A stage gets a burst out of its input queue, or with `pulls_input` takes what it accepts. The tap sees a packet that
 * enters a queue as output of the stage with this `output_queue`, even if another stage added the packet. */
TEST(queues_pass_packets_in_order) {
	static const unsigned calls[] = {1, 2, 3, 3}; /* with packets */

	packet_meta_offset = RTE_ALIGN(offsetof(struct rte_mbuf, dynfield1), PACKET_META_ALIGN);
	for (unsigned mode = 0; mode < 4; mode++) {
		struct observed *s = observed_reset(&linked, mode);
		const unsigned accounted = mode & 1;

		memset(mbufs, 0xa5, sizeof(mbufs)); /* stale contents */
		s->supply = 100;
		/* 100 given; a burst of 64, of which 63 are given; 10 pulled; 10 received */
		assert_int_equal(pipeline_run(&s->p), 100 + 64 + 10 + 10);
		assert_calls(s, "MOPK", (const uint16_t[]){0, 64, 0, 10});
		assert_shown(s, 0, TAP_OUT, 100, 100);
		assert_shown(s, 1, TAP_IN, 1, 64);
		assert_shown(s, 1, TAP_OUT, 64, 64);
		assert_shown(s, 2, TAP_OUT, 0, 0);
		if (mode & 2)
			assert_ptr_equal(s->shown[tap_boundary(FIRST_STAGE + 1, TAP_OUT)].last,
					 &mbufs[63]);
		assert_int_equal(s->p.queues[FIRST].count, 36);
		assert_int_equal(s->p.queues[FIRST].buffers, 72);
		assert_int_equal(s->p.queues[SECOND].count, 54);
		s->capacity = 60;
		assert_int_equal(pipeline_run(&s->p), 36 + 60 + 60);
		assert_calls(s, "MOPK", (const uint16_t[]){0, 36, 0, 60});
		assert_int_equal(pipeline_run(&s->p), 30 + 30);
		assert_calls(s, "MPK", (const uint16_t[]){0, 0, 30});
		assert_int_equal(pipeline_run(&s->p), 0); /* only stages with `polls` */
		assert_calls(s, "MP", (const uint16_t[]){0, 0});
		assert_int_equal(s->received, 100);
		for (unsigned i = 0; i < ARRAY_COUNT(linked_stages); i++) {
			assert_int_equal(s->p.accounts[i].calls, accounted * calls[i]);
			assert_int_equal(s->p.accounts[i].packets, accounted * 100);
		}
		for (unsigned q = 0; q <= PIPELINE_MAX_QUEUES; q++)
			assert_int_equal(s->p.queues[q].count + s->p.queues[q].buffers, 0);
	}
}

static uint64_t own_cycles; /* that the last call of spend() measured itself */

static uint16_t spend(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	uint64_t start = rte_rdtsc();

	do
		own_cycles = rte_rdtsc() - start;
	while (own_cycles < 100000);
	return n;
}

TEST(cycles_count_for_the_stage_that_used_them) {
	static const struct stage busy[] = {
		{"source", "", "", source, true},
		{"spend", "", "", spend, true},
		{"swallow", "", "", swallow, false},
	};
	static const struct stage_list busy_list = {.name = "busy", .stages = busy, .count = 3};

	for (unsigned i = 0; i < 100; i++) {
		struct observed *s = observed_reset(&busy_list, i % 2 ? 3 : 1);
		uint64_t start = rte_rdtsc(), sum = 0;

		s->supply = 1;
		pipeline_run(&s->p);
		for (int stage = 0; stage < 3; stage++)
			sum += s->p.accounts[stage].cycles;
		assert_true(s->p.accounts[1].cycles >= own_cycles);
		assert_true(sum <= rte_rdtsc() - start);
		assert_int_equal(s->p.idle_cycles, 0);
		pipeline_run(&s->p); /* without packets */
		assert_int_equal(s->p.accounts[1].calls, 1);
		assert_true(s->p.idle_cycles >= own_cycles);
	}
}

/* A full poll counts only if the poll before was full, too. */
TEST(full_poll_counts_after_a_full_poll) {
	static const uint16_t polls[] = {64, 0, 32, 31, 64, 32, 40, 8, 64};
	struct poll_stats e = {0};

	for (unsigned i = 0; i < RTE_DIM(polls); i++)
		poll_stats_count_poll(&e, polls[i]);
	assert_int_equal(e.full_polls, 2);
	assert_int_equal(e.polls_useful, 8);
	assert_int_equal(e.polls_empty, 1);
}

TEST(counters_add_sums_all) {
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

TEST(names_are_unique_keys) {
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

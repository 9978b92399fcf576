/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop that runs a list of stages: order, empty bursts, what is counted. No EAL is needed. */
#include "test_main.h"

#include <string.h>

#include <rte_cycles.h>

#include "pipeline/counters.h"
#include "pipeline/effort.h"
#include "pipeline/pipeline.h"

#define CALLS 32

/* What the stages of a test saw; packets are addresses that nobody follows. */
struct seen {
	struct {
		char stage;
		uint16_t in;
	} calls[CALLS];
	unsigned count;
	unsigned supply; /* packets that the source has */
	unsigned held; /* by the stage that keeps some back */
};

static struct rte_mbuf *packet(uintptr_t number) {
	return (struct rte_mbuf *)(number << 7);
}

static void note(struct seen *s, char stage, uint16_t in) {
	assert_true(s->count < CALLS);
	s->calls[s->count].stage = stage;
	s->calls[s->count++].in = in;
}

static uint16_t source(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;
	uint16_t out = (uint16_t)RTE_MIN(s->supply, (unsigned)PIPELINE_BURST);

	note(s, 'S', n);
	for (uint16_t i = 0; i < out; i++)
		pkts[i] = packet(s->supply - i);
	s->supply -= out;
	return out;
}

/* Passes every other packet. */
static uint16_t halve(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	note(ctx, 'H', n);
	for (uint16_t i = 0; i < n / 2; i++)
		pkts[i] = pkts[2 * i + 1];
	return n / 2;
}

/* Keeps the first burst that it gets and puts it out with the next call, twice as large. */
static uint16_t hold(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;
	uint16_t out = (uint16_t)(2 * s->held);

	note(s, 'D', n);
	s->held = n;
	for (uint16_t i = 0; i < out; i++)
		pkts[i] = packet(1000u + i);
	return out;
}

static uint16_t swallow(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	(void)pkts;
	note(ctx, 'X', n);
	return 0;
}

static uint64_t own_cycles; /* of the last call of spend(), as it sees them itself */

static uint16_t spend(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	uint64_t start = rte_rdtsc();

	(void)pkts;
	note(ctx, 'C', n);
	do
		own_cycles = rte_rdtsc() - start;
	while (own_cycles < 100000);
	return n;
}

static void expect(const struct seen *s, const char *stages, const uint16_t *in) {
	assert_int_equal(s->count, strlen(stages));
	for (unsigned i = 0; i < s->count; i++) {
		assert_int_equal(s->calls[i].stage, stages[i]);
		assert_int_equal(s->calls[i].in, in[i]);
	}
}

static const struct stage list[] = {
	{"source", "", "", source, true},
	{"halve", "", "", halve, false},
	{"hold", "", "", hold, true},
	{"swallow", "", "", swallow, false},
};

static struct pipeline make(struct seen *s, bool accounting) {
	return (struct pipeline){
		.stages = list, .count = ARRAY_COUNT(list), .ctx = s, .accounting = accounting};
}

TEST(runs_from_top_to_bottom) {
	for (int accounting = 0; accounting < 2; accounting++) {
		struct seen s = {.supply = 10};
		struct pipeline p = make(&s, accounting);

		/* 10 in, 5 left, kept by the third stage: the fourth is not called */
		assert_int_equal(pipeline_run(&p), 10 + 10 + 5);
		expect(&s, "SHD", (const uint16_t[]){0, 10, 5});
		s.count = 0;
		/* nothing new, but the third stage polls and puts out 10 */
		assert_int_equal(pipeline_run(&p), 10 + 10);
		expect(&s, "SDX", (const uint16_t[]){0, 0, 10});
		s.count = 0;
		/* nothing at all: only who polls is called */
		p = make(&s, accounting);
		assert_int_equal(pipeline_run(&p), 0);
		expect(&s, "SD", (const uint16_t[]){0, 0});
		for (unsigned i = 0; i < ARRAY_COUNT(list); i++) {
			const struct stage_account none = {0};

			assert_memory_equal(&p.accounts[i], &none, sizeof(none));
		}
		assert_int_equal(p.idle_cycles > 0, accounting);
	}
}

TEST(accounts_add_up) {
	struct seen s = {.supply = 200};
	struct pipeline p = make(&s, true);

	for (int round = 0; round < 6; round++) {
		pipeline_run(&p);
		s.count = 0;
	}
	/* bursts of 64, 64, 64, 8 */
	assert_int_equal(p.accounts[0].calls, 4);
	assert_int_equal(p.accounts[0].packets, 200);
	assert_int_equal(p.accounts[1].calls, 4);
	assert_int_equal(p.accounts[1].packets, 200);
	/* 32 in; 32 in, 64 out; 32 in, 64 out; 4 in, 64 out; 0 in, 8 out */
	assert_int_equal(p.accounts[2].calls, 5);
	assert_int_equal(p.accounts[2].packets, 32 + 64 + 64 + 64 + 8);
	assert_int_equal(p.accounts[3].calls, 4);
	assert_int_equal(p.accounts[3].packets, 64 + 64 + 64 + 8);
}

/* A mbuf for each packet of the lists with queues: these link them. */
static struct rte_mbuf mbufs[400];

/* What the stages with queues have: the queues of the pipeline that runs them. */
struct linked {
	struct seen seen;
	struct pipeline p;
	unsigned made; /* mbufs that were put out so far */
	unsigned many; /* that the first stage makes of a packet */
	unsigned room; /* of the stage that pulls */
	unsigned came; /* at the end, in order */
};

enum { NO_QUEUE, FIRST, SECOND };

/* One packet comes in a round, and many are given to the queue. */
static uint16_t multiply(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct linked *l = ctx;

	(void)pkts;
	note(&l->seen, 'M', n);
	for (unsigned i = 0; i < l->many; i++) {
		mbufs[l->made].nb_segs = 2;
		queue_add(&l->p.queues[FIRST], &mbufs[l->made++]);
	}
	return 0;
}

/* Hands on what the loop gave it. */
static uint16_t hand_on(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct linked *l = ctx;

	note(&l->seen, 'O', n);
	for (uint16_t i = 0; i < n; i++)
		queue_add(&l->p.queues[SECOND], pkts[i]);
	return 0;
}

/* Takes as many as it has room for. */
static uint16_t pull(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct linked *l = ctx;

	note(&l->seen, 'P', n);
	return queue_take_burst(&l->p.queues[SECOND], pkts, (uint16_t)l->room);
}

static uint16_t sink(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct linked *l = ctx;

	note(&l->seen, 'K', n);
	for (uint16_t i = 0; i < n; i++)
		assert_ptr_equal(pkts[i], &mbufs[l->came++]);
	return n;
}

static const struct stage linked_stages[] = {
	{"multiply", "", "", multiply, .polls = true, .gives = FIRST},
	{"hand_on", "", "", hand_on, .from = FIRST, .gives = SECOND},
	{"pull", "", "", pull, .polls = true, .from = SECOND, .pulls = true},
	{"sink", "", "", sink},
};

static void linked_open(struct linked *l, bool accounting) {
	static const struct stage_list linked_list = {
		.name = "linked", .stages = linked_stages, .count = ARRAY_COUNT(linked_stages)};

	packet_meta_offset = RTE_ALIGN(offsetof(struct rte_mbuf, dynfield1), PACKET_META_ALIGN);
	memset(l, 0, sizeof(*l));
	memset(mbufs, 0xa5, sizeof(mbufs)); /* what they carried before */
	pipeline_init(&l->p, &linked_list, l);
	l->p.accounting = accounting;
	l->room = 10;
}

/* The loop hands out a burst a run; who pulls takes what it has room for; nothing overtakes. */
TEST(queues_between_stages) {
	static struct linked storage, *const l = &storage;

	for (int accounting = 0; accounting < 2; accounting++) {
		linked_open(l, accounting);
		l->many = 100;
		/* 100 given; 64 in, 64 given; 10 taken; 10 in */
		assert_int_equal(pipeline_run(&l->p), 100 + 64 + 10 + 10);
		expect(&l->seen, "MOPK", (const uint16_t[]){0, 64, 0, 10});
		assert_int_equal(l->p.queues[FIRST].count, 36);
		assert_int_equal(l->p.queues[FIRST].buffers, 72);
		assert_int_equal(l->p.queues[SECOND].count, 54);
		l->many = 0;
		l->seen.count = 0;
		l->room = 60;
		assert_int_equal(pipeline_run(&l->p), 36 + 60 + 60);
		expect(&l->seen, "MOPK", (const uint16_t[]){0, 36, 0, 60});
		l->seen.count = 0;
		assert_int_equal(pipeline_run(&l->p), 30 + 30);
		expect(&l->seen, "MPK", (const uint16_t[]){0, 0, 30});
		l->seen.count = 0;
		assert_int_equal(pipeline_run(&l->p), 0); /* only who polls */
		expect(&l->seen, "MP", (const uint16_t[]){0, 0});
		assert_int_equal(l->came, 100);
		assert_int_equal(l->p.accounts[0].packets, accounting * 100);
		assert_int_equal(l->p.accounts[1].packets, accounting * 100);
		assert_int_equal(l->p.accounts[2].calls, accounting * 3);
		for (unsigned q = 0; q <= PIPELINE_MAX_QUEUES; q++)
			assert_int_equal(l->p.queues[q].count + l->p.queues[q].buffers, 0);
	}
}

/* Cycles go to the stage that spent them, idle ones to nobody. */
TEST(cycles_go_to_who_spent_them) {
	static const struct stage busy[] = {
		{"source", "", "", source, true},
		{"spend", "", "", spend, true},
		{"swallow", "", "", swallow, false},
	};

	for (int i = 0; i < 100; i++) {
		struct seen s = {.supply = 1};
		struct pipeline p = {.stages = busy, .count = 3, .ctx = &s, .accounting = true};
		uint64_t start = rte_rdtsc(), sum = 0;

		pipeline_run(&p);
		for (int stage = 0; stage < 3; stage++)
			sum += p.accounts[stage].cycles;
		assert_true(p.accounts[1].cycles >= own_cycles);
		assert_true(sum <= rte_rdtsc() - start);
		assert_int_equal(p.idle_cycles, 0);
		pipeline_run(&p); /* it spends on nothing */
		assert_int_equal(p.accounts[1].calls, 1);
		assert_true(p.idle_cycles >= own_cycles);
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

/* The names are keys of files that others read: each is there, once, in lower case. */
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

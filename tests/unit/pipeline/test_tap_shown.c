/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loop shows to a tap: both sides of stages, and queues; packets go the same way as without. No EAL is needed. */
#include "test_main.h"

#include "pipeline/counters.h"
#include "pipeline/pipeline.h"

#define CALLS 8

/* What the stages and the tap of a test saw. */
struct seen {
	struct tap tap;
	struct pipeline p;
	unsigned supply, made, ends;
	struct rte_mbuf *waits;
	unsigned count;
	struct {
		unsigned boundary;
		uint16_t n;
		const struct rte_mbuf *first;
	} calls[CALLS];
	uint32_t dropped_at; /* stage */
	unsigned dropped_for; /* reason */
};

enum { NO_QUEUE, FIRST, SECOND };

static struct rte_mbuf mbufs[16];
static uint32_t stage_now;

static void shown(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts, uint16_t n) {
	struct seen *s = (struct seen *)tap;

	assert_true(s->count < CALLS);
	s->calls[s->count].boundary = boundary;
	s->calls[s->count].first = pkts[0];
	s->calls[s->count++].n = n;
}

static void dropped(struct tap *tap, struct rte_mbuf *m, unsigned reason) {
	struct seen *s = (struct seen *)tap;

	assert_ptr_equal(m, &mbufs[0]);
	s->dropped_at = *tap->stage;
	s->dropped_for = reason;
}

static void was_shown(const struct seen *s, unsigned call, unsigned boundary, uint16_t n) {
	assert_true(call < s->count);
	assert_int_equal(s->calls[call].boundary, boundary);
	assert_int_equal(s->calls[call].n, n);
}

static uint16_t source(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	assert_int_equal(n, 0);
	for (; s->supply > 0; s->supply--, n++)
		pkts[n] = &mbufs[n];
	return n;
}

/* Passes all but the first, which is dropped; it is not freed, as it belongs to nobody. */
static uint16_t drop_first(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;
	static struct counters c;

	c.tap = s->p.tap != NULL ? &s->tap : NULL;
	drop_of(&c, pkts[0], DROP_RUNT);
	for (uint16_t i = 1; i < n; i++)
		pkts[i - 1] = pkts[i];
	return n - 1;
}

static uint16_t swallow(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	assert_true(n == 0 || pkts[0] == &mbufs[1]);
	s->ends += n;
	return 0;
}

static const struct stage burst_list[] = {
	{"source", "", "", source, .polls = true},
	{"drop_first", "", "", drop_first},
	{"swallow", "", "", swallow},
};

/* Whether looked at or not, ten go in and nine come to the end. */
TEST(both_sides) {
	for (int looked = 0; looked < 2; looked++) {
		for (int accounting = 0; accounting < 2; accounting++) {
			struct seen s = {.supply = 10, .tap = {shown, dropped, &stage_now}};
			const struct tap_list tap = {&s.tap, 10, 1u << 1,
						     1u << 0 | 1u << 1 | 1u << 2};

			s.p = (struct pipeline){.stages = burst_list,
						.count = ARRAY_COUNT(burst_list),
						.ctx = &s,
						.accounting = accounting,
						.tap = looked ? &tap : NULL};
			assert_int_equal(pipeline_run(&s.p), 10 + 10 + 9);
			assert_int_equal(s.ends, 9);
			assert_int_equal(s.p.accounts[0].packets, accounting ? 10 : 0);
			assert_int_equal(pipeline_run(&s.p), 0); /* nothing is shown of nothing */
			assert_int_equal(s.count, looked ? 3 : 0);
			if (!looked)
				continue;
			was_shown(&s, 0, tap_boundary(10, TAP_OUT), 10);
			was_shown(&s, 1, tap_boundary(11, TAP_IN), 10);
			was_shown(&s, 2, tap_boundary(11, TAP_OUT), 9);
			assert_ptr_equal(s.calls[2].first, &mbufs[1]);
			assert_int_equal(s.dropped_at, 11);
			assert_int_equal(s.dropped_for, DROP_RUNT);
			assert_int_equal(stage_now, TAP_NO_STAGE);
		}
	}
}

static uint16_t give(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	(void)pkts;
	assert_int_equal(n, 0);
	for (; s->supply > 0; s->supply--)
		pipeline_give(&s->p, FIRST, &mbufs[s->made++]);
	return 0;
}

/* All but the last one, which waits. */
static uint16_t hand_on(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	for (uint16_t i = 0; i + 1 < n; i++)
		pipeline_give(&s->p, SECOND, pkts[i]);
	s->waits = pkts[n - 1];
	return 0;
}

/* Ends the wait of another row. */
static uint16_t let_go(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct seen *s = ctx;

	(void)pkts;
	if (s->waits != NULL)
		pipeline_give(&s->p, SECOND, s->waits);
	s->waits = NULL;
	return n;
}

static const struct stage queue_list[] = {
	{"give", "", "", give, .polls = true, .gives = FIRST},
	{"hand_on", "", "", hand_on, .from = FIRST, .gives = SECOND},
	{"let_go", "", "", let_go, .polls = true},
};

static struct seen queues_seen(unsigned first, unsigned in, unsigned out) {
	struct seen s = {.supply = 3, .tap = {shown, dropped, &stage_now}};
	const struct tap_list tap = {&s.tap, first, in, out};

	packet_meta_offset = RTE_ALIGN(offsetof(struct rte_mbuf, dynfield1), PACKET_META_ALIGN);
	s.p = (struct pipeline){
		.stages = queue_list, .count = ARRAY_COUNT(queue_list), .ctx = &s, .tap = &tap};
	pipeline_run(&s.p);
	assert_int_equal(s.p.queues[FIRST].count, 0);
	assert_int_equal(s.p.queues[SECOND].count, 3);
	assert_ptr_equal(s.p.queues[SECOND].last, &mbufs[2]);
	return s;
}

/* What a stage gives to its queue comes out of it, in whichever row that happens, and what the loop takes from one goes
 * in. */
TEST(queues) {
	const struct seen s = queues_seen(5, 1u << 1, 1u << 0 | 1u << 1 | 1u << 2);

	assert_int_equal(s.count, 7);
	for (unsigned i = 0; i < 3; i++) {
		was_shown(&s, i, tap_boundary(5, TAP_OUT), 1);
		assert_ptr_equal(s.calls[i].first, &mbufs[i]);
		was_shown(&s, 4 + i, tap_boundary(6, TAP_OUT), 1);
		assert_ptr_equal(s.calls[4 + i].first, &mbufs[i]);
	}
	was_shown(&s, 3, tap_boundary(6, TAP_IN), 3);
}

/* Of a stage that no tap is on, nothing is shown: neither of its burst nor of what it gives to a queue. */
TEST(other_stages) {
	const struct seen q = queues_seen(0, 0, 1u << 0);
	struct seen s = {.supply = 10, .tap = {shown, dropped, &stage_now}};
	const struct tap_list tap = {&s.tap, 0, 1u << 1, 0};

	s.p = (struct pipeline){
		.stages = burst_list, .count = ARRAY_COUNT(burst_list), .ctx = &s, .tap = &tap};
	pipeline_run(&s.p);
	assert_int_equal(s.count, 1);
	was_shown(&s, 0, tap_boundary(1, TAP_IN), 10);
	assert_int_equal(q.count, 3);
	was_shown(&q, 2, tap_boundary(0, TAP_OUT), 1);
}

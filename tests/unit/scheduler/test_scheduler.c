/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the downstream scheduler that the lockstep with its model lacks: copied configuration, delay report, reused
 * slots, clock near UINT64_MAX. */
#include "test_main.h"

#include "scheduler/report.h"
#include "scheduler_setup.h"

#define MS 1000000ull
#define PACKET_BYTES 1000 /* bytes of most packets */

static const uint32_t third_channel[] = {2};

static struct scheduler *create_default(void) {
	struct setup c;

	setup_make(&c);
	return setup_create(&c);
}

/* Enqueues a packet; its pointer is `number`. */
static enum scheduler_verdict enqueue(struct scheduler *s, uint64_t now, uint32_t flow,
				      uintptr_t number) {
	struct scheduler_arrival in = {(void *)number, flow, PACKET_BYTES};
	enum scheduler_verdict verdict = SCHEDULER_VERDICTS;
	unsigned queued = scheduler_enqueue(s, now, &in, 1, &verdict);

	assert_int_equal(queued, verdict == SCHEDULER_QUEUED);
	return verdict;
}

/* Enqueues a packet and dequeues it at once. */
static struct scheduler_grant pass_packet(struct scheduler *s, uint64_t now, uint32_t flow) {
	struct scheduler_grant g = {0};

	assert_int_equal(enqueue(s, now, flow, 7), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_flow_queued(s, flow), 1);
	assert_int_equal(scheduler_dequeue(s, now, &g, 1), 1);
	assert_int_equal(g.flow, flow);
	assert_int_equal(scheduler_flow_queued(s, flow), 0);
	return g;
}

TEST(configuration_is_copied) {
	uint32_t *list = test_malloc(sizeof(*list));
	struct setup *c = test_malloc(sizeof(*c));
	struct scheduler *s;

	setup_make(c);
	*list = 1;
	c->groups[0] = (struct scheduler_group){list, 1};
	s = setup_create(c);
	memset(list, 0x77, sizeof(*list));
	memset(c, 0x77, sizeof(*c));
	test_free(list);
	test_free(c);
	assert_int_equal(pass_packet(s, 0, 0).channel, 1);
	scheduler_free(s);
}

/* Sends one packet for each of many delays up to 20 s. The report counts units of 256 ns. */
TEST(delays_are_counted_in_buckets) {
	struct scheduler *s = create_default();
	struct scheduler_delay_report r, before;
	struct scheduler_grant g;
	uint64_t now = 0;

	scheduler_dequeue(s, now, &g, 1);
	scheduler_report_delay(s, 0, &before);
	assert_int_equal(scheduler_delay_quantile(&before, 500), 0);
	for (uint64_t delay = 0; delay < 20000 * MS; delay += delay / 16 + 200) {
		const uint64_t arrived = now + MS, units = (arrived + delay) / 256 - arrived / 256;

		enqueue(s, arrived, 0, 1);
		now = arrived + delay;
		assert_int_equal(scheduler_dequeue(s, now, &g, 1), 1);
		scheduler_report_delay(s, 0, &r);
		assert_int_equal(r.packets, before.packets + 1);
		assert_int_equal(r.sum_ns, before.sum_ns + 256 * units);
		for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
			assert_int_equal(r.buckets[b] - before.buckets[b],
					 256 * units >= scheduler_delay_floor(b) &&
						 256 * units < scheduler_delay_floor(b + 1));
		before = r;
	}
	scheduler_free(s);
}

/* A delay bucket is 256 ns wide or, if wider, at most an eighth of its least delay. A quantile is the upper end of
 * its bucket. */
TEST(delay_report_bounds_its_error) {
	struct scheduler_delay_report r = {.packets = 100};

	assert_int_equal(scheduler_delay_floor(0), 0);
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		uint64_t floor = scheduler_delay_floor(b);
		uint64_t width = scheduler_delay_floor(b + 1) - floor;

		assert_true(width == 256 || (width > 256 && width <= floor / 8));
	}
	r.buckets[5] = 10;
	r.buckets[40] = 90;
	assert_int_equal(scheduler_delay_quantile(&r, 100), scheduler_delay_floor(6));
	assert_int_equal(scheduler_delay_quantile(&r, 101), scheduler_delay_floor(41));
	assert_int_equal(scheduler_delay_quantile(&r, 1000), scheduler_delay_floor(41));
}

/* Adds and removes a flow, group and channel in the same slots. Sequence numbers and counters start at 0 each time. */
TEST(reused_slots_inherit_nothing) {
	const struct scheduler_channel channel = {100 * MBPS, {0}}, no_channel = {0, {0}};
	const struct scheduler_group group = {third_channel, 1}, no_group = {NULL, 0};
	const struct scheduler_flow no_flow = {.group = SCHEDULER_NONE};
	struct scheduler *s = create_default();
	struct scheduler_channel_report r;
	struct scheduler_group_report group_report;
	struct setup c;
	uint64_t now = 0;

	setup_make(&c);
	c.flows[2].group = 2;
	for (unsigned i = 0; i < 100; i++) {
		struct scheduler_grant g;

		assert_null(scheduler_set_rate_limit(s, i % 2 == 0 ? 500 * MBPS : 0));
		assert_null(scheduler_set_channel(s, 2, &channel));
		assert_null(scheduler_set_group(s, 2, &group));
		assert_null(scheduler_set_flow(s, 2, &c.flows[2]));
		assert_int_equal(scheduler_dequeue(s, now, &g, 1), 0); /* applies the changes */
		for (uint16_t k = 0; k < 3; k++, now += MS) {
			g = pass_packet(s, now, 2);
			assert_int_equal(g.channel, 2);
			assert_int_equal(g.sequence, k);
			assert_true(pass_packet(s, now, 1).channel < 2);
		}
		scheduler_report_channel(s, 2, &r);
		assert_int_equal(r.packets, 3);
		scheduler_report_group(s, 2, &group_report);
		assert_int_equal(group_report.packets, 3);
		assert_null(scheduler_set_flow(s, 2, &no_flow));
		assert_null(scheduler_set_group(s, 2, &no_group));
		assert_null(scheduler_set_channel(s, 2, &no_channel));
	}
	scheduler_free(s);
}

/* Jumps to or near UINT64_MAX ns: no packet leaves twice, and no call hangs. */
TEST(clock_may_jump_to_its_end) {
	static const uint64_t ends[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, INT64_MAX,
					UINT64_C(1) << 62};

	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		struct scheduler *s = create_default();
		struct scheduler_grant grants[64];
		unsigned dequeued = 0;

		scheduler_dequeue(s, 0, grants, 64);
		for (uintptr_t p = 1; p <= 90; p++)
			assert_int_equal(enqueue(s, p, 1, p), SCHEDULER_QUEUED);
		dequeued = scheduler_dequeue(s, 100, grants, 64);
		assert_in_range(dequeued, 1, 89);
		for (int k = 0; k < 20; k++)
			dequeued += scheduler_dequeue(s, k < 10 ? ends[i] : UINT64_MAX, grants, 64);
		assert_int_equal(scheduler_queued(s), 90 - dequeued);
		dequeued += scheduler_drain_flow(s, 1, (void *[90]){0}, 90);
		assert_int_equal(dequeued, 90);
		scheduler_free(s);
	}
}

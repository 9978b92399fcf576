/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: verdicts, order, numbers, channels, time and the end. Packets are numbers. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/report.h"

#define MBPS 1000000ull
#define GBPS (1000 * MBPS)
#define NS_PER_S 1000000000ull

static const uint32_t first_channel[] = {0};
static const uint32_t second_channel[] = {1};
static const uint32_t both_channels[] = {1, 0};

/* Two channels, a group of each and one of both; two flows a group, each of a modem of its own. */
static const struct scheduler_channel channels[] = {{GBPS, {0}}, {GBPS, {0}}};
static const struct scheduler_group groups[] = {
	{first_channel, 1},
	{second_channel, 1},
	{both_channels, 2},
};
static const struct scheduler_modem modems[6];

struct setup {
	struct scheduler_config config;
	struct scheduler_flow flows[6];
};

static void setup_make(struct setup *c) {
	*c = (struct setup){
		.config = {.channels = channels,
			   .channel_count = ARRAY_COUNT(channels),
			   .groups = groups,
			   .group_count = ARRAY_COUNT(groups),
			   .modems = modems,
			   .modem_count = ARRAY_COUNT(modems),
			   .flows = c->flows,
			   .flow_count = ARRAY_COUNT(c->flows),
			   .packet_limit = 100},
	};
	for (uint32_t i = 0; i < ARRAY_COUNT(c->flows); i++)
		c->flows[i] = (struct scheduler_flow){
			.group = i / 2,
			.modem = i,
			.weight = 1,
			.min_buffer = 10000,
			.buffer = 10000,
			.max_buffer = 10000,
		};
}

static struct scheduler *create(const struct setup *c) {
	struct scheduler *s = scheduler_create(&c->config, NULL);

	assert_non_null(s);
	return s;
}

static struct scheduler *create_plain(void) {
	struct setup c;

	setup_make(&c);
	return create(&c);
}

static enum scheduler_verdict put(struct scheduler *s, uint32_t flow, uintptr_t number,
				  uint32_t bytes) {
	struct scheduler_arrival in = {(void *)number, flow, bytes};
	enum scheduler_verdict verdict = SCHEDULER_VERDICTS;
	unsigned n = scheduler_enqueue(s, 0, &in, 1, &verdict);

	assert_int_equal(n, verdict == SCHEDULER_QUEUED);
	return verdict;
}

static void enqueue(struct scheduler *s, uint32_t flow, uintptr_t number) {
	assert_int_equal(put(s, flow, number, 100), SCHEDULER_QUEUED);
}

static uint64_t drops(const struct scheduler *s, uint32_t flow, enum scheduler_verdict verdict) {
	struct scheduler_flow_report r;

	scheduler_report_flow(s, flow, &r);
	return r.drops[verdict];
}

/* Everything may change or go away after create. */
static void copies_its_configuration(void **state) {
	uint32_t *list = test_malloc(sizeof(*list));
	struct scheduler_group *group = test_malloc(sizeof(*group));
	struct setup *c = test_malloc(sizeof(*c));
	struct scheduler *s;
	struct scheduler_grant grant;

	(void)state;
	setup_make(c);
	*list = 1;
	*group = (struct scheduler_group){list, 1};
	c->config.groups = group;
	c->config.group_count = 1;
	for (size_t i = 0; i < 6; i++)
		c->flows[i].group = 0;
	s = create(c);
	memset(list, 0x77, sizeof(*list));
	memset(group, 0x77, sizeof(*group));
	memset(c, 0x77, sizeof(*c));
	test_free(list);
	test_free(group);
	test_free(c);
	enqueue(s, 0, 1);
	assert_int_equal(scheduler_dequeue(s, 0, &grant, 1), 1);
	assert_int_equal(grant.channel, 1);
	scheduler_free(s);
}

/* A batch's packets become what they would have become one by one. */
static void batches_keep_their_order(void **state) {
	struct scheduler_arrival in[8];
	enum scheduler_verdict verdicts[8];
	struct scheduler *s = create_plain();
	struct scheduler_grant grants[8];

	(void)state;
	for (uintptr_t i = 0; i < 8; i++)
		in[i] = (struct scheduler_arrival){(void *)i, 4, i == 3 ? 9000 : 500};
	assert_int_equal(scheduler_enqueue(s, 0, in, 8, verdicts), 7);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(verdicts[i], i == 3 ? SCHEDULER_FLOW_FULL : SCHEDULER_QUEUED);
	assert_int_equal(scheduler_enqueue(s, 0, in, 0, verdicts), 0);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 0), 0);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 8), 7);
	for (uintptr_t i = 0; i < 7; i++) {
		assert_ptr_equal(grants[i].packet, (void *)(i < 3 ? i : i + 1));
		assert_int_equal(grants[i].sequence, i);
	}
	scheduler_free(s);
}

static void sequence_wraps_at_16_bits(void **state) {
	struct scheduler *s = create_plain();
	struct scheduler_grant grant;

	(void)state;
	for (uint32_t i = 0; i < 65540; i++) {
		enqueue(s, 0, i);
		enqueue(s, 2, i); /* another flow's numbers are its own */
		for (int k = 0; k < 2; k++) {
			assert_int_equal(scheduler_dequeue(s, i * MBPS, &grant, 1), 1);
			assert_int_equal(grant.sequence, i & 0xffff);
		}
	}
	scheduler_free(s);
}

static void flow_buffer_is_exact(void **state) {
	struct scheduler *s = create_plain();
	struct scheduler_grant grant;

	(void)state;
	assert_int_equal(put(s, 0, 1, 10001), SCHEDULER_FLOW_FULL);
	assert_int_equal(put(s, 0, 1, 6000), SCHEDULER_QUEUED);
	assert_int_equal(put(s, 0, 2, 4001), SCHEDULER_FLOW_FULL);
	assert_int_equal(put(s, 0, 3, 4000), SCHEDULER_QUEUED);
	assert_int_equal(put(s, 0, 4, 1), SCHEDULER_FLOW_FULL);
	assert_int_equal(put(s, 1, 5, 10000), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_held(s), 3);
	assert_int_equal(drops(s, 0, SCHEDULER_FLOW_FULL), 3);
	assert_int_equal(drops(s, 1, SCHEDULER_FLOW_FULL), 0);
	do
		assert_int_equal(scheduler_dequeue(s, 0, &grant, 1), 1);
	while (grant.flow != 0);
	assert_ptr_equal(grant.packet, (void *)1); /* not one that was refused */
	assert_int_equal(put(s, 0, 6, 6001), SCHEDULER_FLOW_FULL);
	assert_int_equal(put(s, 0, 7, 6000), SCHEDULER_QUEUED);
	scheduler_drain(s, (void *[4]){0}, 4);
	scheduler_free(s);
}

static void packet_limit_is_exact(void **state) {
	struct setup c;
	struct scheduler *s;
	struct scheduler_grant grants[8];

	(void)state;
	setup_make(&c);
	c.config.packet_limit = 7;
	s = create(&c);
	for (unsigned round = 0; round < 50; round++) {
		for (uintptr_t i = 0; i < 7; i++)
			enqueue(s, (uint32_t)i % 6, i);
		assert_int_equal(put(s, 0, 9, 1), SCHEDULER_FULL);
		assert_int_equal(scheduler_held(s), 7);
		assert_int_equal(scheduler_dequeue(s, round * NS_PER_S, grants, 8), 7);
		for (int i = 0; i < 7; i++)
			assert_ptr_not_equal(grants[i].packet, (void *)9);
	}
	assert_int_equal(drops(s, 0, SCHEDULER_FULL), 50);
	scheduler_free(s);
}

static void too_long_packets_could_never_go(void **state) {
	const struct scheduler_modem slow = {{10 * MBPS, 1600}};
	const uint32_t peak_bucket = 400 * MBPS / 8 * SCHEDULER_PEAK_NS / NS_PER_S;
	struct setup c;
	struct scheduler *s;

	(void)state;
	setup_make(&c);
	for (size_t i = 0; i < 6; i++)
		c.flows[i].min_buffer = c.flows[i].buffer = c.flows[i].max_buffer = 100000;
	c.flows[1].sustained = (struct scheduler_limit){MBPS, 1522};
	c.flows[2].peak = MBPS; /* some bytes in SCHEDULER_PEAK_NS */
	c.flows[3].peak = 400 * MBPS;
	s = create(&c);
	assert_null(scheduler_set_modem(s, 4, &slow));
	assert_int_equal(put(s, 0, 1, SCHEDULER_PACKET_MAX + 1), SCHEDULER_TOO_LONG);
	assert_int_equal(put(s, 0, 1, UINT32_MAX), SCHEDULER_TOO_LONG);
	assert_int_equal(put(s, 0, 1, SCHEDULER_PACKET_MAX), SCHEDULER_QUEUED);
	assert_int_equal(put(s, 1, 1, 1523), SCHEDULER_TOO_LONG);
	assert_int_equal(put(s, 1, 1, 1522), SCHEDULER_QUEUED);
	assert_int_equal(put(s, 2, 1, SCHEDULER_PEAK_BURST + 1), SCHEDULER_TOO_LONG);
	assert_int_equal(put(s, 2, 1, SCHEDULER_PEAK_BURST), SCHEDULER_QUEUED);
	assert_int_equal(put(s, 3, 1, peak_bucket + 1), SCHEDULER_TOO_LONG);
	assert_int_equal(put(s, 3, 1, peak_bucket), SCHEDULER_QUEUED);
	assert_int_equal(put(s, 4, 1, 1601), SCHEDULER_TOO_LONG);
	assert_int_equal(put(s, 4, 1, 1600), SCHEDULER_QUEUED);
	assert_int_equal(drops(s, 0, SCHEDULER_TOO_LONG), 2);
	assert_int_equal(drops(s, 4, SCHEDULER_TOO_LONG), 1);
	assert_int_equal(scheduler_drain(s, (void *[8]){0}, 8), 5);
	scheduler_free(s);
}

static void unused_flow_takes_nothing(void **state) {
	struct setup c;
	struct scheduler *s;

	(void)state;
	setup_make(&c);
	c.flows[1].group = SCHEDULER_NONE;
	s = create(&c);
	assert_int_equal(put(s, 1, 1, 100), SCHEDULER_NO_FLOW);
	assert_int_equal(drops(s, 1, SCHEDULER_NO_FLOW), 1);
	assert_int_equal(drops(s, 0, SCHEDULER_NO_FLOW), 0);
	assert_int_equal(scheduler_held(s), 0);
	scheduler_free(s);
}

/* 120 bytes take 960 us of the first, longer than the lead. */
static const struct scheduler_channel slow_first[] = {{MBPS, {0}}, {GBPS, {0}}};

static void blocked_group_blocks_nobody(void **state) {
	struct setup c;
	struct scheduler_grant grants[64];
	struct scheduler *s;
	unsigned sent[2] = {0};

	(void)state;
	setup_make(&c);
	c.config.channels = slow_first;
	s = create(&c);
	for (uintptr_t i = 0; i < 20; i++) {
		enqueue(s, 0, i);
		enqueue(s, 2, i);
	}
	/* channel 0 is taken by one packet; channel 1 takes 20 at once */
	assert_int_equal(scheduler_dequeue(s, 0, grants, 64), 21);
	for (int i = 0; i < 21; i++)
		sent[grants[i].channel]++;
	assert_int_equal(sent[0], 1);
	assert_int_equal(sent[1], 20);
	assert_int_equal(scheduler_drain(s, (void *[64]){0}, 64), 19);
	scheduler_free(s);
}

/* A group of two channels fills both, and goes on with the one that is left. */
static void bonding_group_takes_the_free_channel(void **state) {
	struct setup c;
	struct scheduler_grant grants[64];
	struct scheduler *s;

	(void)state;
	setup_make(&c);
	c.config.channels = slow_first;
	s = create(&c);
	for (uintptr_t i = 0; i < 30; i++)
		enqueue(s, 4, i);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 64), 30);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(grants[i].sequence, i);
		assert_int_equal(grants[i].channel, i > 0); /* of idle ones the lowest */
	}
	scheduler_free(s);
}

static void higher_columns_go_first(void **state) {
	struct setup c;
	struct scheduler_grant grants[10];
	struct scheduler *s;

	(void)state;
	setup_make(&c);
	c.flows[0].priority = 2;
	c.flows[1].priority = 5;
	s = create(&c);
	for (uintptr_t i = 0; i < 5; i++)
		enqueue(s, 0, i);
	for (uintptr_t i = 0; i < 5; i++)
		enqueue(s, 1, i);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 10), 10);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(grants[i].flow, i < 5);
	scheduler_free(s);
}

static void drain_empties_everything_in_order(void **state) {
	struct scheduler *s = create_plain();
	void *packets[64];
	uintptr_t next[6] = {0};
	unsigned n;

	(void)state;
	for (uintptr_t i = 0; i < 60; i++)
		enqueue(s, (uint32_t)(i % 6), (i % 6) << 8 | i / 6);
	assert_int_equal(scheduler_drain_flow(s, 3, packets, 4), 4);
	n = 4 + scheduler_drain(s, packets + 4, 21);
	assert_int_equal(n, 25);
	assert_int_equal(scheduler_held(s), 35);
	n += scheduler_drain(s, packets + n, 64 - n);
	assert_int_equal(n, 60);
	assert_int_equal(scheduler_held(s), 0);
	assert_int_equal(scheduler_drain(s, packets + n, 4), 0);
	assert_int_equal(scheduler_drain_flow(s, 3, packets + n, 4), 0);
	assert_int_equal(scheduler_next(s), UINT64_MAX);
	for (unsigned i = 0; i < n; i++) {
		uintptr_t flow = (uintptr_t)packets[i] >> 8;

		assert_int_equal((uintptr_t)packets[i] & 0xff, next[flow]++);
		assert_true(i >= 4 || flow == 3);
	}
	enqueue(s, 0, 1); /* and it can be used again */
	assert_int_equal(scheduler_drain(s, packets, 1), 1);
	scheduler_free(s);
}

static unsigned sent_at(struct scheduler *s, uint64_t now) {
	struct scheduler_grant grants[10];

	return scheduler_dequeue(s, now, grants, 10);
}

static void delays_are_told_by_buckets(void **state) {
	struct scheduler *s = create_plain();
	struct scheduler_delay_report r;

	(void)state;
	scheduler_report_delay(s, 0, &r);
	assert_int_equal(scheduler_delay_quantile(&r, 500), 0);
	for (uintptr_t i = 0; i < 100; i++)
		enqueue(s, (uint32_t)(i % 6), i);
	assert_int_equal(sent_at(s, 500000), 10);
	while (scheduler_held(s) > 0)
		sent_at(s, 5000000);
	scheduler_report_delay(s, 0, &r);
	assert_int_equal(r.packets, 100);
	assert_in_range(scheduler_delay_quantile(&r, 100), 499000, 500000 * 9 / 8 + 1024);
	assert_in_range(scheduler_delay_quantile(&r, 101), 4999000, 5000000 * 9 / 8 + 1024);
	assert_in_range(scheduler_delay_quantile(&r, 1000), 4999000, 5000000 * 9 / 8 + 1024);
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		uint64_t floor = scheduler_delay_floor(b);
		uint64_t width = scheduler_delay_floor(b + 1) - floor;

		assert_in_range(width, 1, floor / 8 > 1024 ? floor / 8 : 1024);
	}
	assert_int_equal(scheduler_delay_floor(0), 0);
	scheduler_free(s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_its_configuration),
		cmocka_unit_test(batches_keep_their_order),
		cmocka_unit_test(sequence_wraps_at_16_bits),
		cmocka_unit_test(flow_buffer_is_exact),
		cmocka_unit_test(packet_limit_is_exact),
		cmocka_unit_test(too_long_packets_could_never_go),
		cmocka_unit_test(unused_flow_takes_nothing),
		cmocka_unit_test(blocked_group_blocks_nobody),
		cmocka_unit_test(bonding_group_takes_the_free_channel),
		cmocka_unit_test(higher_columns_go_first),
		cmocka_unit_test(drain_empties_everything_in_order),
		cmocka_unit_test(delays_are_told_by_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

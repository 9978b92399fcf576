/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: what is refused, order, turns, limits and the end. Packets are numbers. */
#include "test.h"

#include "scheduler/scheduler.h"

#define MBPS 1000000ull
#define GBPS (1000 * MBPS)
#define FOREVER (UINT64_C(1) << 60) /* a time at which every channel is free */

static void *packet(uintptr_t number) {
	return (void *)number;
}

static const uint32_t first_channel[] = {0};
static const uint32_t second_channel[] = {1};
static const uint32_t both_channels[] = {0, 1};

/* Two channels, a group of each and one of both, two flows a group. */
static const struct scheduler_channel channels[] = {{GBPS}, {GBPS}};
static const struct scheduler_group groups[] = {
	{first_channel, 1},
	{second_channel, 1},
	{both_channels, 2},
};
static const struct scheduler_flow flows[] = {
	{0, 10000}, {0, 10000}, {1, 10000}, {1, 10000}, {2, 10000}, {2, 10000},
};
static const struct scheduler_config plain = {
	.channels = channels,
	.channel_count = ARRAY_COUNT(channels),
	.groups = groups,
	.group_count = ARRAY_COUNT(groups),
	.flows = flows,
	.flow_count = ARRAY_COUNT(flows),
	.packet_limit = 100,
};

static struct scheduler *create(const struct scheduler_config *config) {
	struct scheduler *s = scheduler_create(config);

	assert_non_null(s);
	return s;
}

static void enqueue(struct scheduler *s, uint32_t flow, uintptr_t number) {
	assert_int_equal(scheduler_enqueue(s, flow, packet(number), 100, 120), SCHEDULER_QUEUED);
}

static void refuses_mistakes(void **state) {
	static const uint32_t unknown_channel[] = {0, 2};
	const struct scheduler_group bad_group = {unknown_channel, 2};
	const struct scheduler_group empty_group = {both_channels, 0};
	const struct scheduler_channel silent[] = {{GBPS}, {0}};
	const struct scheduler_flow homeless = {1, 1000};
	struct scheduler_config c;

	(void)state;
	c = plain;
	c.groups = &bad_group;
	c.group_count = 1;
	assert_null(scheduler_create(&c));
	c.groups = &empty_group;
	assert_null(scheduler_create(&c));
	c = plain;
	c.channels = silent;
	assert_null(scheduler_create(&c));
	c = plain;
	c.group_count = 1;
	c.flows = &homeless;
	c.flow_count = 1;
	assert_null(scheduler_create(&c));
	c = plain;
	c.packet_limit = 0;
	assert_null(scheduler_create(&c));
	scheduler_free(NULL); /* harmless */
}

/* The arrays may change or go away after create. */
static void copies_its_configuration(void **state) {
	uint32_t list[] = {1};
	struct scheduler_group group = {list, 1};
	struct scheduler_flow flow = {0, 1000};
	struct scheduler_channel rates[] = {{GBPS}, {GBPS}};
	struct scheduler_config c = {rates, 2, &group, 1, &flow, 1, 0, 10};
	struct scheduler *s = create(&c);
	struct scheduler_grant grant;

	(void)state;
	list[0] = 77;
	group = (struct scheduler_group){0};
	flow = (struct scheduler_flow){99, 0};
	rates[1].rate = 1;
	enqueue(s, 0, 1);
	assert_int_equal(scheduler_dequeue(s, 0, &grant, 1), 1);
	assert_int_equal(grant.channel, 1);
	scheduler_free(s);
}

static void keeps_order_and_counts_sequence(void **state) {
	struct scheduler *s = create(&plain);
	struct scheduler_grant grants[30];

	(void)state;
	for (uintptr_t i = 0; i < 30; i++)
		enqueue(s, 4, i);
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(scheduler_held(s), 30 - i);
		assert_int_equal(scheduler_dequeue(s, i * 1000, &grants[i], 1), 1);
		assert_ptr_equal(grants[i].packet, packet(i));
		assert_int_equal(grants[i].flow, 4);
		assert_int_equal(grants[i].sequence, i);
	}
	assert_int_equal(scheduler_held(s), 0);
	assert_int_equal(scheduler_dequeue(s, FOREVER, grants, 30), 0);
	scheduler_free(s);
}

static void sequence_wraps_at_16_bits(void **state) {
	struct scheduler *s = create(&plain);
	struct scheduler_grant grant;

	(void)state;
	for (uint32_t i = 0; i < 65540; i++) {
		enqueue(s, 0, i);
		enqueue(s, 2, i); /* another flow's numbers are its own */
		for (int k = 0; k < 2; k++) {
			assert_int_equal(scheduler_dequeue(s, i * UINT64_C(1000000), &grant, 1), 1);
			assert_int_equal(grant.sequence, i & 0xffff);
		}
	}
	scheduler_free(s);
}

static void equals_take_turns(void **state) {
	struct scheduler *s = create(&plain);
	struct scheduler_grant grants[9];
	/* flow 0 has five packets, flow 1 three; flow 1 came first */
	static const uint32_t expected[] = {1, 0, 1, 0, 1, 0, 0, 0};

	(void)state;
	enqueue(s, 1, 10);
	for (uintptr_t i = 0; i < 5; i++)
		enqueue(s, 0, i);
	enqueue(s, 1, 11);
	enqueue(s, 1, 12);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 9), 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(grants[i].flow, expected[i]);
	scheduler_free(s);
}

/* A flow that comes back goes behind those that wait. */
static void who_returns_stands_behind(void **state) {
	struct scheduler *s = create(&plain);
	struct scheduler_grant grants[4];

	(void)state;
	enqueue(s, 0, 1);
	enqueue(s, 1, 2);
	enqueue(s, 1, 3);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 1), 1);
	assert_int_equal(grants[0].flow, 0);
	enqueue(s, 0, 4);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 4), 3);
	assert_int_equal(grants[0].flow, 1);
	assert_int_equal(grants[1].flow, 0);
	assert_int_equal(grants[2].flow, 1);
	scheduler_free(s);
}

static void flow_buffer_is_exact(void **state) {
	struct scheduler *s = create(&plain);
	struct scheduler_grant grant;

	(void)state;
	assert_int_equal(scheduler_enqueue(s, 0, packet(1), 10001, 10021), SCHEDULER_FLOW_FULL);
	assert_int_equal(scheduler_enqueue(s, 0, packet(1), 6000, 6020), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_enqueue(s, 0, packet(2), 4001, 4021), SCHEDULER_FLOW_FULL);
	assert_int_equal(scheduler_enqueue(s, 0, packet(3), 4000, 4020), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_enqueue(s, 0, packet(4), 1, 21), SCHEDULER_FLOW_FULL);
	assert_int_equal(scheduler_enqueue(s, 1, packet(5), 10000, 10020), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_held(s), 3);
	assert_int_equal(scheduler_dequeue(s, 0, &grant, 1), 1);
	assert_ptr_equal(grant.packet, packet(1)); /* not one that was refused */
	assert_int_equal(scheduler_enqueue(s, 0, packet(6), 6001, 6021), SCHEDULER_FLOW_FULL);
	assert_int_equal(scheduler_enqueue(s, 0, packet(7), 6000, 6020), SCHEDULER_QUEUED);
	scheduler_free(s);
}

static void packet_limit_is_exact(void **state) {
	struct scheduler_config c = plain;
	struct scheduler *s;
	struct scheduler_grant grants[8];

	(void)state;
	c.packet_limit = 7;
	s = create(&c);
	for (unsigned round = 0; round < 50; round++) {
		for (uintptr_t i = 0; i < 7; i++)
			enqueue(s, (uint32_t)i % 6, i);
		assert_int_equal(scheduler_enqueue(s, 0, packet(9), 1, 1), SCHEDULER_FULL);
		assert_int_equal(scheduler_held(s), 7);
		assert_int_equal(scheduler_dequeue(s, (uint64_t)round * (FOREVER / 64), grants, 8),
				 7);
		for (int i = 0; i < 7; i++)
			assert_ptr_not_equal(grants[i].packet, packet(9));
	}
	scheduler_free(s);
}

/* One packet of 120 bytes takes 960 us of the first, longer than the lead. */
static const struct scheduler_channel slow_first[] = {{MBPS}, {GBPS}};

static void blocked_group_blocks_nobody(void **state) {
	struct scheduler_config c = plain;
	struct scheduler_grant grants[64];
	struct scheduler *s;
	unsigned first = 0, second = 0;

	(void)state;
	c.channels = slow_first;
	s = create(&c);
	for (uintptr_t i = 0; i < 20; i++) {
		enqueue(s, 0, i);
		enqueue(s, 2, i);
	}
	/* channel 0 is taken by one packet; channel 1 takes 20 at once */
	assert_int_equal(scheduler_dequeue(s, 0, grants, 64), 21);
	for (int i = 0; i < 21; i++) {
		first += grants[i].channel == 0;
		second += grants[i].channel == 1;
	}
	assert_int_equal(first, 1);
	assert_int_equal(second, 20);
	scheduler_free(s);
}

/* A group of two channels fills both, and goes on with the one that is left. */
static void bonding_group_takes_the_free_channel(void **state) {
	struct scheduler_config c = plain;
	struct scheduler_grant grants[64];
	struct scheduler *s;

	(void)state;
	c.channels = slow_first;
	s = create(&c);
	for (uintptr_t i = 0; i < 30; i++)
		enqueue(s, 4, i);
	assert_int_equal(scheduler_dequeue(s, 0, grants, 64), 30);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(grants[i].sequence, i);
		assert_int_equal(grants[i].channel, i > 0);
	}
	scheduler_free(s);
}

static void drain_empties_everything_in_order(void **state) {
	struct scheduler *s = create(&plain);
	void *packets[64];
	uintptr_t next[ARRAY_COUNT(flows)] = {0};
	unsigned n;

	(void)state;
	for (uintptr_t i = 0; i < 60; i++)
		enqueue(s, (uint32_t)(i % 6), (i % 6) << 8 | i / 6);
	n = scheduler_drain(s, packets, 25);
	assert_int_equal(n, 25);
	assert_int_equal(scheduler_held(s), 35);
	n += scheduler_drain(s, packets + n, 64 - n);
	assert_int_equal(n, 60);
	assert_int_equal(scheduler_held(s), 0);
	assert_int_equal(scheduler_drain(s, packets + n, 4), 0);
	for (unsigned i = 0; i < n; i++) {
		uintptr_t flow = (uintptr_t)packets[i] >> 8;

		assert_int_equal((uintptr_t)packets[i] & 0xff, next[flow]++);
	}
	enqueue(s, 0, 1); /* and it can be used again */
	assert_int_equal(scheduler_drain(s, packets, 1), 1);
	scheduler_free(s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_mistakes),
		cmocka_unit_test(copies_its_configuration),
		cmocka_unit_test(keeps_order_and_counts_sequence),
		cmocka_unit_test(sequence_wraps_at_16_bits),
		cmocka_unit_test(equals_take_turns),
		cmocka_unit_test(who_returns_stands_behind),
		cmocka_unit_test(flow_buffer_is_exact),
		cmocka_unit_test(packet_limit_is_exact),
		cmocka_unit_test(blocked_group_blocks_nobody),
		cmocka_unit_test(bonding_group_takes_the_free_channel),
		cmocka_unit_test(drain_empties_everything_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

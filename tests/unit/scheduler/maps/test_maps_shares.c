/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets how much: priorities, equal shares, rates. */
#include "maps_rig.h"
#include "random.h"
#include "test.h"

#define ALWAYS 1500000 /* bytes that a greedy flow is owed at least */

static uint64_t asked[200];

/* Keeps flows greedy: each is owed much before each round. */
static void run_greedy(struct rig *r, uint32_t flows, uint64_t time) {
	uint64_t end = r->now + time;

	while (maps_due(r->m) < end) {
		for (uint32_t i = 0; i < flows; i++) {
			uint64_t got = rig_granted(r, i) * r->channels[0].minislot_bytes;

			for (; asked[i] < got + ALWAYS; asked[i] += 300000)
				assert_int_equal(rig_ask(r, i, 300000), MAPS_TAKEN);
		}
		rig_run(r, maps_due(r->m));
	}
}

static void create(struct rig *r, uint32_t channels) {
	struct maps_channel all[RIG_CHANNELS];

	for (uint32_t i = 0; i < channels; i++)
		all[i] = rig_ofdma((uint8_t)(i + 1));
	rig_create(r, all, channels, 200);
	for (uint32_t i = 0; i < 200; i++)
		asked[i] = 0;
}

/* Within a percent of each other. */
static void assert_alike(const struct rig *r, uint32_t from, uint32_t to) {
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t i = from; i < to; i++) {
		uint64_t got = rig_granted(r, i);

		least = got < least ? got : least;
		most = got > most ? got : most;
	}
	assert_true(most * 100 <= least * 101);
}

static void equals_have_equal_shares(void **state) {
	struct rig r;

	(void)state;
	create(&r, 4);
	for (uint32_t i = 0; i < 130; i++)
		assert_null(
			rig_flow(&r, i, 0xf, (struct maps_flow){.header_bytes = 8, .priority = 3}));
	run_greedy(&r, 130, MS(3000));
	assert_alike(&r, 0, 130);
	rig_check_counts(&r);
	rig_free(&r);
}

/* 40 flows of one channel, 10 of it and another, 25 of all three: what is most even is 3 / 75 of a channel each. */
static void shares_are_as_even_as_channels_let_them(void **state) {
	struct rig r;
	uint64_t all = 0;

	(void)state;
	create(&r, 3);
	for (uint32_t i = 0; i < 75; i++)
		assert_null(rig_flow(&r, i,
				     i < 25   ? 1
				     : i < 35 ? 3
					      : 7,
				     (struct maps_flow){.priority = 1}));
	run_greedy(&r, 75, MS(3000));
	for (uint32_t i = 0; i < 75; i++)
		all += rig_granted(&r, i);
	for (uint32_t i = 0; i < 75; i++)
		assert_in_range(rig_granted(&r, i) * 75, all - all / 100, all + all / 100);
	rig_free(&r);
}

/* A flow with a channel of its own has that, and leaves the other to those that have no more than it. */
static void what_others_cannot_have_is_no_ones_loss(void **state) {
	struct rig r;

	(void)state;
	create(&r, 2);
	assert_null(rig_flow(&r, 0, 3, (struct maps_flow){.priority = 1}));
	for (uint32_t i = 1; i < 20; i++)
		assert_null(rig_flow(&r, i, 1, (struct maps_flow){.priority = 1}));
	run_greedy(&r, 20, MS(3000));
	assert_alike(&r, 1, 20);
	assert_true(r.granted[0][1] * 20 <
		    r.granted[1][1]); /* of the shared one, as little as it ran ahead */
	rig_free(&r);
}

static void light_flows_have_what_they_ask(void **state) {
	struct rig r;

	(void)state;
	create(&r, 1);
	for (uint32_t i = 0; i < 31; i++)
		assert_null(rig_flow(&r, i, 1, (struct maps_flow){.header_bytes = 8}));
	for (int i = 0; i < 500; i++) {
		uint64_t before = rig_granted(&r, 30);

		assert_int_equal(rig_ask(&r, 30, 1000), MAPS_TAKEN);
		run_greedy(&r, 30, 15 * 27648 + 1);
		assert_int_equal(rig_granted(&r, 30) - before, 21);
	}
	rig_free(&r);
}

static void priorities_are_strict(void **state) {
	struct rig r;

	(void)state;
	create(&r, 2);
	for (uint32_t i = 0; i < 8; i++)
		assert_null(rig_flow(&r, i, 3, (struct maps_flow){.priority = (uint8_t)i}));
	run_greedy(&r, 8, MS(200));
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(rig_granted(&r, i), 0);
	assert_true(rig_granted(&r, 7) > 0);
	rig_free(&r);
}

static void what_priorities_leave_goes_on(void **state) {
	struct rig r;

	(void)state;
	create(&r, 1);
	assert_null(rig_flow(&r, 0, 1, (struct maps_flow){.priority = 7, .sustained = 200000000}));
	assert_null(rig_flow(&r, 1, 1, (struct maps_flow){.priority = 4, .sustained = 300000000}));
	assert_null(rig_flow(&r, 2, 1, (struct maps_flow){.priority = 0}));
	run_greedy(&r, 3, MS(2000));
	assert_in_range(rig_granted(&r, 0) * 48 * 8 / 2, 199000000, 201000000);
	assert_in_range(rig_granted(&r, 1) * 48 * 8 / 2, 298500000, 301500000);
	assert_true(rig_granted(&r, 2) * 48 * 8 / 2 > 150000000);
	rig_free(&r);
}

/* In any time no more than the bucket and the rate. */
static void sustained_rates_are_kept(void **state) {
	const uint64_t rates[] = {64000, 1000000, 10000000, 100000000};
	struct rig r;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		uint64_t bytes, bucket = 2048 + rates[i] / 8 * 2025 / 1000000;

		create(&r, 1);
		bucket = bucket > 30000 ? bucket : 30000;
		assert_null(rig_flow(
			&r, 0, 1,
			(struct maps_flow){.sustained = rates[i], .sustained_burst = 30000}));
		run_greedy(&r, 1, MS(20000));
		bytes = rig_counts(&r).granted_bytes;
		assert_in_range(bytes, rates[i] / 8 * 20 + bucket - 2048 - rates[i] / 8 / 400,
				rates[i] / 8 * 20 + bucket);
		rig_free(&r);
	}
}

static void peak_rates_are_kept(void **state) {
	struct rig r;

	(void)state;
	create(&r, 1);
	assert_null(rig_flow(&r, 0, 1,
			     (struct maps_flow){.sustained = 1000000,
						.sustained_burst = 10000000,
						.peak = 20000000}));
	run_greedy(&r, 1, MS(2000));
	assert_in_range(rig_counts(&r).granted_bytes, 2 * 2490000, 2 * 2500000 + 8000);
	run_greedy(&r, 1, MS(8000)); /* the burst is over */
	assert_in_range(rig_counts(&r).granted_bytes, 11200000, 11260000);
	rig_free(&r);
}

/* Beside greedy flows of higher priority, each has what is reserved for it, and no more. */
static void reserved_rates_are_kept(void **state) {
	struct rig r;

	(void)state;
	create(&r, 2);
	for (uint32_t i = 0; i < 20; i++)
		assert_null(
			rig_flow(&r, i, 3, (struct maps_flow){.priority = 7, .header_bytes = 8}));
	for (uint32_t i = 20; i < 40; i++)
		assert_null(rig_flow(&r, i, 3,
				     (struct maps_flow){.priority = 0,
							.header_bytes = 8,
							.reserved = 500000u * (i - 18)}));
	run_greedy(&r, 40, MS(10000));
	for (uint32_t i = 20; i < 40; i++) {
		uint64_t rate = 500000u * (i - 18), grants = rate * 10 / 8 / 2048;
		uint64_t bytes = rig_granted(&r, i) * 48;

		/* headers, and what the last minislot of a grant has in excess */
		assert_in_range(bytes, rate * 10 / 8 * 995 / 1000,
				rate * 10 / 8 * 1005 / 1000 + 4096 + grants * 56);
	}
	rig_free(&r);
}

/* Also where grants are short and many. */
static void nobody_starves(void **state) {
	struct rig r;

	(void)state;
	create(&r, 1);
	for (uint32_t i = 0; i < 200; i++)
		assert_null(rig_flow(&r, i, 1,
				     (struct maps_flow){.header_bytes = 8, .max_burst = 128}));
	for (uint32_t i = 0; i < 200; i++)
		rig_ask(&r, i, 1 << 20);
	rig_run(&r, r.now + MS(40));
	for (uint32_t i = 0; i < 200; i++)
		assert_true(rig_granted(&r, i) > 0);
	assert_alike(&r, 0, 200);
	rig_free(&r);
}

/* More flows than a MAP has elements, each with little: all have their turn, and those that wait are told. */
static void more_flows_than_elements(void **state) {
	struct maps_channel c = rig_ofdma(1);
	struct rig r;

	(void)state;
	rig_create(&r, &c, 1, 2000);
	for (uint32_t i = 0; i < 2000; i++)
		assert_null(rig_flow(&r, i, 1, (struct maps_flow){.header_bytes = 8}));
	rig_run(&r, MS(10));
	for (uint32_t i = 0; i < 2000; i++)
		rig_ask(&r, i, 88);
	for (int i = 1; i <= 5; i++) {
		rig_run(&r, maps_due(r.m));
		assert_int_equal(rig_counts(&r).granted_bytes, i < 5 ? i * 425 * 88 : 2000 * 88);
	}
	assert_int_equal(rig_counts(&r).pendings, 4 * 61);
	rig_free(&r);
}

/* Who was heard on a channel whose MAP is full of elements is told on another of its channels. */
static void full_channels_leave_it_to_others(void **state) {
	struct maps_channel c[] = {rig_ofdma(1), rig_ofdma(2)};
	const uint32_t both = 600;
	struct rig r;

	(void)state;
	rig_create(&r, c, 2, both + 1);
	for (uint32_t i = 0; i < both; i++)
		assert_null(rig_flow(&r, i, 1, (struct maps_flow){.header_bytes = 8}));
	assert_null(rig_flow(&r, both, 3, (struct maps_flow){.header_bytes = 8}));
	rig_run(&r, MS(10));
	for (uint32_t i = 0; i < both; i++)
		rig_ask(&r, i, 88);
	rig_ask(&r, both, 1 << 20);
	rig_run(&r, maps_due(r.m));
	assert_int_equal(r.pendings[0][both + 1], 0);
	assert_int_equal(r.pendings[1][both + 1], 1);
	rig_free(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_have_equal_shares),
		cmocka_unit_test(shares_are_as_even_as_channels_let_them),
		cmocka_unit_test(what_others_cannot_have_is_no_ones_loss),
		cmocka_unit_test(light_flows_have_what_they_ask),
		cmocka_unit_test(priorities_are_strict),
		cmocka_unit_test(what_priorities_leave_goes_on),
		cmocka_unit_test(sustained_rates_are_kept),
		cmocka_unit_test(peak_rates_are_kept),
		cmocka_unit_test(reserved_rates_are_kept),
		cmocka_unit_test(nobody_starves),
		cmocka_unit_test(more_flows_than_elements),
		cmocka_unit_test(full_channels_leave_it_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

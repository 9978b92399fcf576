/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: shares of modems with equal claims, also across groups that share channels. */
#include "test.h"

#include "scheduler_fair.h"
#include "scheduler_rig.h"

#define JAIN 0.999
/* Backlogged from now on, and measured for `ns` after 50 ms. */
static void measure(struct rig *r, uint32_t smallest, uint32_t largest, uint64_t ns) {
	for (uint32_t i = 0; i < r->config.flow_count; i++)
		rig_feed_always(r, i, smallest, largest);
	rig_run(r, 50 * RIG_MS);
	rig_mark(r);
	rig_run(r, ns);
}

/* Each flow has its fair share, within `part`; those with the same have all but the same. */
static void expect_fair(const struct rig *r, double part) {
	double share[FAIR_MODEMS], ratio[FAIR_MODEMS];
	unsigned count = fair_shares(r, share);

	for (uint32_t i = 0; i < count; i++) {
		ratio[i] = rig_rate_sum(r, i, 1) / share[i];
		rig_expect("flow", i, rig_rate_sum(r, i, 1), share[i], part);
	}
	if (rig_jain(ratio, count) <= JAIN)
		fail_msg("Jain's index is %.6f", rig_jain(ratio, count));
}

static void add_modems(struct rig *r, uint32_t group, unsigned count, uint64_t rate) {
	for (unsigned i = 0; i < count; i++)
		rig_flow(r, (struct scheduler_flow){
				    .group = group,
				    .modem = rig_modem(r, 0, 0),
				    .sustained = rate > 0 ? rig_limit(rate)
							  : (struct scheduler_limit){0, 0},
			    });
}

/* Modems with so many flows and packets of these sizes get the same. */
static void expect_equal_modems(const uint32_t (*kinds)[3], size_t count) {
	double rates[8];
	struct rig r = rig_make();
	uint32_t first = 0;

	rig_channel(&r, RIG_BPS(50 * count));
	rig_channel(&r, RIG_BPS(50 * count));
	rig_group_range(&r, 0, 2);
	for (size_t m = 0; m < count; m++) {
		uint32_t modem = rig_modem(&r, 0, 0);

		for (uint32_t i = 0; i < kinds[m][0]; i++)
			rig_flow(&r, (struct scheduler_flow){.modem = modem});
	}
	rig_start(&r);
	for (size_t m = 0; m < count; m++) {
		for (uint32_t i = 0; i < kinds[m][0]; i++)
			rig_feed_always(&r, first++, kinds[m][1], kinds[m][2]);
	}
	rig_run(&r, 50 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, RIG_S);
	first = 0;
	for (size_t m = 0; m < count; m++) {
		rates[m] = rig_rate_sum(&r, first, kinds[m][0]);
		rig_expect("modem", m, rates[m], 100e6, 0.01);
		first += kinds[m][0];
	}
	assert_true(rig_jain(rates, count) > JAIN);
	rig_end(&r);
}

static void modems_whatever_their_flows(void **state) {
	static const uint32_t kinds[][3] = {{1, 1518, 1518}, {2, 64, 64}, {8, 64, 700},
					    {50, 64, 1518},  {1, 90, 90}, {3, 1200, 2048}};

	(void)state;
	expect_equal_modems(kinds, ARRAY_COUNT(kinds));
}

/* A packet may be longer than several turns: it is paid for with as many. */
static void packets_longer_than_turns(void **state) {
	static const uint32_t kinds[][3] = {{1, 9000, 9000}, {3, 64, 1518}, {2, 2049, 16383}};

	(void)state;
	expect_equal_modems(kinds, ARRAY_COUNT(kinds));
}

/* Channel 0 | 0 and 1 | 1: all three get the same, which only the outer two's choice allows. */
static void two_channels_three_groups(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(150));
	rig_channel(&r, RIG_BPS(150));
	rig_group_range(&r, 0, 1);
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 1);
	for (uint32_t g = 0; g < 3; g++)
		add_modems(&r, g, 1, 0);
	rig_start(&r);
	measure(&r, 64, 1518, RIG_S);
	expect_fair(&r, 0.01);
	rig_expect_filled(&r, 0, 2);
	rig_end(&r);
}

/* More modems in a group, more for the group. */
static void groups_by_their_modems(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(200));
	rig_channel(&r, RIG_BPS(100));
	rig_channel(&r, RIG_BPS(300));
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 2);
	rig_group_range(&r, 0, 3);
	add_modems(&r, 0, 1, 0);
	add_modems(&r, 1, 7, 0);
	add_modems(&r, 2, 3, 0);
	rig_start(&r);
	measure(&r, 64, 1518, RIG_S);
	expect_fair(&r, 0.01);
	rig_end(&r);
}

/* A narrow channel holds its modems down, a wide one beside it is shared by those that reach it. */
static void bottlenecks_of_different_width(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(30));
	rig_channel(&r, RIG_BPS(100));
	rig_channel(&r, RIG_BPS(400));
	rig_group_range(&r, 0, 1);
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 2);
	add_modems(&r, 0, 3, 0);
	add_modems(&r, 1, 2, 0);
	add_modems(&r, 2, 4, 0);
	rig_start(&r);
	measure(&r, 64, 1518, RIG_S);
	expect_fair(&r, 0.02);
	rig_end(&r);
}

static void limits_leave_more_for_others(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(200));
	rig_channel(&r, RIG_BPS(200));
	rig_group_range(&r, 0, 1);
	rig_group_range(&r, 0, 2);
	add_modems(&r, 0, 1, RIG_BPS(10));
	add_modems(&r, 0, 2, 0);
	add_modems(&r, 1, 1, RIG_BPS(40));
	add_modems(&r, 1, 3, 0);
	rig_start(&r);
	measure(&r, 64, 1518, RIG_S);
	expect_fair(&r, 0.01);
	rig_end(&r);
}

/* The service group's limit is shared by all, overlapping or not within a cluster. */
static void limit_of_the_service_group(void **state) {
	struct rig r = rig_make();

	(void)state;
	for (int i = 0; i < 3; i++)
		rig_channel(&r, RIG_BPS(150));
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 2);
	add_modems(&r, 0, 2, 0);
	add_modems(&r, 1, 4, 0);
	r.config.rate_limit = RIG_BPS(300);
	rig_start(&r);
	measure(&r, 64, 1518, RIG_S);
	expect_fair(&r, 0.01);
	assert_true(rig_limit_fill(&r) > 0.995);
	rig_end(&r);
}

/* Any channels, groups and modems. */
static void any_overlap(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct rig r = rig_make();
		uint32_t channels, groups;

		r.random.state = seed * 7919;
		channels = random_between(&r.random, 2, 6);
		groups = random_between(&r.random, 2, 5);
		for (uint32_t i = 0; i < channels; i++)
			rig_channel(&r, RIG_BPS(random_between(&r.random, 30, 150)));
		for (uint32_t g = 0; g < groups; g++) {
			uint32_t list[6], count = 0;

			for (uint32_t i = 0; i < channels; i++) {
				if (random_below(&r.random, 2) > 0)
					list[count++] = i;
			}
			if (count == 0)
				list[count++] = g % channels;
			rig_group(&r, list, count);
			add_modems(&r, g, random_between(&r.random, 1, 2), 0);
		}
		rig_start(&r);
		measure(&r, 300, 1518, RIG_S);
		expect_fair(&r, 0.03);
		rig_end(&r);
	}
}

/*
 * 2 OFDM and 32 SC-QAM channels, four groups of all the former and half of the latter, 40 modems.
 */
static void equals_in_four_overlapping_groups(void **state) {
	struct rig r = rig_make();
	double rates[40];

	(void)state;
	for (int i = 0; i < 2; i++)
		rig_channel(&r, RIG_OFDM);
	for (int i = 0; i < 32; i++)
		rig_channel(&r, RIG_SC_QAM);
	for (uint32_t g = 0; g < 4; g++) {
		uint32_t list[18] = {0, 1};

		for (uint32_t i = 0; i < 16; i++)
			list[2 + i] = 2 + (8 * g + i) % 32;
		rig_group(&r, list, 18);
		add_modems(&r, g, 10, 0);
	}
	rig_start(&r);
	measure(&r, 1000, 1518, 400 * RIG_MS);
	for (uint32_t i = 0; i < 40; i++)
		rates[i] = rig_rate_sum(&r, i, 1);
	assert_true(rig_jain(rates, 40) > JAIN);
	rig_expect_filled(&r, 0, 34);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modems_whatever_their_flows),
		cmocka_unit_test(packets_longer_than_turns),
		cmocka_unit_test(two_channels_three_groups),
		cmocka_unit_test(groups_by_their_modems),
		cmocka_unit_test(bottlenecks_of_different_width),
		cmocka_unit_test(limits_leave_more_for_others),
		cmocka_unit_test(limit_of_the_service_group),
		cmocka_unit_test(any_overlap),
		cmocka_unit_test(equals_in_four_overlapping_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests live_group.c: capacities of a group in service, and failed allocations while it is copied. */
#include "live_kit.h"
#include "test_main.h"

#include "failing_allocations.h"

#define NEW_MODEM(n)                              \
	"  - mac: \"02:01:00:00:01:0" n "\"\n"    \
	"    addresses: [10.1.0." n "]\n"         \
	"    bonding_group: 2\n"                  \
	"    security: {said: 3, cipher: none}\n" \
	"    service_flows: [{id: 10" n "}]\n"

TEST(change_over_capacity_is_refused) {
	static const char three_modems[] = "max_modems: 3\n" LIVE_SMALL;
	struct live_group l = make_live_group(three_modems);
	char *flows;

	assert_int_equal(l.capacity.modems, 3);
	expect_changes(&l, "max_modems: 3\n" LIVE_SMALL NEW_MODEM("1"), "1 modem added");
	expect_refused(
		&l, "max_modems: 3\n" LIVE_TOP "modems:\n" LIVE_MODEM_1 LIVE_MODEM_2 NEW_MODEM("2"),
		"modems: found 1 objects to add, allowed: as many as slots are free before "
		"the removed ones are released (capacity 3)");
	expect_changes(&l, three_modems, "1 modem removed");
	live_group_free(&l);

	/* a group without upstream has no capacity for upstream channels */
	l = make_live_group(SMALL);
	assert_true(asprintf(&flows,
			     "%supstream_channels: [{id: 1, type: ofdma, rate: 1 Mbps, "
			     "session: 5}]\n",
			     SMALL) > 0);
	expect_refused(
		&l, flows,
		"upstream_channels: found 1 upstream channels, allowed: 0, the capacity set at "
		"the start");
	free(flows);
	live_group_free(&l);
}

TEST(capacity_follows_the_configuration) {
	struct service_group sg = load_valid("max_modems: 1000\n" LIVE_SMALL);
	struct group_capacity capacity = group_capacity(&sg), exact = group_capacity_exact(&sg);
	/* modems; four kinds of objects; flows, addresses, upstream flows, streams, SIDs */
	const struct group_capacity expected = {1000,
						7,
						6,
						6,
						6,
						4 * 500 + 32,
						2 * 500 + 64,
						500 + 64,
						2 * 500 + 32,
						2 * 500 + 32,
						3 * 500 + 32 * 6};
	const struct group_capacity used = {2, 3, 2, 2, 2, 4, 2, 1, 2, 2, 3};
	struct live_group l;

	assert_memory_equal(&capacity, &expected, sizeof(capacity));
	assert_memory_equal(&exact, &used, sizeof(exact));
	sg.max_modems = SG_MAX_MODEMS; /* more than SIDs */
	capacity = group_capacity(&sg);
	assert_int_equal(capacity.modems, SG_MAX_MODEMS);
	assert_int_equal(capacity.sids, 6 * SG_MAX_SID);
	exact.sids = 2;
	assert_int_equal(live_group_create(&l, &sg, &exact, (char[LIVE_LINE]){0}), -1);
	live_group_free(&l);
	service_group_free(&sg);
	expect_mistakes("max_modems: 1\n" LIVE_SMALL, 1,
			"sg.yaml:1: max_modems: found \"1\", allowed: at least 2, the number of "
			"modems\n");
}

static bool try_create(void *context) {
	const struct service_group *sg = context;
	const struct group_capacity capacity = group_capacity(sg);
	struct live_group l;
	bool created = live_group_create(&l, sg, &capacity, (char[LIVE_LINE]){0}) == 0;

	live_group_free(&l);
	return created;
}

TEST(failed_copy_leaks_no_memory) {
	struct service_group sg =
		load_valid("threads: {layout: combined, cores: \"3,4\"}\n" LIVE_SMALL);

	fail_each_allocation(try_create, &sg);
	service_group_free(&sg);
}

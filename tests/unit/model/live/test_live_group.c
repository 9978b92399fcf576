/* SPDX-License-Identifier: BSD-3-Clause */
/* A group in service: its copy and its capacity. */
#include "live_kit.h"
#include "test_main.h"

#include "memory_runs_out.h"

#define NEW_MODEM(n)                              \
	"  - mac: \"02:01:00:00:01:0" n "\"\n"    \
	"    addresses: [10.1.0." n "]\n"         \
	"    bonding_group: 2\n"                  \
	"    security: {said: 3, cipher: none}\n" \
	"    service_flows: [{id: 10" n "}]\n"

TEST(where_there_is_no_room) {
	static const char few[] = "max_modems: 3\n" LIVE_SMALL;
	struct live_group l = live_of(few);
	char *flows;

	assert_int_equal(l.capacity.modems, 3);
	expect_changes(&l, "max_modems: 3\n" LIVE_SMALL NEW_MODEM("1"), "1 modem added");
	expect_refusal(
		&l, "max_modems: 3\n" LIVE_TOP "modems:\n" LIVE_MODEM_1 LIVE_MODEM_2 NEW_MODEM("2"),
		"modems: found 1 that come, allowed: as many as there are places while "
		"those that go have theirs, of 3");
	expect_changes(&l, few, "1 modem removed");
	live_group_free(&l);

	/* of a group without upstream there is no capacity for one */
	l = live_of(SMALL);
	assert_true(asprintf(&flows,
			     "%supstream_channels: [{id: 1, type: ofdma, rate: 1 Mbps, "
			     "session: 5}]\n",
			     SMALL) > 0);
	expect_refusal(&l, flows,
		       "upstream_channels: found 1 upstream channels, allowed: 0, for which there "
		       "is capacity since the start");
	free(flows);
	live_group_free(&l);
}

TEST(room_is_what_was_asked_for) {
	struct service_group sg = sg_of("max_modems: 1000\n" LIVE_SMALL);
	struct group_capacity capacity = group_capacity(&sg), exact = group_capacity_exact(&sg);
	/* Modems; four kinds of objects; flows, addresses, upstream flows, streams, SIDs. */
	const struct group_capacity asked = {1000,
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
	const struct group_capacity there = {2, 3, 2, 2, 2, 4, 2, 1, 2, 2, 3};
	struct live_group l;

	assert_memory_equal(&capacity, &asked, sizeof(capacity));
	assert_memory_equal(&exact, &there, sizeof(exact));
	sg.max_modems = SG_MAX_MODEMS; /* of SIDs there are not as many */
	capacity = group_capacity(&sg);
	assert_int_equal(capacity.modems, SG_MAX_MODEMS);
	assert_int_equal(capacity.sids, 6 * SG_MAX_SID);
	exact.sids = 2;
	assert_int_equal(live_group_create(&l, &sg, &exact, (char[LIVE_LINE]){0}), -1);
	live_group_free(&l);
	service_group_free(&sg);
	expect_mistakes("max_modems: 1\n" LIVE_SMALL, 1,
			"sg.yaml:1: max_modems: found \"1\", allowed: at least the 2 modems that "
			"there are\n");
}

static bool try_create(void *context) {
	const struct service_group *sg = context;
	const struct group_capacity capacity = group_capacity(sg);
	struct live_group l;
	bool good = live_group_create(&l, sg, &capacity, (char[LIVE_LINE]){0}) == 0;

	live_group_free(&l);
	return good;
}

/* Memory runs out at every allocation there is: nothing is left behind. */
TEST(a_group_is_copied_or_not) {
	struct service_group sg = sg_of("threads: {layout: combined, cores: \"3,4\"}\n" LIVE_SMALL);

	with_little_memory(try_create, &sg);
	service_group_free(&sg);
}

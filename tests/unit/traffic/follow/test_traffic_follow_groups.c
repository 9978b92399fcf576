/* SPDX-License-Identifier: BSD-3-Clause */
/* Service groups that come and go at ports that they share. */
#include <rte_cycles.h>

#include "directions/traffic_parts.h"
#include "follow_kit.h"
#include "model/server_config.h"
#include "test_main.h"
#include "traffic_kit_config.h"

static struct rig second;
static struct rig_frame more[FOLLOW_PACKETS];
static struct server_config both;

static json_t *second_group(void) {
	char *text = rig_second_config(false, false, false);
	json_t *group = follow_read(text);

	free(text);
	return group;
}

/* The second group comes, or goes again. */
static void server_has(bool two) {
	json_t *groups = json_pack("[o]", follow_read(rig_config)), *other = second_group();

	follow_tell(2, "group", two ? "added" : "removed", other);
	if (two)
		json_array_append(groups, other);
	json_decref(other);
	json_decref(follow_server.config);
	follow_server.config = json_pack("{s:s, s:o}", "name", "server", "service_groups", groups);
	follow_change_prepare();
	follow_change_apply();
}

static int begin(void **state) {
	static struct traffic_options options;

	follow_serve();
	options = rig_options(&rig, "256", 3);
	follow_options(&options, &rig.sg);
	assert_int_equal(groups_create(&rig.groups, &rig.sg, &options, 1), 0);
	rig.traffic = rig.groups.all[0];
	rig_ready(&rig);
	follow_join();
	return 0;
}

static int end(void **state) {
	follow_leave();
	groups_free(&rig.groups);
	server_config_free(&both);
	rig.traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	return 0;
}

/* Looks until all is known and taken, without packets. */
static void learn(void) {
	for (int i = 0; i < 4; i++) {
		follow_look(&following, 0);
		for (unsigned g = 0; g < rig.groups.count; g++)
			rig.groups.all[g]->stopped = true;
		groups_send(&rig.groups, rte_rdtsc());
		groups_receive(&rig.groups);
		groups_send(&rig.groups, rte_rdtsc());
		for (unsigned g = 0; g < rig.groups.count; g++)
			rig.groups.all[g]->stopped = false;
	}
}

static void second_open(void) {
	char *text = json_dumps(follow_server.config, 0);

	assert_int_equal(
		server_config_load_text("test", text, strlen(text), NULL, NULL, &both, stderr), 0);
	free(text);
	second = rig;
	second.sg = both.groups[both.group_count - 1];
	second.traffic = rig.groups.all[1];
	rig_ready(&second);
}

TEST(a_group_comes_and_goes) {
	struct totals *totals;

	learn();
	rig_take(&rig, follow_frames, FOLLOW_PACKETS, NULL);
	server_has(true);
	learn();
	assert_int_equal(rig.groups.count, 2);
	assert_int_equal(following.ids[1], 2);
	second_open();
	rig_take(&second, more, FOLLOW_PACKETS, NULL);
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++) {
		if (i == FOLLOW_PACKETS / 2) {
			server_has(false);
			learn();
			assert_int_equal(traffic_send(second.traffic, rte_rdtsc()), 0);
		}
		rig_send_frame(&rig, &follow_frames[i]);
		rig_send_frame(&second, &more[i]);
		groups_receive(&rig.groups);
	}
	totals = rig_totals(&rig.groups);
	for (unsigned g = 0; g < 2; g++) {
		assert_int_equal(totals->downstream[g].sent, FOLLOW_PACKETS);
		assert_int_equal(totals->downstream[g].proven, FOLLOW_PACKETS);
		assert_true(traffic_result_good(&totals->downstream[g]));
	}
	assert_true(totals_good(totals, &rig.groups));
	totals_free(totals);
}

TEST(a_group_with_its_own_ports_is_refused) {
	struct totals *totals;

	rig.groups.follows = false;
	server_has(true);
	learn();
	assert_int_equal(rig.groups.count, 1);
	assert_int_equal(following.refused_count, 1);
	rig_take(&rig, follow_frames, FOLLOW_PACKETS, NULL);
	rig_send_frames(&rig, follow_frames, FOLLOW_PACKETS);
	totals = rig_totals(&rig.groups);
	assert_true(totals_good(totals, &rig.groups));
	totals_free(totals);
}

EACH_TEST(begin, end)
ALL_TESTS(rig_open, rig_close)

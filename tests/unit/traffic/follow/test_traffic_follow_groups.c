/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that traffic follows a server whose groups at shared ports are added and removed. */
#include <rte_cycles.h>

#include "directions/traffic_parts.h"
#include "follow_kit.h"
#include "model/server_config.h"
#include "test_main.h"
#include "traffic_kit_config.h"

static struct rig second;
static struct rig_frame second_frames[FOLLOW_PACKETS];
static struct server_config both;

static json_t *second_group(void) {
	char *text = rig_second_config(false, false, false);
	json_t *group = follow_parse_json(text);

	free(text);
	return group;
}

/* Adds the second group to the server, or removes it. */
static void set_second_group(bool two) {
	json_t *groups = json_pack("[o]", follow_parse_json(rig_config)),
	       *second_json = second_group();

	follow_add_event(2, "group", two ? "added" : "removed", second_json);
	if (two)
		json_array_append(groups, second_json);
	json_decref(second_json);
	json_decref(follow_server.config);
	follow_server.config = json_pack("{s:s, s:o}", "name", "server", "service_groups", groups);
	follow_prepare_change();
	follow_apply_change();
}

static int set_up(void **state) {
	static struct traffic_options options;

	follow_start_server();
	options = rig_options(&rig, "256", 3);
	follow_options(&options, &rig.sg);
	assert_int_equal(groups_create(&rig.groups, &rig.sg, &options, 1), 0);
	rig.traffic = rig.groups.all[0];
	rig_prepare(&rig);
	follow_join();
	return 0;
}

static int tear_down(void **state) {
	follow_stop_server();
	groups_free(&rig.groups);
	server_config_free(&both);
	rig.traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	return 0;
}

/* Reads events and applies changes, without sending packets. */
static void update(void) {
	for (int i = 0; i < 4; i++) {
		follow_step(&following, 0);
		for (unsigned g = 0; g < rig.groups.count; g++)
			rig.groups.all[g]->stopped = true;
		groups_send(&rig.groups, rte_rdtsc());
		groups_receive(&rig.groups);
		groups_send(&rig.groups, rte_rdtsc());
		for (unsigned g = 0; g < rig.groups.count; g++)
			rig.groups.all[g]->stopped = false;
	}
}

static void second_create(void) {
	char *text = json_dumps(follow_server.config, 0);

	assert_int_equal(
		server_config_load_text("test", text, strlen(text), NULL, NULL, &both, stderr), 0);
	free(text);
	second = rig;
	second.sg = both.groups[both.group_count - 1];
	second.traffic = rig.groups.all[1];
	rig_prepare(&second);
}

TEST(group_is_added_and_removed) {
	struct totals *totals;

	update();
	rig_collect(&rig, follow_frames, FOLLOW_PACKETS, NULL);
	set_second_group(true);
	update();
	assert_int_equal(rig.groups.count, 2);
	assert_int_equal(following.ids[1], 2);
	second_create();
	rig_collect(&second, second_frames, FOLLOW_PACKETS, NULL);
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++) {
		if (i == FOLLOW_PACKETS / 2) {
			set_second_group(false);
			update();
			assert_int_equal(traffic_send(second.traffic, rte_rdtsc()), 0);
		}
		rig_send_frame(&rig, &follow_frames[i]);
		rig_send_frame(&second, &second_frames[i]);
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

TEST(group_with_separate_ports_is_rejected) {
	struct totals *totals;

	rig.groups.follows = false;
	set_second_group(true);
	update();
	assert_int_equal(rig.groups.count, 1);
	assert_int_equal(following.without_traffic_count, 1);
	rig_collect(&rig, follow_frames, FOLLOW_PACKETS, NULL);
	rig_send_frames(&rig, follow_frames, FOLLOW_PACKETS);
	totals = rig_totals(&rig.groups);
	assert_true(totals_good(totals, &rig.groups));
	totals_free(totals);
}

EACH_TEST(set_up, tear_down)
ALL_TESTS(rig_open, rig_close)

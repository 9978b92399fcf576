/* SPDX-License-Identifier: BSD-3-Clause */
/* Service groups that come and go at ports that they share. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "follow_rig.h"
#include "groups/totals.h"
#include "model/server_config.h"
#include "test_main.h"

static struct rig second;
static struct rig_frame more[FOLLOW_PACKETS];
static struct server_config both;
static char *first_text;

static void replace(char *text, const char *old, const char *with) {
	char *at = text;

	assert_int_equal(strlen(old), strlen(with));
	assert_non_null(strstr(text, old));
	while ((at = strstr(at, old)) != NULL)
		memcpy(at, with, strlen(with));
}

/* The first group with other sessions, addresses and modems. */
static json_t *second_group(void) {
	char *text = follow_rig_json();
	json_t *group;

	replace(text, "\"service_group\": \"1\"", "\"service_group\": \"2\"");
	replace(text, "0x0001000", "0x0002000");
	replace(text, "10.0.0.", "10.0.1.");
	replace(text, "2001:db8:0:1::", "2001:db8:0:2::");
	replace(text, "02:01:00:00:00:", "02:01:00:00:01:");
	group = json_loads(text, 0, NULL);
	assert_non_null(group);
	free(text);
	return group;
}

static void server_has(bool one, bool two) {
	json_t *groups = json_array(), *config;

	if (one)
		json_array_append_new(groups, json_loads(first_text, 0, NULL));
	if (two)
		json_array_append_new(groups, second_group());
	fake_server_begin(&follow_server);
	config = json_pack("{s:s, s:o}", "name", "server", "service_groups", groups);
	json_decref(follow_server.config);
	follow_server.config = config;
	fake_server_end(&follow_server);
}

static void as_long_as_it_takes(struct traffic *t) {
	t->downlink->resequencers.timeout = UINT64_MAX;
	t->downlink->follow->keep = UINT64_MAX / 2;
}

static int begin(void **state) {
	static struct traffic_options options;
	char error[128];

	first_text = follow_rig_json();
	fake_server_open(&follow_server, first_text);
	options = (struct traffic_options){
		.network_port = follow_rig.network[0],
		.rphy_port = follow_rig.rphy[0],
		.crypto = follow_rig.crypto,
		.permit_permille = 100,
		.classify_permille = 300,
		.seed = 3,
	};
	assert_int_equal(mix_parse("256", 1996, &options.mix, error, sizeof(error)), 0);
	follow_options(&options, &follow_rig.sg);
	assert_int_equal(groups_create(&follow_rig.groups, &follow_rig.sg, &options, 1), 0);
	follow_rig.traffic = follow_rig.groups.all[0];
	as_long_as_it_takes(follow_rig.traffic);
	follow_rig.follows = true;
	follow_rig.unknown = 0;
	memset(follow_rig.psp, 0, sizeof(follow_rig.psp));
	memset(follow_rig.numbers, 0, sizeof(follow_rig.numbers));
	memset(follow_rig.counters, 0, sizeof(follow_rig.counters));
	assert_int_equal(follow_create(&following, follow_server.path, &follow_rig.groups,
				       &follow_rig.sg, rte_get_tsc_hz()),
			 0);
	return 0;
}

static int end(void **state) {
	follow_free(&following);
	groups_free(&follow_rig.groups);
	server_config_free(&both);
	follow_rig.traffic = NULL;
	fake_server_close(&follow_server);
	free(first_text);
	assert_int_equal(rte_mempool_in_use_count(follow_rig.pool), 0);
	return 0;
}

/* Looks until all is known and taken, without packets. */
static void learn(void) {
	for (int i = 0; i < 4; i++) {
		follow_look(&following, 0);
		for (unsigned g = 0; g < follow_rig.groups.count; g++)
			follow_rig.groups.all[g]->stopped = true;
		groups_send(&follow_rig.groups, rte_rdtsc());
		groups_receive(&follow_rig.groups);
		groups_send(&follow_rig.groups, rte_rdtsc());
		for (unsigned g = 0; g < follow_rig.groups.count; g++)
			follow_rig.groups.all[g]->stopped = false;
	}
}

static void second_open(void) {
	char *text = json_dumps(follow_server.config, 0);

	assert_int_equal(
		server_config_load_text("test", text, strlen(text), NULL, NULL, &both, stderr), 0);
	free(text);
	second = follow_rig;
	second.sg = both.groups[both.group_count - 1];
	second.traffic = follow_rig.groups.all[1];
	as_long_as_it_takes(second.traffic);
	memset(second.psp, 0, sizeof(second.psp));
	memset(second.numbers, 0, sizeof(second.numbers));
	memset(second.counters, 0, sizeof(second.counters));
}

static void send_all(struct rig *r, const struct rig_frame *frames) {
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++) {
		rig_send_frame(r, &frames[i]);
		groups_receive(&follow_rig.groups);
	}
}

static struct totals *results(void) {
	static struct totals totals;

	groups_stop(&follow_rig.groups);
	while (groups_receive(&follow_rig.groups) > 0)
		;
	groups_finish(&follow_rig.groups);
	totals_create(&totals, &follow_rig.groups);
	return &totals;
}

TEST(a_group_comes) {
	struct totals *totals;

	learn();
	rig_take(&follow_rig, follow_frames, FOLLOW_PACKETS, NULL);
	server_has(true, true);
	learn();
	assert_int_equal(follow_rig.groups.count, 2);
	assert_int_equal(following.ids[1], 2);
	second_open();
	rig_take(&second, more, FOLLOW_PACKETS, NULL);
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++) {
		rig_send_frame(&follow_rig, &follow_frames[i]);
		rig_send_frame(&second, &more[i]);
		groups_receive(&follow_rig.groups);
	}
	totals = results();
	for (unsigned g = 0; g < 2; g++) {
		assert_int_equal(totals->downstream[g].sent, FOLLOW_PACKETS);
		assert_true(traffic_result_good(&totals->downstream[g]));
	}
	assert_true(totals_good(totals, &follow_rig.groups));
	totals_free(totals);
}

/* What it was sent comes, and the other one goes on. */
TEST(a_group_comes_and_goes) {
	struct totals *totals;

	server_has(true, true);
	learn();
	second_open();
	rig_take(&second, more, FOLLOW_PACKETS, NULL);
	server_has(true, false);
	learn();
	assert_int_equal(traffic_send(second.traffic, rte_rdtsc()), 0);
	send_all(&second, more);
	rig_take(&follow_rig, follow_frames, FOLLOW_PACKETS, NULL);
	send_all(&follow_rig, follow_frames);
	totals = results();
	assert_int_equal(totals->downstream[1].proven, FOLLOW_PACKETS);
	assert_true(totals_good(totals, &follow_rig.groups));
	totals_free(totals);
}

/* A group that would need ports of its own is told, once, and the others are followed on. */
TEST(a_group_with_its_own_ports_is_refused) {
	struct totals *totals;

	follow_rig.groups.follows = false;
	server_has(true, true);
	learn();
	assert_int_equal(follow_rig.groups.count, 1);
	assert_int_equal(following.refused_count, 1);
	rig_take(&follow_rig, follow_frames, FOLLOW_PACKETS, NULL);
	send_all(&follow_rig, follow_frames);
	totals = results();
	assert_true(totals_good(totals, &follow_rig.groups));
	totals_free(totals);
}

EACH_TEST(begin, end)
ALL_TESTS(follow_open_rig, follow_close_rig)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames whose headers say what the traffic does not know yet: keys, flows, channels. */
#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "follow_rig.h"
#include "test_main.h"

static void next_key_set(const char *security) {
	follow_set_json(follow_modem(fake_server_begin(&follow_server), 0), "security", security);
	follow_change_end();
}

#define NOW_KEY                                                                             \
	"'said': 1, 'cipher': 'aes-128', 'key': '000102030405060708090a0b0c0d0e0f', 'iv': " \
	"'101112131415161718191a1b1c1d1e1f', 'key_sequence': 1"
#define NEXT_IV "'5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a'"
#define NEXT_KEY "'77010000000000000000000000000000'"

/* Installed, used, and the old one removed. */
static void a_key_rolls(bool announced) {
	follow_take_and_send(FOLLOW_PACKETS);
	next_key_set("{" NOW_KEY ", 'next_key': " NEXT_KEY ", 'next_iv': " NEXT_IV "}");
	if (announced)
		follow_learn();
	follow_take(FOLLOW_PACKETS); /* with the old key, under way */
	next_key_set("{'said': 1, 'cipher': 'aes-128', 'key': " NEXT_KEY ", 'iv': " NEXT_IV
		     ", 'key_sequence': 2}");
	rig_take(&follow_rig, follow_frames + FOLLOW_PACKETS, FOLLOW_PACKETS,
		 NULL); /* with the new one */
	assert_true(follow_count(FOLLOW_PACKETS, FOLLOW_PACKETS, 0) > 0);
	follow_send(0, 2 * FOLLOW_PACKETS);
	follow_learn();
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

TEST(an_announced_key_rolls) {
	a_key_rolls(true);
}

TEST(a_key_rolls_without_a_word) {
	a_key_rolls(false);
}

/* A modem goes and comes with another key, and then has the first one again, as where a file is read again. The traffic,
 * which does not know the last of these, decrypts frames as those of before. They are for the modem of now. */
TEST(a_key_comes_back) {
	json_t *modems, *modem;

	follow_take_and_send(FOLLOW_PACKETS);
	modems = json_object_get(fake_server_begin(&follow_server), "modems");
	modem = json_incref(json_array_get(modems, 0));
	json_array_remove(modems, 0);
	follow_change_end();
	modems = json_object_get(fake_server_begin(&follow_server), "modems");
	follow_set_json(modem, "security",
			"{'said': 1, 'cipher': 'aes-128', 'key': " NEXT_KEY ", 'iv': " NEXT_IV
			", 'key_sequence': 2}");
	json_array_insert_new(modems, 0, modem);
	follow_change_end();
	for (int i = 0; i < 4; i++)
		follow_learn();
	memset(follow_rig.numbers[0], 0, sizeof(follow_rig.numbers[0]));
	next_key_set("{" NOW_KEY "}");
	follow_take_and_send(FOLLOW_PACKETS);
	assert_true(follow_count(0, FOLLOW_PACKETS, 0) > 0);
	follow_learn();
	follow_judge();
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* Flows get other DSIDs and priorities, and a classifier leads elsewhere. */
TEST(flows_differ) {
	json_t *config;

	follow_take_and_send(FOLLOW_PACKETS);
	config = fake_server_begin(&follow_server);
	follow_set_json(
		follow_modem(config, 0), "service_flows",
		"[{'id': 1, 'priority': 3, 'dsid': 17, 'buffer': '512 kB'}, {'id': 2, 'priority': "
		"5, "
		"'dsid': 2, 'buffer': '512 kB'}, {'id': 7, 'dsid': 33, 'buffer': '512 kB'}]");
	follow_set_json(
		follow_modem(config, 0), "classifiers",
		"[{'family': 'ipv4', 'protocol': 'udp', 'destination_ports': 5004, 'service_flow': "
		"7}, {'family': 'ipv6', 'tos': '0xb8/0xfc', 'service_flow': 2}]");
	follow_change_end();
	follow_rig.numbers[0][0] = 60000; /* another DSID's, far from those of the one before */
	follow_take_and_send(2 * FOLLOW_PACKETS);
	assert_true(follow_rig.traffic->downlink->follow->frames.count > 0);
	follow_learn();
	assert_int_equal(follow_rig.traffic->downlink->follow->frames.count, 0);
	follow_take_and_send(2 * FOLLOW_PACKETS);
	follow_all_proven();
}

static void last_dsid(struct docsis_down_header *h) {
	h->dsid = 33;
	h->priority = 0;
}

/* A packet comes with the DSID of another flow, which the modem did not have before it changed. */
TEST(a_frame_of_a_flow_that_came_is_corrupted) {
	static const struct rig_fault fault = {.header = last_dsid};
	struct traffic_result r;
	json_t *config;

	follow_take_and_send(FOLLOW_PACKETS);
	config = fake_server_begin(&follow_server);
	follow_set_json(
		follow_modem(config, 0), "service_flows",
		"[{'id': 1, 'priority': 0, 'dsid': 1, 'buffer': '512 kB'}, {'id': 2, 'priority': "
		"5, 'dsid': 2, 'buffer': '512 kB'}, {'id': 7, 'dsid': 33, 'buffer': '512 kB'}]");
	follow_change_end();
	follow_learn();
	rig_take(&follow_rig, follow_frames, FOLLOW_PACKETS, &fault);
	follow_send(0, FOLLOW_PACKETS);
	follow_judge();
	r = follow_finish((struct rig_wrong){.corrupted = 1});
	assert_int_equal(r.corrupted_by[CORRUPTION_STREAM], 1);
}

/* A flow moves to a channel that nobody knew. */
TEST(a_channel_comes) {
	json_t *config, *holder = json_object();

	config = fake_server_begin(&follow_server);
	follow_set_json(
		holder, "channel",
		"{'id': 9, 'type': 'sc-qam', 'rate': '42.24 Mbps', 'session': 65545, 'pseudowire': "
		"'psp-legacy', 'psp_extra': 'none', 'profile': 0}");
	follow_set_json(holder, "groups",
			"[{'id': '1', 'channels': [1, 2]}, {'id': '2', 'channels': [9]}]");
	/* In the place of the third, as the rig sends the second modem's frames there. */
	json_array_set(json_object_get(config, "channels"), 2, json_object_get(holder, "channel"));
	json_object_set(config, "bonding_groups", json_object_get(holder, "groups"));
	json_decref(holder);
	follow_change_end();
	follow_take_and_send(FOLLOW_PACKETS);
	assert_true(follow_rig.traffic->downlink->follow->depi.count > 0);
	follow_learn();
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* Nothing that the server says explains these frames. */
TEST(what_nothing_explains_is_corrupted) {
	struct traffic_result r;
	unsigned wrong;

	follow_take(FOLLOW_PACKETS);
	wrong = follow_count(0, FOLLOW_PACKETS, 1);
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++)
		follow_frames[i].channel =
			follow_frames[i].modem == 1 ? 0 : follow_frames[i].channel;
	follow_send(0, FOLLOW_PACKETS);
	assert_int_equal(follow_rig.traffic->downlink->follow->frames.count, wrong);
	follow_judge();
	traffic_receive(follow_rig.traffic);
	assert_int_equal(follow_rig.traffic->downlink->follow->frames.count, 0);
	r = follow_finish((struct rig_wrong){.corrupted = wrong});
	assert_int_equal(r.corrupted_by[CORRUPTION_CHANNEL], wrong);
}

EACH_TEST(follow_begin, follow_end)
ALL_TESTS(follow_open_rig, follow_close_rig)

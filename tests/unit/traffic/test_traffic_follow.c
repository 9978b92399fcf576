/* SPDX-License-Identifier: BSD-3-Clause */
/* The downstream of a server that changes: what comes and goes, while packets are under way. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "fake_server.h"
#include "follow/follow.h"
#include "model/server_config.h"
#include "test.h"
#include "traffic_group.h"
#include "traffic_rig_json.h"

#define PACKETS 96

static struct rig_frame frames[8 * PACKETS];
static struct fake_server server;
static struct follow follow;

static char *rig_json(void) {
	char *text = strdup(rig_config_json);

	for (char *p = text; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	return text;
}

/* What the rig does from now on is what the server's configuration says. */
static void rig_obey(void) {
	char *text = json_dumps(server.config, 0);
	struct server_config config;

	assert_int_equal(server_config_load_text("test", text, strlen(text), NULL, NULL, &config,
						 stderr),
			 0);
	rig_become(&rig, &config.groups[0]);
	free(config.groups);
	free(text);
}

static json_t *modem_of(json_t *config, size_t index) {
	return json_array_get(json_object_get(config, "modems"), index);
}

/* The server takes what is `text`, with single quotes, into the object. */
static void set(json_t *object, const char *key, const char *text) {
	char *quoted = strdup(text);

	for (char *p = quoted; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	assert_int_equal(json_object_set_new(object, key, json_loads(quoted, JSON_DECODE_ANY, NULL)),
			 0);
	free(quoted);
}

static void change_end(void) {
	fake_server_end(&server);
	rig_obey();
}

/* The traffic learns what the server is, and takes it. */
static void learn(void) {
	struct rte_mbuf *packets[32];
	uint16_t n;

	follow_look(&follow);
	traffic_change_round(rig.traffic, rte_rdtsc());
	n = rte_eth_rx_burst(rig.network[1], 0, packets, 32);
	assert_int_equal(n, 0);
}

static int begin(void **state) {
	char *text = rig_json();

	(void)state;
	fake_server_open(&server, text);
	free(text);
	rig_obey();
	rig.follows = true;
	rig.next_key = false;
	rig_start(&rig, "256", 1);
	rig_groups(&rig);
	assert_int_equal(
		follow_create(&follow, server.path, &rig.groups, &rig.sg, rte_get_tsc_hz()), 0);
	for (int i = 0; i < 4; i++)
		learn();
	return 0;
}

static struct traffic_result finish(void) {
	struct traffic_result r;

	traffic_stop(rig.traffic);
	while (traffic_receive(rig.traffic) > 0)
		;
	traffic_finish(rig.traffic);
	traffic_result(rig.traffic, &r);
	assert_int_equal(r.sent, r.proven + r.lost + r.sent_to_removed + r.corrupted);
	return r;
}

static int end(void **state) {
	(void)state;
	follow_free(&follow);
	traffic_free(rig.traffic);
	rig.traffic = NULL;
	fake_server_close(&server);
	assert_int_equal(rte_mempool_in_use_count(rig.crypto.ops), 0);
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	rig.follows = false;
	return 0;
}

static void send_frames(unsigned from, unsigned n) {
	for (unsigned i = from; i < from + n; i++)
		rig_send_frame(&rig, &frames[i]);
}

static unsigned count_of(unsigned from, unsigned n, uint32_t modem) {
	unsigned count = 0;

	for (unsigned i = from; i < from + n; i++)
		count += frames[i].size > 0 && frames[i].modem == modem;
	return count;
}

static void take_and_send(unsigned n) {
	rig_take(&rig, frames, n, NULL);
	send_frames(0, n);
}

static void assert_all_proven(const struct traffic_result *r) {
	assert_int_equal(r->proven, r->sent);
	assert_true(traffic_result_good(r));
	for (int i = 0; i < UNEXPECTEDS; i++)
		assert_int_equal(r->unexpected[i], 0);
}

#define NEW_MODEM                                                                             \
	"{'mac': '02:01:00:00:00:04', 'addresses': ['10.0.0.4'], 'cpe_limit': 4, "           \
	"'filter_groups': [1], 'bonding_group': 1, 'security': {'said': 4, 'cipher': "       \
	"'aes-128', 'key': '4f0e0d0c0b0a09080706050403020100', 'iv': "                       \
	"'101112131415161718191a1b1c1d1e1f', 'key_sequence': 7}, 'service_flows': [{'id': " \
	"9, 'priority': 0, 'dsid': 9, 'buffer': '512 kB'}]}"

static void modem_add(void) {
	json_t *modems = json_object_get(fake_server_begin(&server), "modems");
	json_t *holder = json_object();

	set(holder, "modem", NEW_MODEM);
	json_array_append(modems, json_object_get(holder, "modem"));
	json_decref(holder);
	memset(rig.numbers[3], 0, sizeof(rig.numbers[3]));
	change_end();
}

static void modem_remove_last(void) {
	json_t *modems = json_object_get(fake_server_begin(&server), "modems");

	json_array_remove(modems, json_array_size(modems) - 1);
	change_end();
}

static void a_modem_that_comes_is_proven_from_its_first_packet(void **state) {
	struct traffic_result r;

	(void)state;
	take_and_send(PACKETS);
	modem_add();
	learn();
	assert_int_equal(follow.changes, 1);
	rig_take(&rig, frames, 4 * PACKETS, NULL);
	send_frames(0, 4 * PACKETS);
	/* Five addresses, of which it has one. */
	assert_in_range(count_of(0, 4 * PACKETS, 3), 4 * PACKETS / 8, 4 * PACKETS / 3);
	r = finish();
	assert_all_proven(&r);
	assert_int_equal(r.sent, 5 * PACKETS);
}

static void what_is_sent_to_a_removed_modem_is_told(void **state) {
	struct traffic_result r;

	(void)state;
	take_and_send(PACKETS);
	modem_remove_last();
	take_and_send(PACKETS); /* the traffic does not know yet */
	assert_true(rig.unknown > 0);
	learn();
	take_and_send(2 * PACKETS);
	r = finish();
	assert_int_equal(r.sent_to_removed, rig.unknown);
	assert_int_equal(r.lost, 0);
	assert_int_equal(r.proven, r.sent - rig.unknown);
	assert_true(traffic_result_good(&r));
}

/* What is lost of other modems in the meantime is lost. */
static void losses_of_others_are_losses(void **state) {
	struct traffic_result r;
	unsigned victims = 0;

	(void)state;
	modem_remove_last();
	rig_take(&rig, frames, PACKETS, NULL);
	for (unsigned i = 0; i < PACKETS; i++) {
		if (frames[i].modem == 0 && frames[i].size > 0 && victims < 3)
			victims++;
		else
			rig_send_frame(&rig, &frames[i]);
	}
	learn();
	r = finish();
	assert_int_equal(r.lost, victims);
	assert_int_equal(r.sent_to_removed, rig.unknown);
	assert_false(traffic_result_good(&r));
}

/* What was lost long before the modem went was not sent to a removed modem. */
static void earlier_losses_are_losses(void **state) {
	struct traffic_result r;

	(void)state;
	rig_take(&rig, frames, PACKETS, NULL);
	for (unsigned i = 0; i < PACKETS; i++) {
		if (i > 0 || frames[i].modem != 2)
			rig_send_frame(&rig, &frames[i]);
	}
	rig_take(&rig, frames, PACKETS, NULL);
	for (unsigned i = 0, lost = 0; i < PACKETS; i++) {
		if (frames[i].modem == 2 && lost < 2)
			lost++;
		else
			rig_send_frame(&rig, &frames[i]);
	}
	/* Modems wait for the missing ones no longer. */
	resequencers_flush(&rig.traffic->downlink->resequencers, rte_rdtsc());
	for (int i = 0; i < 4; i++)
		learn();
	modem_remove_last();
	take_and_send(PACKETS);
	learn();
	r = finish();
	assert_in_range(r.lost, 2, 3);
	assert_int_equal(r.sent_to_removed, rig.unknown);
}

static void what_is_under_way_to_a_removed_modem_is_proven(void **state) {
	struct traffic_result r;

	(void)state;
	rig_take(&rig, frames, PACKETS, NULL);
	modem_remove_last();
	assert_true(count_of(0, PACKETS, 2) > 0);
	learn();
	send_frames(0, PACKETS);
	rig_take(&rig, frames, PACKETS, NULL);
	assert_int_equal(rig.unknown, 0);
	send_frames(0, PACKETS);
	r = finish();
	assert_all_proven(&r);
}

/* After its time is over the modem is a stranger, and the tags of before are too. */
static void what_comes_much_later_is_lost(void **state) {
	struct traffic_result r;
	unsigned late;

	(void)state;
	rig.traffic->downlink->follow->keep = 0;
	rig_take(&rig, frames, PACKETS, NULL);
	late = count_of(0, PACKETS, 2);
	modem_remove_last();
	learn();
	traffic_receive(rig.traffic);
	follow_look(&follow); /* frees the change */
	assert_null(follow.groups[0].given);
	send_frames(0, PACKETS);
	r = finish();
	assert_int_equal(r.corrupted_by[CORRUPTION_DESTINATION], late);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], PACKETS - late);
}

static void an_address_moves_to_another_modem(void **state) {
	struct traffic_result r;
	json_t *config;

	(void)state;
	take_and_send(PACKETS);
	config = fake_server_begin(&server);
	set(modem_of(config, 1), "addresses", "['10.0.0.9']");
	set(modem_of(config, 2), "addresses", "['10.0.0.3', '10.0.0.2']");
	change_end();
	take_and_send(PACKETS); /* those to 10.0.0.2 come to the other modem */
	learn();
	take_and_send(2 * PACKETS);
	assert_true(count_of(0, 2 * PACKETS, 1) > 0);
	r = finish();
	assert_all_proven(&r);
}

static void next_key_set(const char *security) {
	set(modem_of(fake_server_begin(&server), 0), "security", security);
	change_end();
}

#define NOW_KEY                                                                                 \
	"'said': 1, 'cipher': 'aes-128', 'key': '000102030405060708090a0b0c0d0e0f', 'iv': "   \
	"'101112131415161718191a1b1c1d1e1f', 'key_sequence': 1"
#define NEXT_IV "'5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a'"
#define NEXT_KEY "'77010000000000000000000000000000'"

/* Installed, used, and the old one removed. */
static void a_key_rolls(bool announced) {
	struct traffic_result r;

	take_and_send(PACKETS);
	next_key_set("{" NOW_KEY ", 'next_key': " NEXT_KEY ", 'next_iv': " NEXT_IV "}");
	if (announced)
		learn();
	rig_take(&rig, frames, PACKETS, NULL); /* with the old key, under way */
	next_key_set("{'said': 1, 'cipher': 'aes-128', 'key': " NEXT_KEY ", 'iv': " NEXT_IV
		     ", 'key_sequence': 2}");
	rig_take(&rig, frames + PACKETS, PACKETS, NULL); /* with the new one */
	assert_true(count_of(PACKETS, PACKETS, 0) > 0);
	send_frames(0, 2 * PACKETS);
	learn();
	take_and_send(PACKETS);
	r = finish();
	assert_all_proven(&r);
	assert_int_equal(r.sent, 4 * PACKETS);
}

static void an_announced_key_rolls(void **state) {
	(void)state;
	a_key_rolls(true);
}

static void a_key_rolls_without_a_word(void **state) {
	(void)state;
	a_key_rolls(false);
}

/* Flows get other DSIDs and priorities, and a classifier leads elsewhere. */
static void flows_differ(void **state) {
	struct traffic_result r;
	json_t *config;

	(void)state;
	take_and_send(PACKETS);
	config = fake_server_begin(&server);
	set(modem_of(config, 0), "service_flows",
	    "[{'id': 1, 'priority': 3, 'dsid': 17, 'buffer': '512 kB'}, {'id': 2, 'priority': 5, "
	    "'dsid': 2, 'buffer': '512 kB'}, {'id': 7, 'dsid': 33, 'buffer': '512 kB'}]");
	set(modem_of(config, 0), "classifiers",
	    "[{'family': 'ipv4', 'protocol': 'udp', 'destination_ports': 5004, 'service_flow': "
	    "7}, {'family': 'ipv6', 'tos': '0xb8/0xfc', 'service_flow': 2}]");
	change_end();
	take_and_send(2 * PACKETS);
	assert_true(rig.traffic->downlink->follow->frames.count > 0);
	learn();
	assert_int_equal(rig.traffic->downlink->follow->frames.count, 0);
	take_and_send(2 * PACKETS);
	r = finish();
	assert_all_proven(&r);
}

/* A flow moves to a channel that nobody knew. */
static void a_channel_comes(void **state) {
	struct traffic_result r;
	json_t *config, *holder = json_object();

	(void)state;
	config = fake_server_begin(&server);
	set(holder, "channel",
	    "{'id': 9, 'type': 'sc-qam', 'rate': '42.24 Mbps', 'session': 65545, 'pseudowire': "
	    "'psp-legacy', 'psp_extra': 'none', 'profile': 0}");
	set(holder, "groups",
	    "[{'id': 1, 'channels': [1, 2]}, {'id': 2, 'channels': [9]}]");
	/* In the place of the third, as the rig sends the second modem's frames there. */
	json_array_set(json_object_get(config, "channels"), 2, json_object_get(holder, "channel"));
	json_object_set(config, "bonding_groups", json_object_get(holder, "groups"));
	json_decref(holder);
	change_end();
	take_and_send(PACKETS);
	assert_true(rig.traffic->downlink->follow->depi.count > 0);
	learn();
	take_and_send(PACKETS);
	r = finish();
	assert_all_proven(&r);
}

/* Nothing that the server says explains these frames. */
static void what_nothing_explains_is_corrupted(void **state) {
	struct traffic_result r;
	unsigned wrong;

	(void)state;
	rig_take(&rig, frames, PACKETS, NULL);
	wrong = count_of(0, PACKETS, 1);
	for (unsigned i = 0; i < PACKETS; i++)
		frames[i].channel = frames[i].modem == 1 ? 0 : frames[i].channel;
	send_frames(0, PACKETS);
	assert_int_equal(rig.traffic->downlink->follow->frames.count, wrong);
	learn();
	traffic_receive(rig.traffic);
	assert_int_equal(rig.traffic->downlink->follow->frames.count, 0);
	r = finish();
	assert_int_equal(r.corrupted_by[CORRUPTION_CHANNEL], wrong);
	assert_int_equal(r.proven, PACKETS - wrong);
}

/* All of its modems go with it; what was made before is proven, and others may come. */
static void all_modems_go(void **state) {
	struct traffic_result r;
	json_t *config;

	(void)state;
	rig_take(&rig, frames, PACKETS, NULL);
	config = fake_server_begin(&server);
	json_object_set_new(config, "service_group", json_integer(2)); /* this one is gone */
	fake_server_end(&server);
	learn();
	assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), 0);
	send_frames(0, PACKETS);
	config = fake_server_begin(&server);
	json_object_set_new(config, "service_group", json_integer(1));
	fake_server_end(&server);
	learn();
	memset(rig.numbers, 0, sizeof(rig.numbers)); /* the server's flows are others */
	take_and_send(PACKETS);
	r = finish();
	assert_all_proven(&r);
	assert_int_equal(r.sent, 2 * PACKETS);
}

/* Modems come and go all the time, and numbers of streams are given again. */
static void changes_go_on(void **state) {
	struct traffic_result r;

	(void)state;
	rig.traffic->downlink->follow->keep = 0;
	follow.groups[0].downstream.numbers.rest = 0;
	for (int i = 0; i < 100; i++) {
		modem_add();
		learn();
		take_and_send(PACKETS);
		assert_true(count_of(0, PACKETS, 3) > 0);
		modem_remove_last();
		learn();
		take_and_send(PACKETS / 3);
		traffic_receive(rig.traffic);
	}
	r = finish();
	assert_all_proven(&r);
	assert_int_equal(follow.changes, 200);
}

/* A server that is silent or talks nonsense costs nothing but its changes. */
static void a_rude_server_is_borne(void **state) {
	struct traffic_result r;

	(void)state;
	server.rude = true;
	learn();
	take_and_send(PACKETS);
	server.rude = false;
	modem_add();
	learn();
	take_and_send(PACKETS);
	assert_true(count_of(0, PACKETS, 3) > 0);
	r = finish();
	assert_all_proven(&r);
}

static void what_is_the_same_is_asked_for_once(void **state) {
	(void)state;
	assert_int_equal(server.asked, 1);
	modem_add();
	for (int i = 0; i < 5; i++)
		learn();
	assert_int_equal(server.asked, 2);
	take_and_send(PACKETS);
	finish();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
	const struct CMUnitTest tests[] = {
		TEST(a_modem_that_comes_is_proven_from_its_first_packet),
		TEST(what_is_sent_to_a_removed_modem_is_told),
		TEST(losses_of_others_are_losses),
		TEST(earlier_losses_are_losses),
		TEST(what_is_under_way_to_a_removed_modem_is_proven),
		TEST(what_comes_much_later_is_lost),
		TEST(an_address_moves_to_another_modem),
		TEST(an_announced_key_rolls),
		TEST(a_key_rolls_without_a_word),
		TEST(flows_differ),
		TEST(a_channel_comes),
		TEST(what_nothing_explains_is_corrupted),
		TEST(all_modems_go),
		TEST(changes_go_on),
		TEST(a_rude_server_is_borne),
		TEST(what_is_the_same_is_asked_for_once),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}

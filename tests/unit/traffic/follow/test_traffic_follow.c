/* SPDX-License-Identifier: BSD-3-Clause */
/* The downstream of a server that changes: modems that come and go while packets are under way. */
#include <rte_cycles.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "follow_rig.h"
#include "test_main.h"

TEST(a_modem_that_comes_is_proven_from_its_first_packet) {
	follow_take_and_send(FOLLOW_PACKETS);
	follow_modem_add();
	follow_learn();
	assert_int_equal(following.changes, 1);
	follow_look(&following, 0); /* it has taken the change */
	assert_int_equal(following.times.behind->total_count, 1);
	assert_int_equal(following.times.applied_at, 0);
	assert_true(follow_rig.traffic->take_longest > 0);
	follow_take(4 * FOLLOW_PACKETS);
	follow_send(0, 4 * FOLLOW_PACKETS);
	/* Five addresses, of which it has one. */
	assert_in_range(follow_count(0, 4 * FOLLOW_PACKETS, 3), 4 * FOLLOW_PACKETS / 8,
			4 * FOLLOW_PACKETS / 3);
	follow_all_proven();
}

TEST(what_is_sent_to_a_removed_modem_is_told) {
	follow_take_and_send(FOLLOW_PACKETS);
	follow_modem_remove();
	follow_take_and_send(FOLLOW_PACKETS); /* the traffic does not know yet */
	assert_true(follow_rig.unknown > 0);
	follow_learn();
	follow_take_and_send(2 * FOLLOW_PACKETS);
	follow_finish((struct rig_wrong){.overtaken = follow_rig.unknown});
}

/* What is lost of other modems in the meantime is lost. */
TEST(losses_of_others_are_losses) {
	unsigned victims = 0;

	follow_modem_remove();
	follow_take(FOLLOW_PACKETS);
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++) {
		if (follow_frames[i].modem == 0 && follow_frames[i].size > 0 && victims < 3)
			victims++;
		else
			rig_send_frame(&follow_rig, &follow_frames[i]);
	}
	follow_learn();
	follow_finish((struct rig_wrong){.lost = victims, .overtaken = follow_rig.unknown});
}

/* What was lost long before the modem went was not sent to a removed modem. */
TEST(earlier_losses_are_losses) {
	struct traffic_result r;

	follow_take(FOLLOW_PACKETS);
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++) {
		if (i > 0 || follow_frames[i].modem != 2)
			rig_send_frame(&follow_rig, &follow_frames[i]);
	}
	follow_take(FOLLOW_PACKETS);
	for (unsigned i = 0, lost = 0; i < FOLLOW_PACKETS; i++) {
		if (follow_frames[i].modem == 2 && lost < 2)
			lost++;
		else
			rig_send_frame(&follow_rig, &follow_frames[i]);
	}
	/* Modems wait for the missing ones no longer. */
	resequencers_flush(&follow_rig.traffic->downlink->resequencers, rte_rdtsc());
	for (int i = 0; i < 4; i++)
		follow_learn();
	follow_take_and_send(FOLLOW_PACKETS); /* behind the look that counts */
	follow_modem_remove();
	follow_take_and_send(FOLLOW_PACKETS);
	follow_learn();
	r = rig_result(&follow_rig);
	assert_in_range(r.lost, 2, 3);
	assert_int_equal(r.overtaken, follow_rig.unknown);
}

TEST(what_is_under_way_to_a_removed_modem_is_proven) {
	follow_take(FOLLOW_PACKETS);
	follow_modem_remove();
	assert_true(follow_count(0, FOLLOW_PACKETS, 2) > 0);
	follow_learn();
	follow_send(0, FOLLOW_PACKETS);
	follow_take(FOLLOW_PACKETS);
	assert_int_equal(follow_rig.unknown, 0);
	follow_send(0, FOLLOW_PACKETS);
	follow_all_proven();
}

/* After its time is over the modem is a stranger, and the tags of before are too. */
TEST(what_comes_much_later_is_lost) {
	struct traffic_result r;
	unsigned late;

	follow_rig.traffic->downlink->follow->keep = 0;
	follow_take(FOLLOW_PACKETS);
	late = follow_count(0, FOLLOW_PACKETS, 2);
	follow_modem_remove();
	follow_learn();
	traffic_receive(follow_rig.traffic);
	follow_look(&following, 0); /* frees the change */
	assert_null(following.groups[0].given);
	follow_send(0, FOLLOW_PACKETS);
	r = rig_result(&follow_rig);
	assert_int_equal(r.corrupted_by[CORRUPTION_DESTINATION], late);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], FOLLOW_PACKETS - late);
}

/* All of its modems go with it; what was made before is proven, and others may come. */
TEST(all_modems_go) {
	json_t *config;

	follow_take(FOLLOW_PACKETS);
	config = fake_server_begin(&follow_server);
	json_object_set_new(config, "service_group", json_string("2")); /* this one is gone */
	fake_server_end(&follow_server);
	follow_learn();
	assert_int_equal(traffic_send(follow_rig.traffic, rte_rdtsc()), 0);
	follow_send(0, FOLLOW_PACKETS);
	config = fake_server_begin(&follow_server);
	json_object_set_new(config, "service_group", json_string("1"));
	fake_server_end(&follow_server);
	follow_learn();
	memset(follow_rig.numbers, 0,
	       sizeof(follow_rig.numbers)); /* the server's flows are others */
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* A server that is silent or talks nonsense costs nothing but its changes. */
TEST(a_rude_server_is_borne) {
	follow_server.rude = true;
	server_link_close(&following.link);
	for (int i = 0; i < 3; i++) {
		following.retry_at = 0;
		follow_learn();
	}
	assert_false(following.joined);
	follow_take_and_send(FOLLOW_PACKETS);
	follow_server.rude = false;
	follow_modem_add();
	following.retry_at = 0;
	follow_learn();
	assert_true(following.joined);
	follow_take_and_send(FOLLOW_PACKETS);
	assert_true(follow_count(0, FOLLOW_PACKETS, 3) > 0);
	follow_all_proven();
}

/* Two modems swap their addresses: no order of single objects does that, but the configuration tells. */
TEST(what_events_cannot_tell_the_configuration_does) {
	json_t *config;

	follow_take_and_send(FOLLOW_PACKETS);
	config = fake_server_begin(&follow_server);
	follow_set_json(follow_modem(config, 1), "addresses", "['10.0.0.3']");
	follow_set_json(follow_modem(config, 2), "addresses", "['10.0.0.2']");
	follow_change_end();
	follow_learn();
	assert_int_equal(follow_server.asked, 2);
	follow_take_and_send(FOLLOW_PACKETS);
	follow_all_proven();
}

/* A client that reads too slowly is told so, and asks for the configuration. */
TEST(missed_events_are_made_up_for) {
	follow_take_and_send(FOLLOW_PACKETS);
	follow_server.slow = true;
	follow_modem_add();
	follow_server.slow = false;
	follow_learn();
	assert_int_equal(follow_server.asked, 2);
	follow_take_and_send(FOLLOW_PACKETS);
	assert_true(follow_count(0, FOLLOW_PACKETS, 3) > 0);
	follow_modem_remove(); /* by an event again */
	follow_learn();
	assert_int_equal(follow_server.asked, 2);
	follow_take_and_send(FOLLOW_PACKETS);
	assert_int_equal(follow_rig.unknown, 0);
	follow_all_proven();
}

/* Nothing is sent to a modem before the server has applied it. */
TEST(a_change_that_is_prepared_is_no_change_yet) {
	fake_server_begin(&follow_server);
	json_array_remove(json_object_get(follow_server.config, "modems"), 2);
	fake_server_prepare(&follow_server);
	follow_learn();
	assert_int_equal(following.changes, 0);
	follow_take_and_send(FOLLOW_PACKETS);
	fake_server_apply(&follow_server);
	pthread_mutex_unlock(&follow_server.lock);
	follow_learn();
	assert_int_equal(following.changes, 1);
	follow_take(FOLLOW_PACKETS);
	assert_int_equal(follow_count(0, FOLLOW_PACKETS, 2), 0);
	follow_send(0, FOLLOW_PACKETS);
	follow_all_proven();
}

/* A modem goes and comes again before the traffic looks: its flows begin anew at the server, and so they do here. */
TEST(a_modem_that_comes_again_begins_anew) {
	json_t *modems, *last;

	follow_take_and_send(2 * FOLLOW_PACKETS);
	modems = json_object_get(fake_server_begin(&follow_server), "modems");
	last = json_incref(json_array_get(modems, 0));
	json_array_remove(modems, 0);
	follow_change_end();
	modems = json_object_get(fake_server_begin(&follow_server), "modems");
	json_array_insert_new(modems, 0, last);
	follow_change_end();
	for (int i = 0; i < 4; i++)
		follow_learn();
	memset(follow_rig.numbers[0], 0, sizeof(follow_rig.numbers[0]));
	follow_take_and_send(2 * FOLLOW_PACKETS);
	follow_all_proven();
}

/* The server goes away, and comes back changed. */
TEST(a_server_that_comes_back_is_joined_again) {
	server_link_close(&following.link);
	follow_learn();
	assert_false(following.joined);
	follow_modem_add();
	for (int i = 0; i < 2000 && following.changes == 0; i++) {
		follow_look(&following, 1);
		follow_learn();
	}
	assert_int_equal(following.changes, 1);
	follow_take_and_send(FOLLOW_PACKETS);
	assert_true(follow_count(0, FOLLOW_PACKETS, 3) > 0);
	follow_all_proven();
}

EACH_TEST(follow_begin, follow_end)
ALL_TESTS(follow_open_rig, follow_close_rig)

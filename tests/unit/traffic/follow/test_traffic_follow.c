/* SPDX-License-Identifier: BSD-3-Clause */
/* The downstream of a server that changes: modems that come and go while packets are under way. */
#include <rte_cycles.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "follow_kit.h"
#include "test_main.h"

static void change_is_timed(unsigned n) {
	follow_look(&following, 0); /* it has taken the change */
	assert_int_equal(following.times.behind->total_count, 1);
	assert_int_equal(following.times.applied_at, 0);
	assert_true(rig.traffic->apply_longest > 0);
}

/* Five addresses, of which it has one. */
static void fourth_has_its_share(unsigned n) {
	assert_in_range(follow_count(3), n * FOLLOW_PACKETS / 8, n * FOLLOW_PACKETS / 3);
}

/* So many are lost of a modem's. */
static void lose(uint32_t modem, unsigned n) {
	follow_wrong.lost += n;
	for (unsigned i = 0; i < FOLLOW_PACKETS && n > 0; i++) {
		if (follow_frames[i].modem != modem || follow_frames[i].size == 0)
			continue;
		follow_frames[i].size = 0;
		n--;
	}
	assert_int_equal(n, 0);
}

static void lose_of_first(unsigned n) {
	lose(0, n);
}

static void lose_of_third(unsigned n) {
	lose(2, n);
}

static void third_has_none(unsigned n) {
	assert_int_equal(follow_count(2), 0);
}

static void changes_are(unsigned n) {
	assert_int_equal(following.changes, n);
}

static void asked_is(unsigned n) {
	assert_int_equal(follow_server.asked, n);
}

/* Modems wait for what is missing no longer. */
static void waiting_ends(unsigned n) {
	resequencers_flush(&rig.traffic->downlink->resequencers, rte_rdtsc());
}

/* All modems go with the group, or come with it. */
static void group_is(unsigned n) {
	json_t *config = follow_server.config;

	json_object_set_new(config, "service_group", json_string(n == 1 ? "1" : "2"));
	follow_tell(3 - n, "group", "removed", NULL);
	follow_tell(n, "group", "added", config);
	follow_change_end();
	follow_learn(1);
	if (n == 1) /* the server's flows are others */
		memset(rig.numbers, 0, sizeof(rig.numbers));
	else
		assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), 0);
}

static void talks_nonsense(unsigned n) {
	follow_server.rude = true;
	server_link_close(&following.link);
	for (int i = 0; i < 3; i++) {
		following.retry_at = 0;
		follow_learn(1);
	}
	assert_false(following.joined);
}

static void talks_sense(unsigned n) {
	follow_server.rude = false;
	follow_modem_add(0);
	following.retry_at = 0;
	follow_learn(1);
	assert_true(following.joined);
}

static void goes_away(unsigned n) {
	server_link_close(&following.link);
	follow_learn(1);
	assert_false(following.joined);
}

static void comes_back(unsigned n) {
	for (int i = 0; i < 2000 && following.changes == 0; i++) {
		follow_look(&following, 1);
		follow_learn(1);
	}
}

static void addresses_swap(unsigned n) {
	follow_set_json(follow_modem(1), "addresses", "['10.0.0.3']");
	follow_set_json(follow_modem(2), "addresses", "['10.0.0.2']");
	follow_tell_modem("changed", follow_modem(1));
	follow_modem_changed(2);
}

static void modem_add_unheard(unsigned n) {
	follow_server.slow = true;
	follow_modem_add(0);
	follow_server.slow = false;
}

/* Its flows begin at the server, and so they do here. */
static void stays_as_it_was(json_t *modem, unsigned n) {
}

static void first_goes_and_comes(unsigned n) {
	follow_first_again(stays_as_it_was, n);
	follow_learn(4);
	follow_numbers_restart(0);
}

static const struct follow_case cases[] = {
	{"a modem that comes is proven from its first packet",
	 {BOTH, MODEM_ADD, LEARN, DO(changes_are, 1), DO(change_is_timed), DO(follow_take, 4),
	  DO(fourth_has_its_share, 4), SEND}},
	/* The traffic does not know yet. */
	{"what is sent to a removed modem is told",
	 {BOTH, MODEM_REMOVE, BOTH, LEARN, DO(follow_both, 2)},
	 .strangers = true},
	{"what is lost of others in the meantime is lost",
	 {MODEM_REMOVE, TAKE, DO(lose_of_first, 3), SEND, LEARN},
	 .strangers = true},
	{"what was lost long before a modem went is lost",
	 {BOTH, TAKE, DO(lose_of_third, 2), SEND, DO(waiting_ends), DO(follow_learn, 4),
	  BOTH, /* behind the look that counts */
	  MODEM_REMOVE, BOTH, LEARN},
	 .strangers = true},
	{"what is under way to a removed modem is proven",
	 {TAKE, MODEM_REMOVE, DO(follow_has, 2), LEARN, SEND, BOTH}},
	/* What was made before is proven, and others may come. */
	{"all modems go", {TAKE, DO(group_is, 2), SEND, DO(group_is, 1), BOTH}},
	/* It costs nothing but its changes. */
	{"a rude server is borne",
	 {DO(talks_nonsense), BOTH, DO(talks_sense), TAKE, DO(follow_has, 3), SEND}},
	/* No order of single objects swaps two addresses. */
	{"what events cannot tell the configuration does",
	 {BOTH, DO(addresses_swap), LEARN, DO(asked_is, 2), BOTH}},
	/* A client that reads too slowly is told so, and asks for the configuration; once. */
	{"missed events are made up for",
	 {BOTH, DO(modem_add_unheard), LEARN, DO(asked_is, 2), TAKE, DO(follow_has, 3), SEND,
	  MODEM_REMOVE, LEARN, DO(asked_is, 2), BOTH}},
	{"a change that is prepared is no change yet",
	 {DO(follow_removal_prepared), LEARN, DO(changes_are, 0), BOTH, DO(follow_applied), LEARN,
	  DO(changes_are, 1), TAKE, DO(third_has_none), SEND}},
	{"a modem that goes and comes restarts",
	 {DO(follow_both, 2), DO(first_goes_and_comes), DO(follow_both, 2)}},
	{"a server that comes back changed is joined",
	 {DO(goes_away), MODEM_ADD, DO(comes_back), DO(changes_are, 1), TAKE, DO(follow_has, 3),
	  SEND}},
};

TEST(modems_come_and_go) {
	follow_play(state, cases, ARRAY_COUNT(cases));
}

/* After its time is over the modem is a stranger, and the tags of before are too. */
TEST(what_comes_much_later_is_lost) {
	struct traffic_result r;
	unsigned late;

	rig.traffic->downlink->follow->keep = 0;
	follow_take(1);
	late = follow_count(2);
	follow_modem_remove(0);
	follow_learn(1);
	traffic_receive(rig.traffic);
	follow_look(&following, 0); /* frees the change */
	assert_null(following.groups[0].offered);
	follow_send(0);
	r = rig_result(&rig);
	assert_int_equal(r.corrupted_by[CORRUPTION_DESTINATION], late);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], FOLLOW_PACKETS - late);
}

EACH_TEST(follow_begin, follow_end)
ALL_TESTS(rig_open, rig_close)

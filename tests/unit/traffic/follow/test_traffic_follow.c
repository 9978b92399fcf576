/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that downstream traffic follows a server whose modems are added and removed. */
#include <rte_cycles.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "follow_kit.h"
#include "test_main.h"

static void assert_change_time(unsigned n) {
	follow_step(&following, 0); /* the change is applied */
	assert_int_equal(following.times.behind->total_count, 1);
	assert_int_equal(following.times.applied_at, 0);
	assert_true(rig.traffic->apply_longest > 0);
}

/* The fourth modem has one of five addresses. */
static void assert_share_of_fourth(unsigned n) {
	assert_in_range(follow_count_frames(3), n * FOLLOW_PACKETS / 8, n * FOLLOW_PACKETS / 3);
}

static void drop_frames(uint32_t modem, unsigned n) {
	follow_errors.lost += n;
	for (unsigned i = 0; i < FOLLOW_PACKETS && n > 0; i++) {
		if (follow_frames[i].modem != modem || follow_frames[i].size == 0)
			continue;
		follow_frames[i].size = 0;
		n--;
	}
	assert_int_equal(n, 0);
}

static void drop_of_first(unsigned n) {
	drop_frames(0, n);
}

static void drop_of_third(unsigned n) {
	drop_frames(2, n);
}

static void assert_none_of_third(unsigned n) {
	assert_int_equal(follow_count_frames(2), 0);
}

static void assert_changes(unsigned n) {
	assert_int_equal(following.changes, n);
}

static void assert_config_requests(unsigned n) {
	assert_int_equal(follow_server.config_requests, n);
}

static void expire_reorder_timers(unsigned n) {
	resequencers_flush(&rig.traffic->downlink->resequencers, rte_rdtsc());
}

/* Replaces the group, with all modems, by one with ID `n`. */
static void replace_group(unsigned n) {
	json_t *config = follow_server.config;

	json_object_set_new(config, "service_group", json_string(n == 1 ? "1" : "2"));
	follow_add_event(3 - n, "group", "removed", NULL);
	follow_add_event(n, "group", "added", config);
	follow_commit_change();
	step_update(1);
	if (n == 1) /* new flows: numbers restart */
		memset(rig.sequences, 0, sizeof(rig.sequences));
	else
		assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), 0);
}

static void answer_invalid(unsigned n) {
	follow_server.answers_invalid = true;
	server_link_close(&following.link);
	for (int i = 0; i < 3; i++) {
		following.retry_at = 0;
		step_update(1);
	}
	assert_false(following.joined);
}

static void answer_valid(unsigned n) {
	follow_server.answers_invalid = false;
	step_add_modem(0);
	following.retry_at = 0;
	step_update(1);
	assert_true(following.joined);
}

static void close_link(unsigned n) {
	server_link_close(&following.link);
	step_update(1);
	assert_false(following.joined);
}

static void reconnect(unsigned n) {
	for (int i = 0; i < 2000 && following.changes == 0; i++) {
		follow_step(&following, 1);
		step_update(1);
	}
}

static void swap_addresses(unsigned n) {
	follow_set_json(follow_modem(1), "addresses", "['10.0.0.3']");
	follow_set_json(follow_modem(2), "addresses", "['10.0.0.2']");
	follow_add_modem_event("changed", follow_modem(1));
	follow_change_modem(2);
}

static void add_modem_with_lost_events(unsigned n) {
	follow_server.loses_events = true;
	step_add_modem(0);
	follow_server.loses_events = false;
}

static void edit_nothing(json_t *modem, unsigned n) {
}

static void remove_and_add_first(unsigned n) {
	follow_replace_first_modem(edit_nothing, n);
	step_update(4);
	step_restart_sequences(0);
}

static const struct follow_case cases[] = {
	{"an added modem is proven from its first packet",
	 {COLLECT_SEND, ADD_MODEM, UPDATE, DO(assert_changes, 1), DO(assert_change_time),
	  DO(step_collect, 4), DO(assert_share_of_fourth, 4), SEND}},
	/* sent before the traffic has read the change */
	{"packets to a removed modem are overtaken",
	 {COLLECT_SEND, REMOVE_MODEM, COLLECT_SEND, UPDATE, DO(step_collect_and_send, 2)},
	 .overtaken = true},
	{"losses of other modems are losses",
	 {REMOVE_MODEM, COLLECT, DO(drop_of_first, 3), SEND, UPDATE},
	 .overtaken = true},
	{"losses before the removal of a modem are losses",
	 {COLLECT_SEND, COLLECT, DO(drop_of_third, 2), SEND, DO(expire_reorder_timers),
	  DO(step_update, 4), COLLECT_SEND, /* after the update that marks the losses */
	  REMOVE_MODEM, COLLECT_SEND, UPDATE},
	 .overtaken = true},
	{"packets in flight to a removed modem are proven",
	 {COLLECT, REMOVE_MODEM, DO(step_assert_frames, 2), UPDATE, SEND, COLLECT_SEND}},
	/* packets made before are proven; modems may be added later */
	{"all modems are removed and added",
	 {COLLECT, DO(replace_group, 2), SEND, DO(replace_group, 1), COLLECT_SEND}},
	/* only its changes are not followed */
	{"a server with invalid answers",
	 {DO(answer_invalid), COLLECT_SEND, DO(answer_valid), COLLECT, DO(step_assert_frames, 3),
	  SEND}},
	/* two addresses cannot be swapped one object at a time */
	{"a change that events cannot describe",
	 {COLLECT_SEND, DO(swap_addresses), UPDATE, DO(assert_config_requests, 2), COLLECT_SEND}},
	/* after lost events the client requests the configuration, once */
	{"lost events",
	 {COLLECT_SEND, DO(add_modem_with_lost_events), UPDATE, DO(assert_config_requests, 2),
	  COLLECT, DO(step_assert_frames, 3), SEND, REMOVE_MODEM, UPDATE,
	  DO(assert_config_requests, 2), COLLECT_SEND}},
	{"a prepared change is not applied",
	 {DO(step_prepare_removal), UPDATE, DO(assert_changes, 0), COLLECT_SEND, DO(step_apply),
	  UPDATE, DO(assert_changes, 1), COLLECT, DO(assert_none_of_third), SEND}},
	{"a removed and added modem restarts",
	 {DO(step_collect_and_send, 2), DO(remove_and_add_first), DO(step_collect_and_send, 2)}},
	{"a reconnected server that has changed",
	 {DO(close_link), ADD_MODEM, DO(reconnect), DO(assert_changes, 1), COLLECT,
	  DO(step_assert_frames, 3), SEND}},
};

TEST(added_and_removed_modems_are_followed) {
	follow_run_cases(state, cases, ARRAY_COUNT(cases));
}

/* After the retention time, packets of a removed modem or earlier magic are unexpected. */
TEST(packets_after_retention_time_are_unexpected) {
	struct traffic_result r;
	unsigned late;

	rig.traffic->downlink->follow->keep = 0;
	step_collect(1);
	late = follow_count_frames(2);
	step_remove_modem(0);
	step_update(1);
	traffic_receive(rig.traffic);
	follow_step(&following, 0); /* frees the change */
	assert_null(following.groups[0].offered);
	step_send(0);
	r = rig_end_run(&rig);
	assert_int_equal(r.corrupted_by[CORRUPTION_DESTINATION], late);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], FOLLOW_PACKETS - late);
}

EACH_TEST(follow_set_up, follow_tear_down)
ALL_TESTS(rig_open, rig_close)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests downstream frames of changes that the traffic has not read yet: these are unresolved. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "fixture.h"
#include "follow_kit.h"
#include "test_main.h"

/* Key and IV of the first modem for a key generation; it starts with 1. */
static void format_key(unsigned number, char key[33], char iv[33]) {
	snprintf(key, 33, "%02x0102030405060708090a0b0c0d0e0f", number == 1 ? 0 : number);
	snprintf(iv, 33, "%02x1112131415161718191a1b1c1d1e1f", 0xf + number);
}

/* Sets a modem's key generation, and with `next` also the following one. */
static void set_key(json_t *modem, unsigned number, bool next) {
	char key[33], iv[33], text[400];
	int size;

	format_key(number, key, iv);
	size = snprintf(
		text, sizeof(text),
		"{'said': 1, 'cipher': 'aes-128', 'key': '%s', 'iv': '%s', 'key_sequence': %u", key,
		iv, number % 16);
	format_key(number + 1, key, iv);
	snprintf(text + size, sizeof(text) - (size_t)size,
		 next ? ", 'next_key': '%s', 'next_iv': '%s'}" : "}", key, iv);
	follow_set_json(modem, "security", text);
}

static void change_key(unsigned number, bool next) {
	json_t *modem = follow_modem(0);

	set_key(modem, number, next);
	follow_add_event(1, "key", "changed", json_object_get(modem, "security"));
	follow_commit_change();
}

static void use_key(unsigned number) {
	change_key(number, false);
}

static void use_key_and_next(unsigned number) {
	change_key(number, true);
}

static void change_modem_and_keys(unsigned number) {
	set_key(follow_modem(0), number, true);
	follow_set_json(follow_modem(0), "cpe_limit", "'5'");
	follow_change_modem(0);
}

static void edit_key(json_t *modem, unsigned number) {
	set_key(modem, number, false);
}

static void replace_first_with_key(unsigned number) {
	follow_replace_first_modem(edit_key, number);
	step_update(4);
	step_restart_sequences(0);
}

/* Key sequence numbers wrap after 15. Frames of each generation arrive when the next is in use. */
static void roll_keys(unsigned n) {
	uint32_t magic = rig.traffic->downlink->generator->magic;

	for (unsigned number = 1; number <= n; number++) {
		use_key_and_next(number);
		step_update(1);
		step_collect(1);
		use_key(number + 1);
		step_update(1);
		step_send(0);
	}
	assert_int_equal(rig.traffic->downlink->generator->magic, magic); /* no new generation */
}

/* Expects the collected frames of modem 0 to be undecipherable. */
static void expect_undecipherable(unsigned n) {
	step_assert_frames(0);
	follow_errors.undecipherable += follow_count_frames(0);
}

static void set_retention_ms(unsigned n) {
	rig.traffic->downlink->follow->keep = rte_get_tsc_hz() / 1000 * n;
}

static void expire_retention(unsigned n) {
	rte_delay_us_block(n * 2000);
	for (int i = 0; i < 4; i++)
		traffic_receive(rig.traffic);
	assert_null(rig.traffic->downlink->follow->oldest);
}

static void delay_answers(unsigned n) {
	follow_server.busy = true;
}

static void answer_request(unsigned n) {
	follow_answer_info();
}

/* Changes the rig without the server. */
static void set_rig_key_number(unsigned n) {
	rig.sg.modems[0].security.key_sequence = (uint8_t)n;
}

/* For `n` rounds, asserts that all faulty frames stay unresolved, with one server.info request. */
static void assert_faulty_unresolved(unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		follow_step(&following, 1);
		traffic_receive(rig.traffic);
	}
	assert_int_equal(rig.traffic->downlink->follow->frames.count,
			 follow_errors.undecipherable + follow_errors.corrupted);
	assert_in_range(follow_server.info_requests, 0, 1);
}

/* Prepares a change of the key sequence number of the first modem's key. */
static void prepare_key_number(unsigned n) {
	json_t *security = json_object_get(follow_modem(0), "security");

	json_object_set_new(security, "key_sequence", json_integer(n));
	follow_add_event(1, "key", "changed", security);
	follow_prepare_change();
}

static bool round_applies_change(void) {
	traffic_change_round(rig.traffic, rte_rdtsc());
	return traffic_applied(rig.traffic);
}

/* Puts frames into the port before the server sends a change. The change must apply after these. */
static void change_after_frames_in_port(unsigned n) {
	uint8_t depi[RIG_MTU + 14];

	rig_collect(&rig, follow_frames, n, NULL);
	for (unsigned i = 0; i < n; i++) {
		const struct rig_frame *f = &follow_frames[i];
		struct rig_segment whole = {f->bytes, f->size, true, true};
		size_t size = rig_build_depi(&rig, f->channel, &whole, 1, depi);
		struct rte_mbuf *m = fixture_packet_create(rig.pool, depi, size);

		assert_int_equal(rte_eth_tx_burst(rig.rphy[1], 0, &m, 1), 1);
	}
	use_key_and_next(2); /* the third generation replaces the first at once */
	follow_step(&following, 0);
	assert_int_equal(following.changes, 2);
	assert_false(round_applies_change());
	traffic_receive(rig.traffic); /* a full burst: the port may have more */
	assert_false(round_applies_change());
	traffic_receive(rig.traffic);
	assert_true(round_applies_change());
}

static void keep_port_busy(unsigned n) {
	unsigned rounds = 1;

	follow_step(&following, 0);
	while (!round_applies_change() && rounds < 1000)
		rounds++;
	assert_in_range(rounds, 32, n);
}

static void assert_tables_freed(unsigned n) {
	struct downlink *d = rig.traffic->downlink;

	assert_non_null(d->generator->past->older);
	assert_non_null(d->modems.older->older);
	d->follow->oldest->until = 0;
	traffic_receive(rig.traffic);
	assert_false(d->follow->oldest->tables);
	assert_null(d->generator->past->older);
	assert_null(d->modems.older->older);
}

/* Sets the first modem's flows: the first to `first`, and a third one. */
static void set_flows(const char *first) {
	char text[256];

	snprintf(text, sizeof(text),
		 "[{'id': 1, %s, 'buffer': '512 kB'}, "
		 "{'id': 2, 'priority': 5, 'dsid': 2, 'buffer': '512 kB'}, "
		 "{'id': 7, 'dsid': 33, 'buffer': '512 kB'}]",
		 first);
	follow_set_json(follow_modem(0), "service_flows", text);
	follow_change_modem(0);
}

/* Changes DSIDs, priorities and the flow of a classifier. */
static void change_flows(unsigned n) {
	follow_set_json(
		follow_modem(0), "classifiers",
		"[{'family': 'ipv4', 'protocol': 'udp', 'destination_ports': 5004, 'service_flow': "
		"7}, {'family': 'ipv6', 'tos': '0xb8/0xfc', 'service_flow': 2}]");
	set_flows("'priority': 3, 'dsid': 17");
	rig.sequences[0][0] = 60000; /* new DSID with other numbers */
}

static void add_flow(unsigned n) {
	set_flows("'priority': 0, 'dsid': 1");
}

static void use_third_dsid(struct docsis_down_header *h) {
	h->dsid = 33;
	h->priority = 0;
}

/* Sends a packet with the DSID of another flow, which the modem has since its change. */
static void send_with_dsid_of_other_flow(unsigned n) {
	static const struct rig_fault fault = {.header = use_third_dsid};

	rig_collect(&rig, follow_frames, FOLLOW_PACKETS, &fault);
	rig_send_frames(&rig, follow_frames, FOLLOW_PACKETS);
	follow_errors.corrupted++;
}

/* Replaces the third channel, on which the rig sends the second modem's frames, by a new one. */
static void replace_channel(unsigned n) {
	json_t *channels = json_object_get(follow_server.config, "channels");
	json_t *removed = json_incref(json_array_get(channels, 2));
	json_t *added = follow_parse_json(
		"{'id': 9, 'type': 'sc-qam', 'rate': '42.24 Mbps', 'session': 65545, "
		"'pseudowire': 'psp-legacy', 'psp_extra': 'none', 'profile': 0}");

	json_array_set_new(channels, 2, added);
	follow_set_json(follow_server.config, "bonding_groups",
			"[{'id': '1', 'channels': [1, 2]}, {'id': '2', 'channels': [9]}]");
	follow_add_event(1, "channel", "added", added);
	follow_add_event(
		1, "bonding_group", "changed",
		json_array_get(json_object_get(follow_server.config, "bonding_groups"), 1));
	follow_add_event(1, "channel", "removed", removed);
	json_decref(removed);
	follow_commit_change();
}

static void assert_depi_unresolved(unsigned n) {
	assert_true(rig.traffic->downlink->follow->depi.count > 0);
}

/* Sends the second modem's frames on a wrong channel. */
static void send_on_wrong_channel(unsigned n) {
	follow_errors.corrupted += follow_count_frames(1);
	for (unsigned i = 0; i < n; i++) {
		if (follow_frames[i].modem == 1)
			follow_frames[i].channel = 0;
	}
}

/* Sets the TOS-overwrite masks of the first modem's first flow: AND mask, OR mask, a byte each. */
static void set_tos_masks(unsigned masks) {
	json_t *flow = json_array_get(json_object_get(follow_modem(0), "service_flows"), 0);
	char text[64];

	snprintf(text, sizeof(text), "{'and_mask': %u, 'or_mask': %u}", masks >> 8, masks & 0xff);
	follow_set_json(flow, "tos_overwrite", text);
	follow_change_modem(0);
}

/* Sets other masks in the rig than in the server. */
static void set_rig_tos_masks(unsigned masks) {
	struct service_flow *flow = &rig.sg.modems[0].service_flows[0];

	flow->overwrites_tos = true;
	flow->tos = (struct tos_masks){(uint8_t)(masks >> 8), (uint8_t)masks};
}

static void expect_wrong_tos(unsigned n) {
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++)
		follow_errors.corrupted +=
			follow_frames[i].modem == 0 && follow_frames[i].flow == 0;
	assert_true(follow_errors.corrupted > 0);
}

static const struct follow_case cases[] = {
	{"an announced key change",
	 {COLLECT_SEND, DO(use_key_and_next, 1), UPDATE, COLLECT, DO(use_key, 2), COLLECT,
	  DO(step_assert_frames, 0), SEND, UPDATE, COLLECT_SEND}},
	{"an unread key change",
	 {COLLECT_SEND, DO(use_key_and_next, 1), COLLECT, DO(use_key, 2), COLLECT,
	  DO(step_assert_frames, 0), SEND, UPDATE, COLLECT_SEND}},
	/* As after a reload. The last change is unread; the traffic decrypts with the old key. */
	{"an earlier key is used again",
	 {COLLECT_SEND, DO(replace_first_with_key, 2), DO(use_key, 1), COLLECT,
	  DO(step_assert_frames, 0), SEND, UPDATE, RESOLVE, COLLECT_SEND}},
	{"40 key changes", {DO(roll_keys, 40), COLLECT_SEND, DO(step_assert_resolved)}},
	{"a removed key is dropped after the retention time",
	 {DO(set_retention_ms, 0), DO(use_key_and_next, 1), UPDATE, COLLECT,
	  DO(expect_undecipherable), DO(use_key, 2), UPDATE, DO(expire_retention, 0), SEND,
	  RESOLVE}},
	/* the third generation replaces the first */
	{"a modem has two key generations",
	 {DO(use_key_and_next, 1), UPDATE, COLLECT, DO(expect_undecipherable), DO(use_key, 2),
	  UPDATE, DO(use_key_and_next, 2), UPDATE, SEND, RESOLVE}},
	/* key sequence numbers wrap */
	{"a modem is changed with both keys",
	 {DO(change_modem_and_keys, 15), UPDATE, DO(use_key, 16), COLLECT,
	  DO(step_assert_frames, 0), SEND, DO(step_assert_resolved)}},
	/* it is kept when the retention time of its first use ends */
	{"a key that is used again is kept",
	 {DO(set_retention_ms, 20), DO(use_key_and_next, 1), UPDATE, DO(use_key, 2), UPDATE,
	  DO(use_key_and_next, 1), UPDATE, DO(expire_retention, 20), COLLECT_SEND}},
	/* without a time limit */
	{"frames are unresolved until the server has no change",
	 {DO(delay_answers), DO(set_rig_key_number, 9), COLLECT, DO(expect_undecipherable), SEND,
	  DO(assert_faulty_unresolved, 200), DO(answer_request), RESOLVE}},
	/* the change is prepared after the request, and applied after the answer */
	{"a change prepared before the answer explains frames",
	 {DO(delay_answers), COLLECT, DO(set_rig_key_number, 3), COLLECT, SEND, DO(step_update, 20),
	  DO(step_assert_unresolved), DO(prepare_key_number, 3), DO(answer_request),
	  DO(step_update, 20), DO(step_assert_unresolved), DO(step_apply), UPDATE}},
	{"frames in the port are verified with the former keys",
	 {DO(use_key_and_next, 1), UPDATE, DO(change_after_frames_in_port, 32), COLLECT_SEND}},
	/* packets in flight are verified with the old keys */
	{"a reload replaces both keys",
	 {DO(use_key_and_next, 5), UPDATE, COLLECT, DO(use_key_and_next, 2), UPDATE, SEND,
	  COLLECT_SEND}},
	/* also if only keys changed after it */
	{"state before the oldest change is freed",
	 {ADD_MODEM, UPDATE, DO(use_key_and_next, 1), UPDATE, REMOVE_MODEM, UPDATE,
	  DO(assert_tables_freed), COLLECT_SEND}},
	{"a busy port does not block a change",
	 {DO(use_key_and_next, 1), DO(keep_port_busy, 100), COLLECT_SEND}},
	{"flows change",
	 {COLLECT_SEND, DO(change_flows), DO(step_collect_and_send, 2), DO(step_assert_unresolved),
	  UPDATE, DO(step_assert_resolved), DO(step_collect_and_send, 2)}},
	{"a frame with the DSID of an added flow is corrupted",
	 {COLLECT_SEND, DO(add_flow), UPDATE, DO(send_with_dsid_of_other_flow), RESOLVE},
	 .corruption = CORRUPTION_STREAM},
	{"TOS masks are added and changed",
	 {COLLECT_SEND, DO(set_tos_masks, 0x0023), COLLECT_SEND, DO(step_assert_unresolved), UPDATE,
	  DO(step_assert_resolved), COLLECT_SEND, DO(set_tos_masks, 0xfc01), COLLECT, UPDATE, SEND,
	  DO(step_assert_resolved), COLLECT_SEND}},
	/* packets may have each TOS, even one that the traffic has never read */
	{"TOS masks change twice with packets in flight",
	 {COLLECT, DO(set_tos_masks, 0x0023), COLLECT, DO(set_tos_masks, 0x0042), COLLECT, SEND,
	  DO(step_assert_unresolved), UPDATE, DO(step_assert_resolved), COLLECT_SEND}},
	{"TOS masks and other settings change",
	 {COLLECT, DO(set_tos_masks, 0x0023), COLLECT, DO(change_modem_and_keys, 1), COLLECT, SEND,
	  DO(step_update, 2), RESOLVE, COLLECT_SEND}},
	{"unknown TOS masks are corruption",
	 {DO(set_rig_tos_masks, 0x0023), COLLECT, DO(expect_wrong_tos), SEND,
	  DO(step_assert_unresolved), RESOLVE},
	 .corruption = CORRUPTION_IP_HEADER},
	{"former TOS masks are corruption after the change",
	 {DO(set_tos_masks, 0x0023), COLLECT_SEND, UPDATE, DO(set_tos_masks, 0x0042), UPDATE,
	  DO(set_rig_tos_masks, 0x0023), COLLECT, DO(expect_wrong_tos), SEND, RESOLVE},
	 .corruption = CORRUPTION_IP_HEADER},
	{"a channel is replaced",
	 {DO(replace_channel), COLLECT_SEND, DO(assert_depi_unresolved), UPDATE, COLLECT_SEND}},
	{"unexplained frames are corrupted",
	 {COLLECT, DO(send_on_wrong_channel, FOLLOW_PACKETS), SEND, DO(assert_faulty_unresolved),
	  RESOLVE},
	 .corruption = CORRUPTION_CHANNEL},
};

TEST(frames_before_known_change_are_resolved) {
	follow_run_cases(state, cases, ARRAY_COUNT(cases));
}

EACH_TEST(follow_set_up, follow_tear_down)
ALL_TESTS(rig_open, rig_close)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames whose headers say what the traffic does not know yet: two generations of keys per modem, flows, channels. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "fixture.h"
#include "follow_kit.h"
#include "test_main.h"

/* The first modem's key and IV of a generation; number 1 is the one that it begins with. */
static void key_of(unsigned number, char key[33], char iv[33]) {
	snprintf(key, 33, "%02x0102030405060708090a0b0c0d0e0f", number == 1 ? 0 : number);
	snprintf(iv, 33, "%02x1112131415161718191a1b1c1d1e1f", 0xf + number);
}

/* A modem has generation `number`, and with `next` the one after it. */
static void key_set(json_t *modem, unsigned number, bool next) {
	char key[33], iv[33], text[400];
	int size;

	key_of(number, key, iv);
	size = snprintf(
		text, sizeof(text),
		"{'said': 1, 'cipher': 'aes-128', 'key': '%s', 'iv': '%s', 'key_sequence': %u", key,
		iv, number % 16);
	key_of(number + 1, key, iv);
	snprintf(text + size, sizeof(text) - (size_t)size,
		 next ? ", 'next_key': '%s', 'next_iv': '%s'}" : "}", key, iv);
	follow_set_json(modem, "security", text);
}

static void key_change(unsigned number, bool next) {
	json_t *modem = follow_modem(0);

	key_set(modem, number, next);
	follow_tell(1, "key", "changed", json_object_get(modem, "security"));
	follow_change_end();
}

static void key_is(unsigned number) {
	key_change(number, false);
}

static void keys_are(unsigned number) {
	key_change(number, true);
}

/* A change that brings a modem anew. */
static void comes_with_keys(unsigned number) {
	key_set(follow_modem(0), number, true);
	follow_set_json(follow_modem(0), "cpe_limit", "'5'");
	follow_modem_changed(0);
}

static void has_key(json_t *modem, unsigned number) {
	key_set(modem, number, false);
}

static void goes_and_comes_with_key(unsigned number) {
	follow_first_again(has_key, number);
	follow_learn(4);
	follow_numbers_restart(0);
}

/* Numbers wrap behind 15. Frames of each generation arrive when the next one is in use. */
static void keys_roll(unsigned n) {
	uint32_t magic = rig.traffic->downlink->generator->magic;

	for (unsigned number = 1; number <= n; number++) {
		keys_are(number);
		follow_learn(1);
		follow_take(1);
		key_is(number + 1);
		follow_learn(1);
		follow_send(0);
	}
	assert_int_equal(rig.traffic->downlink->generator->magic, magic); /* keys alone */
}

/* Frames of a key that the modem has no more, or never had: packets of which nothing else is known. */
static void key_is_unknown(unsigned n) {
	follow_has(0);
	follow_wrong.undecipherable += follow_count(0);
}

static void times_are_short(unsigned n) {
	rig.traffic->downlink->follow->keep = rte_get_tsc_hz() / 1000 * n;
}

static void times_are_over(unsigned n) {
	rte_delay_us_block(n * 2000);
	for (int i = 0; i < 4; i++)
		traffic_receive(rig.traffic);
	assert_null(rig.traffic->downlink->follow->oldest);
}

static void server_is_busy(unsigned n) {
	follow_server.busy = true;
}

static void server_answers(unsigned n) {
	follow_answer();
}

/* The server tells nobody. */
static void rig_has_key_number(unsigned n) {
	rig.sg.modems[0].security.key_sequence = (uint8_t)n;
}

/* All that is wrong so far waits, `n` rounds long; the server is not asked twice. */
static void all_wrong_waits(unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		follow_look(&following, 1);
		traffic_receive(rig.traffic);
	}
	assert_int_equal(rig.traffic->downlink->follow->frames.count,
			 follow_wrong.undecipherable + follow_wrong.corrupted);
	assert_in_range(follow_server.infos, 0, 1);
}

/* The first key under another number. */
static void number_is_prepared(unsigned n) {
	json_t *security = json_object_get(follow_modem(0), "security");

	json_object_set_new(security, "key_sequence", json_integer(n));
	follow_tell(1, "key", "changed", security);
	follow_change_prepare();
}

static bool round_takes(void) {
	traffic_change_round(rig.traffic, rte_rdtsc());
	return traffic_applied(rig.traffic);
}

/* Frames stand in the port when the server tells of a change: they were sent before it. */
static void change_behind_frames(unsigned n) {
	uint8_t depi[RIG_MTU + 14];

	rig_take(&rig, follow_frames, n, NULL);
	for (unsigned i = 0; i < n; i++) {
		const struct rig_frame *f = &follow_frames[i];
		struct rig_segment whole = {f->bytes, f->size, true, true};
		size_t size = rig_depi(&rig, f->channel, &whole, 1, depi);
		struct rte_mbuf *m = fixture_packet(rig.pool, depi, size);

		assert_int_equal(rte_eth_tx_burst(rig.rphy[1], 0, &m, 1), 1);
	}
	keys_are(2); /* the third is in the place of the first, which is dropped at once */
	follow_look(&following, 0);
	assert_int_equal(following.changes, 2);
	assert_false(round_takes());
	traffic_receive(rig.traffic); /* a whole burst: more may be there */
	assert_false(round_takes());
	traffic_receive(rig.traffic);
	assert_true(round_takes());
}

static void port_is_never_empty(unsigned n) {
	unsigned rounds = 1;

	follow_look(&following, 0);
	while (!round_takes() && rounds < 1000)
		rounds++;
	assert_in_range(rounds, 32, n);
}

static void tables_are_forgotten(unsigned n) {
	struct downlink *d = rig.traffic->downlink;

	assert_non_null(d->generator->past->older);
	assert_non_null(d->modems.older->older);
	d->follow->oldest->until = 0;
	traffic_receive(rig.traffic);
	assert_false(d->follow->oldest->tables);
	assert_null(d->generator->past->older);
	assert_null(d->modems.older->older);
}

/* The first modem's first flow, and a third one more. */
static void flows_are(const char *first) {
	char text[256];

	snprintf(text, sizeof(text),
		 "[{'id': 1, %s, 'buffer': '512 kB'}, "
		 "{'id': 2, 'priority': 5, 'dsid': 2, 'buffer': '512 kB'}, "
		 "{'id': 7, 'dsid': 33, 'buffer': '512 kB'}]",
		 first);
	follow_set_json(follow_modem(0), "service_flows", text);
	follow_modem_changed(0);
}

/* Other DSIDs and priorities, and a classifier leads elsewhere. */
static void flows_differ(unsigned n) {
	follow_set_json(
		follow_modem(0), "classifiers",
		"[{'family': 'ipv4', 'protocol': 'udp', 'destination_ports': 5004, 'service_flow': "
		"7}, {'family': 'ipv6', 'tos': '0xb8/0xfc', 'service_flow': 2}]");
	flows_are("'priority': 3, 'dsid': 17");
	rig.numbers[0][0] = 60000; /* another DSID's, far from those of the one before */
}

static void flow_comes(unsigned n) {
	flows_are("'priority': 0, 'dsid': 1");
}

static void last_dsid(struct docsis_down_header *h) {
	h->dsid = 33;
	h->priority = 0;
}

/* A packet comes with the DSID of another flow, which the modem did not have before it changed. */
static void one_is_of_another_flow(unsigned n) {
	static const struct rig_fault fault = {.header = last_dsid};

	rig_take(&rig, follow_frames, FOLLOW_PACKETS, &fault);
	rig_send_frames(&rig, follow_frames, FOLLOW_PACKETS);
	follow_wrong.corrupted++;
}

/* A flow moves to a channel that nobody knew, in the place of the third, on which the kit sends the second modem's frames. */
static void channel_comes(unsigned n) {
	json_t *channels = json_object_get(follow_server.config, "channels");
	json_t *gone = json_incref(json_array_get(channels, 2));
	json_t *comes =
		follow_read("{'id': 9, 'type': 'sc-qam', 'rate': '42.24 Mbps', 'session': 65545, "
			    "'pseudowire': 'psp-legacy', 'psp_extra': 'none', 'profile': 0}");

	json_array_set_new(channels, 2, comes);
	follow_set_json(follow_server.config, "bonding_groups",
			"[{'id': '1', 'channels': [1, 2]}, {'id': '2', 'channels': [9]}]");
	follow_tell(1, "channel", "added", comes);
	follow_tell(1, "bonding_group", "changed",
		    json_array_get(json_object_get(follow_server.config, "bonding_groups"), 1));
	follow_tell(1, "channel", "removed", gone);
	json_decref(gone);
	follow_change_end();
}

static void channel_waits(unsigned n) {
	assert_true(rig.traffic->downlink->follow->depi.count > 0);
}

/* Nothing that the server says explains the second modem's frames. */
static void channel_is_wrong(unsigned n) {
	follow_wrong.corrupted += follow_count(1);
	for (unsigned i = 0; i < n; i++) {
		if (follow_frames[i].modem == 1)
			follow_frames[i].channel = 0;
	}
}

/* The first modem's first flow overwrites the TOS: and-mask and or-mask, a byte each. */
static void tos_is(unsigned masks) {
	json_t *flow = json_array_get(json_object_get(follow_modem(0), "service_flows"), 0);
	char text[64];

	snprintf(text, sizeof(text), "{'and_mask': %u, 'or_mask': %u}", masks >> 8, masks & 0xff);
	follow_set_json(flow, "tos_overwrite", text);
	follow_modem_changed(0);
}

/* The server says something else. */
static void rig_overwrites(unsigned masks) {
	struct service_flow *flow = &rig.sg.modems[0].service_flows[0];

	flow->overwrites_tos = true;
	flow->tos = (struct tos_masks){(uint8_t)(masks >> 8), (uint8_t)masks};
}

static void tos_is_wrong(unsigned n) {
	for (unsigned i = 0; i < FOLLOW_PACKETS; i++)
		follow_wrong.corrupted += follow_frames[i].modem == 0 && follow_frames[i].flow == 0;
	assert_true(follow_wrong.corrupted > 0);
}

static const struct follow_case cases[] = {
	{"an announced key rolls",
	 {BOTH, DO(keys_are, 1), LEARN, TAKE, DO(key_is, 2), TAKE, DO(follow_has, 0), SEND, LEARN,
	  BOTH}},
	{"a key rolls without a word",
	 {BOTH, DO(keys_are, 1), TAKE, DO(key_is, 2), TAKE, DO(follow_has, 0), SEND, LEARN, BOTH}},
	/* As where a file is read again. The traffic, which does not know the last of these changes, decrypts frames as those
	 * of before. They are for the modem of now. */
	{"a key comes back",
	 {BOTH, DO(goes_and_comes_with_key, 2), DO(key_is, 1), TAKE, DO(follow_has, 0), SEND, LEARN,
	  JUDGE, BOTH}},
	{"keys roll on and on", {DO(keys_roll, 40), BOTH, DO(follow_none_waits)}},
	{"a removed key is dropped when its time is over",
	 {DO(times_are_short, 0), DO(keys_are, 1), LEARN, TAKE, DO(key_is_unknown), DO(key_is, 2),
	  LEARN, DO(times_are_over, 0), SEND, JUDGE}},
	/* The third takes the place of the first. */
	{"a modem holds two generations",
	 {DO(keys_are, 1), LEARN, TAKE, DO(key_is_unknown), DO(key_is, 2), LEARN, DO(keys_are, 2),
	  LEARN, SEND, JUDGE}},
	/* Their numbers wrap. */
	{"a modem comes with both keys",
	 {DO(comes_with_keys, 15), LEARN, DO(key_is, 16), TAKE, DO(follow_has, 0), SEND,
	  DO(follow_none_waits)}},
	/* It is not dropped with the one of before. */
	{"a key that comes again stays",
	 {DO(times_are_short, 20), DO(keys_are, 1), LEARN, DO(key_is, 2), LEARN, DO(keys_are, 1),
	  LEARN, DO(times_are_over, 20), BOTH}},
	/* No clock ends that. */
	{"frames wait until the server says that nothing has changed",
	 {DO(server_is_busy), DO(rig_has_key_number, 9), TAKE, DO(key_is_unknown), SEND,
	  DO(all_wrong_waits, 200), DO(server_answers), JUDGE}},
	/* It was made behind the question; the answer comes before the change is through. */
	{"a change before the answer explains frames",
	 {DO(server_is_busy), TAKE, DO(rig_has_key_number, 3), TAKE, SEND, DO(follow_learn, 20),
	  DO(follow_frames_wait), DO(number_is_prepared, 3), DO(server_answers),
	  DO(follow_learn, 20), DO(follow_frames_wait), DO(follow_applied), LEARN}},
	{"what stands in the port is judged by what was before",
	 {DO(keys_are, 1), LEARN, DO(change_behind_frames, 32), BOTH}},
	/* What is under way is known by those of before. */
	{"a file that is read again replaces both keys at once",
	 {DO(keys_are, 5), LEARN, TAKE, DO(keys_are, 2), LEARN, SEND, BOTH}},
	/* Also where keys alone changed behind it. */
	{"what was before the oldest change is forgotten",
	 {MODEM_ADD, LEARN, DO(keys_are, 1), LEARN, MODEM_REMOVE, LEARN, DO(tables_are_forgotten),
	  BOTH}},
	{"a port that is never empty does not hold a change up",
	 {DO(keys_are, 1), DO(port_is_never_empty, 100), BOTH}},
	{"flows differ",
	 {BOTH, DO(flows_differ), DO(follow_both, 2), DO(follow_frames_wait), LEARN,
	  DO(follow_none_waits), DO(follow_both, 2)}},
	{"a frame of a flow that came is corrupted",
	 {BOTH, DO(flow_comes), LEARN, DO(one_is_of_another_flow), JUDGE},
	 .corruption = CORRUPTION_STREAM},
	{"masks of the TOS come and change",
	 {BOTH, DO(tos_is, 0x0023), BOTH, DO(follow_frames_wait), LEARN, DO(follow_none_waits),
	  BOTH, DO(tos_is, 0xfc01), TAKE, LEARN, SEND, DO(follow_none_waits), BOTH}},
	/* Packets show each of them, also that which the server had only between two looks. */
	{"masks of the TOS change twice while packets are under way",
	 {TAKE, DO(tos_is, 0x0023), TAKE, DO(tos_is, 0x0042), TAKE, SEND, DO(follow_frames_wait),
	  LEARN, DO(follow_none_waits), BOTH}},
	{"a modem changes otherwise behind other masks of the TOS",
	 {TAKE, DO(tos_is, 0x0023), TAKE, DO(comes_with_keys, 1), TAKE, SEND, DO(follow_learn, 2),
	  JUDGE, BOTH}},
	{"masks that the server has not told are corruption",
	 {DO(rig_overwrites, 0x0023), TAKE, DO(tos_is_wrong), SEND, DO(follow_frames_wait), JUDGE},
	 .corruption = CORRUPTION_IP_HEADER},
	{"the former masks are corruption when the change is known",
	 {DO(tos_is, 0x0023), BOTH, LEARN, DO(tos_is, 0x0042), LEARN, DO(rig_overwrites, 0x0023),
	  TAKE, DO(tos_is_wrong), SEND, JUDGE},
	 .corruption = CORRUPTION_IP_HEADER},
	{"a channel comes", {DO(channel_comes), BOTH, DO(channel_waits), LEARN, BOTH}},
	{"what nothing explains is corrupted",
	 {TAKE, DO(channel_is_wrong, FOLLOW_PACKETS), SEND, DO(all_wrong_waits), JUDGE},
	 .corruption = CORRUPTION_CHANNEL},
};

TEST(headers_say_what_the_traffic_does_not_know) {
	follow_play(state, cases, ARRAY_COUNT(cases));
}

EACH_TEST(follow_begin, follow_end)
ALL_TESTS(rig_open, rig_close)

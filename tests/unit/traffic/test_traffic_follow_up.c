/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream of a server that changes. */
#include <rte_cycles.h>

#include "follow/follow_group.h"
#include "test.h"
#include "uplink_group.h"
#include "uplink_parts.h"
#include "wire/segment.h"

#define MODEMS 6
#define ROUNDS 8
#define COPIES 65536
#define COPY_MAX (256 + PACKET_START_MAX) /* the mix has no larger packets */
#define NONE UINT32_MAX

static uint32_t bonding_channels[] = {0};
static struct channel channels[] = {{.id = 1, .session = 7, .rate = 1000000000}};
static struct bonding_group bonding[] = {{1, bonding_channels, 1}};
static struct service_flow flows[MODEMS];
static struct modem modems[MODEMS];

static struct traffic traffic;
static struct follow_group follow;

/* Packets as they were made, to come when the test wants it. */
struct copy {
	uint32_t size;
	uint8_t bytes[COPY_MAX];
};
static struct copy copies[COPIES];
static unsigned copied;
static uint32_t next[64]; /* by stream: packets that are copied or dropped */

/* As the rig's, with a downstream, without which there is no modem. */
static void group_make(void) {
	memcpy(modems, rig.sg.modems, sizeof(modems));
	for (uint32_t m = 0; m < MODEMS; m++) {
		flows[m] = (struct service_flow){.id = 1 + m, .active = true, .buffer = 100000};
		modems[m].service_flows = &flows[m];
		modems[m].service_flow_count = 1;
		modems[m].security.said = (uint16_t)(1 + m);
	}
	rig.sg.modems = modems;
	rig.sg.channels = channels;
	rig.sg.channel_count = 1;
	rig.sg.bonding_groups = bonding;
	rig.sg.bonding_group_count = 1;
	rig.sg.max_modems = 16;
}

static void rounds(unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		uint64_t now = rte_rdtsc();

		traffic_change_round(&traffic, now);
		uplink_send(rig.uplink, now);
		uplink_rig_receive(&rig);
	}
}

/* The traffic of `count` modems, of which the first are. */
static void start_with(size_t count, const char *mix) {
	rig.room = 64;
	rig.sg.modem_count = count;
	uplink_rig_start(&rig, mix, 0);
	traffic = (struct traffic){.uplink = rig.uplink, .follows = true, .sg = &rig.sg};
	assert_int_equal(uplink_receiver_create(&traffic.uplink_receiver, rig.uplink,
						rte_get_tsc_hz(), false),
			 0);
	assert_true(uplink_follow_begin(&traffic.uplink_follow, rig.uplink, rte_get_tsc_hz()));
	traffic.uplink_follow.keep = UINT64_MAX / 2;
	assert_int_equal(follow_group_create(&follow, &rig.sg, &traffic, rte_get_tsc_hz()), 0);
	copied = 0;
	memset(next, 0, sizeof(next));
	for (int i = 0; i < 4; i++) {
		rounds(ROUNDS);
		follow_group_look(&follow);
	}
}

static void start(size_t count) {
	group_make();
	start_with(count, "256");
}

/* What the modems have made and sent since the last time goes on its way, but for a stream that is dropped. */
static void copy_made(uint32_t but) {
	const struct uplink_flows *f = &rig.uplink->flows;

	for (uint32_t s = 0; s < f->stream_count; s++) {
		for (; next[s] < f->streams[s].ended; next[s]++) {
			struct packet_tag tag = {rig.uplink->frames.packets.magic, s, next[s],
						 rte_rdtsc()};
			struct copy *c = &copies[copied];

			if (s == but)
				continue;
			assert_true(copied++ < COPIES);
			c->size = uplink_packet_write(&rig.uplink->frames.packets,
						      f->streams[s].owner, &tag, c->bytes);
		}
	}
}

static void copies_come(void) {
	for (unsigned i = 0; i < copied; i++)
		uplink_receiver_take(&traffic.uplink_receiver, copies[i].bytes, copies[i].size,
				     rte_rdtsc());
	copied = 0;
}

static void learn(void) {
	follow_group_look(&follow);
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow_group_offer(&follow, rte_rdtsc()));
	for (int i = 0; i < 1000 && !traffic_took(&traffic); i++)
		rounds(1);
	assert_true(traffic_took(&traffic));
}

static struct uplink_result finish_but(uint32_t dropped) {
	struct uplink_result r;

	uplink_stop(rig.uplink);
	while (!uplink_empty(rig.uplink))
		rounds(1);
	copy_made(dropped);
	copies_come();
	traffic_uplink_result(&traffic, &r);
	assert_int_equal(r.sent, r.proven + r.lost + r.overtaken + r.corrupted);
	assert_int_equal(r.unaccounted, 0);
	follow_group_free(&follow);
	uplink_receiver_free(&traffic.uplink_receiver);
	rig.room = 0;
	return r;
}

static struct uplink_result finish(void) {
	return finish_but(NONE);
}

static unsigned bursts_of(uint16_t sid, size_t from) {
	unsigned n = 0;

	for (size_t i = from; i < rig.came.burst_count; i++)
		n += rig.came.bursts[i]->header.sid == sid;
	return n;
}

static void assert_all_came(const struct uplink_result *r) {
	assert_int_equal(r->proven, r->sent);
	assert_true(uplink_result_good(r));
	for (int i = 0; i < UPLINK_UNEXPECTEDS; i++)
		assert_int_equal(r->unexpected[i], 0);
}

static void a_modem_comes(void **state) {
	struct uplink_result r;
	size_t before;

	(void)state;
	start(5);
	copy_made(NONE); /* under way while it comes */
	rig.sg.modem_count = 6;
	before = rig.came.burst_count;
	assert_int_equal(bursts_of(0x60, 0), 0);
	learn();
	rounds(4 * ROUNDS);
	assert_true(bursts_of(0x60, before) > 0);
	copies_come();
	r = finish();
	assert_all_came(&r);
}

/* Stream 6 is the last modem's: what it sends is dropped from the change on. */
static void what_a_removed_modem_sends_is_told(void **state) {
	struct uplink_result r;
	size_t before;
	uint32_t made;

	(void)state;
	start(6);
	copy_made(NONE);
	made = uplink_made(rig.uplink, 6);
	assert_true(made > 0);
	rig.sg.modem_count = 5;
	rounds(4 * ROUNDS);
	copy_made(6);
	learn();
	copy_made(6);
	rounds(2 * ROUNDS); /* bursts that were packed before have gone */
	before = rig.came.burst_count;
	rounds(4 * ROUNDS);
	assert_int_equal(bursts_of(0x60, before), 0);
	assert_true(bursts_of(0x30, before) > 0);
	r = finish();
	assert_true(r.overtaken > 0);
	assert_int_equal(r.overtaken, next[6] - made);
	assert_int_equal(r.lost, 0);
	assert_true(uplink_result_good(&r));
}

/* A modem that stays loses a packet in the same time. */
static void losses_of_others_are_losses(void **state) {
	struct uplink_result r;

	(void)state;
	start(6);
	rig.sg.modem_count = 5;
	rounds(ROUNDS);
	copy_made(NONE);
	copies[0] = copies[--copied];
	learn();
	r = finish();
	assert_int_equal(r.lost, 1);
	assert_false(uplink_result_good(&r));
}

/* Key sequences of the frames that are first in bursts of a SID. */
static void keys_count(uint16_t sid, size_t from, unsigned counts[16]) {
	memset(counts, 0, 16 * sizeof(counts[0]));
	for (size_t i = from; i < rig.came.burst_count; i++) {
		const struct rig_burst *b = rig.came.bursts[i];
		struct segment_header h;
		struct docsis_mac mac;

		if (b->kind != RIG_DATA || b->header.sid != sid ||
		    segment_header_parse(b->payload, b->size, &h) != SEGMENT_OK || !h.pointer_valid)
			continue;
		if (docsis_mac_parse(b->payload + SEGMENT_HEADER_SIZE + h.pointer,
				     b->size - SEGMENT_HEADER_SIZE - h.pointer,
				     &mac) == DOCSIS_OK &&
		    mac.kind == DOCSIS_KIND_PACKET)
			counts[mac.key_sequence]++;
	}
}

/* From the time at which the server has the next key, it alone is used. */
static void a_key_rolls(void **state) {
	struct security_association *s = &modems[0].security;
	struct security_association whole;
	struct uplink_result r;
	unsigned keys[16];
	size_t before;

	(void)state;
	start(6);
	whole = *s;
	keys_count(0x10, 0, keys);
	assert_true(keys[0] > 0); /* 15 + 1 */
	assert_int_equal(keys[15], 0);
	memcpy(s->key, whole.next_key, 16);
	memcpy(s->iv, whole.next_iv, 16);
	s->key_sequence = 0;
	s->has_next_key = false;
	learn();
	rounds(2 * ROUNDS);
	before = rig.came.burst_count;
	rounds(8 * ROUNDS);
	keys_count(0x10, before, keys);
	assert_true(keys[0] > 0);
	s->has_next_key = true;
	memset(s->next_key, 0x33, 16);
	learn();
	rounds(2 * ROUNDS);
	before = rig.came.burst_count;
	rounds(8 * ROUNDS);
	keys_count(0x10, before, keys);
	assert_true(keys[1] > 0);
	assert_int_equal(keys[0], 0);
	r = finish();
	assert_true(r.sent > 0);
}

/* Packets of the old addresses are proven, then come those of the new. */
static void addresses_differ(void **state) {
	static struct ip_address others[] = {{4, {10, 9, 0, 1}}, {4, {10, 9, 0, 2}}};
	struct uplink_result r;

	(void)state;
	start(6);
	rounds(ROUNDS);
	copy_made(NONE);
	modems[2].addresses = others;
	modems[2].address_count = 2;
	learn();
	copies_come();
	rounds(4 * ROUNDS);
	r = finish();
	assert_all_came(&r);
}

/* Without any modem nothing is sent, and when one comes again it is. */
static void all_modems_go(void **state) {
	struct uplink_result r;
	uint64_t sent;

	(void)state;
	start(6);
	rounds(ROUNDS);
	copy_made(NONE);
	rig.sg.modem_count = 0;
	learn();
	rounds(4 * ROUNDS);
	sent = uplink_sent(rig.uplink);
	rounds(4 * ROUNDS);
	assert_int_equal(uplink_sent(rig.uplink), sent);
	copies_come();
	rig.sg.modem_count = 6;
	learn();
	rounds(4 * ROUNDS);
	assert_true(uplink_sent(rig.uplink) > sent);
	r = finish();
	assert_true(uplink_result_good(&r));
}

/* In the middle of a round nothing is taken from under its grants. */
static void a_round_is_ended_first(void **state) {
	struct uplink_result r;

	(void)state;
	start(6);
	rounds(1);
	copy_made(NONE);
	copies_come();
	rig.sg.modem_count = 5;
	follow_group_look(&follow);
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow_group_offer(&follow, rte_rdtsc()));
	assert_int_equal(rig.uplink->grant_count, 0);
	rig.uplink->grant_count = 1;
	traffic_change_round(&traffic, rte_rdtsc());
	assert_false(traffic_took(&traffic));
	rig.uplink->grant_count = 0;
	traffic_change_round(&traffic, rte_rdtsc());
	assert_true(traffic_took(&traffic));
	r = finish();
	assert_int_equal(r.lost, 0);
}

/* A modem whose addresses no packet fits sends nothing, and takes no other down. */
static void a_modem_without_room_for_packets_is_silent(void **state) {
	static struct ip_address narrow[] = {{4, {10, 0, 0, 9}}};
	static struct ip_address wide[] = {{6, {0x20, 1, [15] = 9}}};
	struct uplink_result r;
	size_t before;

	(void)state;
	group_make();
	modems[2].addresses = narrow;
	start_with(6, "70");
	copy_made(NONE);
	copies_come();
	modems[2].addresses = wide;
	learn();
	rounds(2 * ROUNDS);
	before = rig.came.burst_count;
	rounds(4 * ROUNDS);
	assert_int_equal(bursts_of(0x30, before), 0);
	assert_true(bursts_of(0x60, before) > 0);
	/* What it had made when it was asked for the last time. */
	r = finish_but(4);
	assert_int_equal(r.lost, 0);
	assert_true(uplink_result_good(&r));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
	const struct CMUnitTest tests[] = {
		TEST(a_modem_comes),
		TEST(what_a_removed_modem_sends_is_told),
		TEST(losses_of_others_are_losses),
		TEST(a_key_rolls),
		TEST(addresses_differ),
		TEST(all_modems_go),
		TEST(a_round_is_ended_first),
		TEST(a_modem_without_room_for_packets_is_silent),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}

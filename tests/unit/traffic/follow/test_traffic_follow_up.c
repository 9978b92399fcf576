/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream of a server that changes: modems whose packets come when the test wants it, and keys that roll. */
#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "follow/follow_group.h"
#include "test_main.h"
#include "uplink_kit.h"
#include "wire/segment.h"

#define ROUNDS 8
#define COPIES 65536
#define COPY_MAX (256 + PACKET_START_MAX) /* the mix has no larger packets */
#define NONE UINT32_MAX

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

static void rounds(unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		uint64_t now = rte_rdtsc();

		traffic_change_round(&traffic, now);
		uplink_send(rig.uplink, now);
		uplink_kit_receive();
	}
}

/* The traffic of `count` modems, of which the first are. */
static void start_with(size_t count, const char *mix) {
	rig.room = 64;
	rig.sg.modem_count = count;
	uplink_kit_start(mix, 0);
	traffic = (struct traffic){.uplink = rig.uplink, .follows = true, .sg = &rig.sg};
	assert_int_equal(uplink_receiver_create(&traffic.uplink_receiver, rig.uplink,
						rte_get_tsc_hz(), false),
			 0);
	assert_true(uplink_follow_begin(&traffic.uplink_follow, rig.uplink,
					&traffic.uplink_receiver, rte_get_tsc_hz()));
	traffic.uplink_follow.keep = UINT64_MAX / 2;
	assert_int_equal(follow_group_create(&follow, &rig.sg, &traffic, rte_get_tsc_hz()), 0);
	copied = 0;
	memset(next, 0, sizeof(next));
	for (int i = 0; i < 4; i++) {
		rounds(ROUNDS);
		follow_group_look(&follow);
		follow_group_look_valid(&follow);
	}
}

static void start(size_t count) {
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
		uplink_receiver_process(&traffic.uplink_receiver, copies[i].bytes, copies[i].size,
					rte_rdtsc());
	copied = 0;
}

static void learn(void) {
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow_group_offer(&follow, rte_rdtsc()));
	for (int i = 0; i < 1000 && !traffic_applied(&traffic); i++)
		rounds(1);
	assert_true(traffic_applied(&traffic));
}

/* Ends the run, without what a stream still has; that much is lost. Returns what a change has overtaken. */
static uint64_t finish(uint32_t but, uint64_t lost) {
	struct uplink_result r;

	uplink_stop(rig.uplink);
	while (!uplink_empty(rig.uplink))
		rounds(1);
	copy_made(but);
	copies_come();
	traffic_uplink_result(&traffic, &r);
	assert_int_equal(r.sent, r.proven + r.lost + r.overtaken + r.corrupted);
	assert_int_equal(r.unaccounted, 0);
	assert_int_equal(r.corrupted, 0);
	assert_int_equal(r.lost, lost);
	assert_int_equal(uplink_result_good(&r), lost == 0);
	for (int i = 0; i < UPLINK_UNEXPECTEDS; i++)
		assert_int_equal(r.unexpected[i], 0);
	follow_group_free(&follow);
	uplink_receiver_free(&traffic.uplink_receiver);
	rig.room = 0;
	return r.overtaken;
}

static unsigned bursts_of(uint16_t sid, size_t from) {
	unsigned n = 0;

	for (size_t i = from; i < rig.came.burst_count; i++)
		n += rig.came.bursts[i]->header.sid == sid;
	return n;
}

/* Bursts of a SID in the rounds to come, behind those that were packed before. */
static unsigned bursts_to_come(uint16_t sid) {
	size_t before;

	rounds(2 * ROUNDS);
	before = rig.came.burst_count;
	rounds(8 * ROUNDS);
	return bursts_of(sid, before);
}

TEST(a_modem_comes) {
	start(5);
	copy_made(NONE); /* under way while it comes */
	rig.sg.modem_count = 6;
	assert_int_equal(bursts_of(0x60, 0), 0);
	learn();
	assert_true(bursts_to_come(0x60) > 0);
	copies_come();
	assert_int_equal(finish(NONE, 0), 0);
}

static struct ip_address others[] = {{4, {10, 9, 0, 1}}, {4, {10, 9, 0, 2}}};

/* A CMTS would take numbers that begin again for duplicates. */
TEST(segment_numbers_go_on) {
	struct segment_header h;
	uint16_t number = 0;

	start(6);
	for (size_t count = 1; count <= 2; count++) {
		copy_made(NONE);
		rig.sg.modems[5].addresses = others;
		rig.sg.modems[5].address_count = count;
		learn();
		rounds(4 * ROUNDS);
	}
	for (size_t i = 0; i < rig.came.burst_count; i++) {
		const struct rig_burst *b = rig.came.bursts[i];

		if (b->header.sid != 0x30 || b->kind != RIG_DATA)
			continue;
		assert_int_equal(segment_header_parse(b->payload, b->size, &h), SEGMENT_OK);
		assert_int_equal(h.sequence, number++);
	}
	assert_true(number > 8 * ROUNDS);
	finish(NONE, 0);
}

/* Stream 6 is the last modem's: what it sends is dropped from the change on. */
TEST(what_a_removed_modem_sends_is_told) {
	uint32_t made;

	start(6);
	copy_made(NONE);
	made = uplink_made(rig.uplink, 6);
	assert_true(made > 0);
	rig.sg.modem_count = 5;
	rounds(4 * ROUNDS);
	copy_made(6);
	learn();
	copy_made(6);
	made = next[6] - made;
	assert_int_equal(bursts_to_come(0x60), 0);
	assert_true(bursts_to_come(0x30) > 0);
	assert_true(made > 0);
	assert_int_equal(finish(NONE, 0), made);
}

/* A modem that stays loses a packet in the same time. */
TEST(losses_of_others_are_losses) {
	start(6);
	rig.sg.modem_count = 5;
	rounds(ROUNDS);
	copy_made(NONE);
	copies[0] = copies[--copied];
	learn();
	finish(NONE, 1);
}

TEST(a_round_is_ended_first) {
	start(6);
	rounds(1);
	copy_made(NONE);
	copies_come();
	rig.sg.modem_count = 5;
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow_group_offer(&follow, rte_rdtsc()));
	assert_int_equal(rig.uplink->grant_count, 0);
	for (rig.uplink->grant_count = 1;; rig.uplink->grant_count--) {
		traffic_change_round(&traffic, rte_rdtsc());
		assert_int_equal(traffic_applied(&traffic), rig.uplink->grant_count == 0);
		if (rig.uplink->grant_count == 0)
			break;
	}
	finish(NONE, 0);
}

/* A modem whose addresses no packet fits sends nothing, and takes no other down. */
TEST(a_modem_without_room_for_packets_is_silent) {
	static struct ip_address narrow[] = {{4, {10, 0, 0, 9}}};
	static struct ip_address wide[] = {{6, {0x20, 1, [15] = 9}}};

	rig.sg.modems[2].addresses = narrow;
	start_with(6, "70");
	copy_made(NONE);
	copies_come();
	rig.sg.modems[2].addresses = wide;
	learn();
	assert_int_equal(bursts_to_come(0x30), 0);
	assert_true(bursts_to_come(0x60) > 0);
	finish(4, 0); /* what it had made when it was asked for the last time */
}

/* Key sequences of the frames that are first in bursts of modem 0 in the rounds to come, as bits. */
static unsigned keys_to_come(void) {
	unsigned keys = 0;
	size_t from;

	rounds(2 * ROUNDS);
	from = rig.came.burst_count;
	rounds(8 * ROUNDS);
	for (size_t i = from; i < rig.came.burst_count; i++) {
		const struct rig_burst *b = rig.came.bursts[i];
		struct segment_header h;
		struct docsis_mac mac;

		if (b->kind != RIG_DATA || b->header.sid != 0x10 ||
		    segment_header_parse(b->payload, b->size, &h) != SEGMENT_OK || !h.pointer_valid)
			continue;
		if (docsis_mac_parse(b->payload + SEGMENT_HEADER_SIZE + h.pointer,
				     b->size - SEGMENT_HEADER_SIZE - h.pointer,
				     &mac) == DOCSIS_OK &&
		    mac.kind == DOCSIS_KIND_PACKET)
			keys |= 1u << mac.key_sequence;
	}
	return keys;
}

/* All that was sent has come, and the traffic knows what the server has. */
static void settle(void) {
	copy_made(NONE);
	copies_come();
	follow_group_look(&follow);
	follow_group_look_valid(&follow);
}

static void next_key_alone(struct security_association *s) {
	memcpy(s->key, s->next_key, 16);
	memcpy(s->iv, s->next_iv, 16);
	s->key_sequence = 0;
	s->has_next_key = false;
}

/* From the time at which the server has the next key, it alone is used. */
TEST(a_key_rolls) {
	struct security_association *s = &rig.sg.modems[0].security;

	start(6);
	assert_int_equal(keys_to_come(), 1u << 0); /* 15 + 1 */
	next_key_alone(s);
	learn();
	assert_int_equal(keys_to_come(), 1u << 0);
	s->has_next_key = true;
	memset(s->next_key, 0x33, 16);
	learn();
	assert_int_equal(keys_to_come(), 1u << 1);
	finish(NONE, 0);
}

/* The server has the next key, and the old one is gone before the modem knows: what it sent with that is lost, and told. */
TEST(what_was_sent_with_a_removed_key_is_told) {
	struct security_association *s = &rig.sg.modems[0].security;
	uint64_t overtaken;
	uint32_t told, late;

	start(6);
	settle();
	told = next[0];
	memcpy(s->key, s->next_key, 16);
	memcpy(s->iv, s->next_iv, 16);
	memset(s->next_key, 0x44, 16);
	s->key_sequence = 0;
	assert_true(follow_group_differs(&follow, &rig.sg)); /* not taken yet */
	memset(s->key, 0x44, 16);
	s->key_sequence = 1;
	s->has_next_key = false;
	rounds(2 * ROUNDS);
	copy_made(0);
	learn(); /* from the next round on it has the new key */
	told = rig.uplink->flows.streams[0].rekeyed - told;
	late = next[0];
	rounds(4 * ROUNDS);
	copy_made(NONE);
	assert_true(next[0] > late + 1);
	copied--; /* and a packet is lost that another modem sent */
	copies_come();
	overtaken = finish(NONE, 1);
	assert_in_range(overtaken, 1, told);
}

/* A modem that has used the next key for long loses nothing by the removal of the old one: what is lost is lost. A change
 * of another modem at the same time excuses no more. */
TEST(a_key_out_of_use_excuses_no_loss) {
	for (int other = 0; other < 2; other++) {
		uint32_t before;

		uplink_kit_end(state);
		uplink_kit_begin(state);
		start(6); /* it has had two keys from the start */
		settle();
		next_key_alone(&rig.sg.modems[0].security);
		before = next[0];
		rounds(2 * ROUNDS);
		copy_made(0); /* its packets are lost */
		before = next[0] - before;
		if (other) {
			rig.sg.modems[2].addresses = others;
			rig.sg.modems[2].address_count = 2;
			learn();
			assert_true(follow_group_dirty(&follow)); /* the keys were taken */
			assert_false(follow.rekeys);
			copies_come(); /* of the old addresses */
		}
		learn();
		assert_false(follow_group_dirty(&follow));
		rounds(2 * ROUNDS);
		assert_true(before > 0);
		assert_int_equal(finish(NONE, before), 0);
	}
}

EACH_TEST(uplink_kit_begin, uplink_kit_end)
ALL_TESTS(uplink_kit_open, uplink_kit_close)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that upstream traffic follows a server: modems and keys change. The test keeps copies of
 * the modems' packets and delivers these at times of its choice. */
#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "follow/follow_group.h"
#include "test_main.h"
#include "uplink_kit.h"
#include "wire/segment.h"

#define ROUNDS 8
#define COPIES 65536
#define COPY_MAX (256 + PACKET_START_MAX) /* largest packet of the mix */
#define NONE UINT32_MAX

static struct traffic traffic;
static struct follow_group follow;

/* A packet that is not yet delivered. */
struct copy {
	uint32_t size;
	uint8_t bytes[COPY_MAX];
};
static struct copy copies[COPIES];
static unsigned copied;
static uint32_t next[64]; /* per stream: packets that are copied or dropped */

static void run_rounds(unsigned n) {
	for (unsigned i = 0; i < n; i++) {
		uint64_t now = rte_rdtsc();

		traffic_change_round(&traffic, now);
		uplink_send(rig.uplink, now);
		uplink_kit_receive();
	}
}

/* Starts traffic of the first `count` modems. */
static void start_with(size_t count, const char *mix) {
	rig.stream_capacity = 64;
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
		run_rounds(ROUNDS);
		follow_group_sample(&follow);
		follow_group_sample_valid(&follow);
	}
}

static void start(size_t count) {
	start_with(count, "256");
}

/* Copies packets sent since the last call. Drops those of the stream `dropped_stream`. */
static void copy_sent(uint32_t dropped_stream) {
	const struct uplink_flows *f = &rig.uplink->flows;

	for (uint32_t s = 0; s < f->stream_count; s++) {
		for (; next[s] < f->streams[s].ended; next[s]++) {
			struct packet_tag tag = {rig.uplink->frames.packets.magic, s, next[s],
						 rte_rdtsc()};
			struct copy *c = &copies[copied];

			if (s == dropped_stream)
				continue;
			assert_true(copied++ < COPIES);
			c->size = uplink_packet_write(&rig.uplink->frames.packets,
						      f->streams[s].owner, &tag, c->bytes);
		}
	}
}

static void deliver_copies(void) {
	for (unsigned i = 0; i < copied; i++)
		uplink_receiver_process(&traffic.uplink_receiver, copies[i].bytes, copies[i].size,
					rte_rdtsc());
	copied = 0;
}

static void apply_change(void) {
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow_group_offer(&follow, rte_rdtsc()));
	for (int i = 0; i < 1000 && !traffic_applied(&traffic); i++)
		run_rounds(1);
	assert_true(traffic_applied(&traffic));
}

/* Ends the run without a stream; asserts lost packets. Returns those that a change overtook. */
static uint64_t finish(uint32_t dropped_stream, uint64_t lost) {
	struct uplink_result r;

	uplink_stop(rig.uplink);
	while (!uplink_empty(rig.uplink))
		run_rounds(1);
	copy_sent(dropped_stream);
	deliver_copies();
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
	rig.stream_capacity = 0;
	return r.overtaken;
}

static unsigned count_bursts(uint16_t sid, size_t from) {
	unsigned n = 0;

	for (size_t i = from; i < rig.received.burst_count; i++)
		n += rig.received.bursts[i]->header.sid == sid;
	return n;
}

/* Bursts of a SID in the next rounds, after those already packed. */
static unsigned count_next_bursts(uint16_t sid) {
	size_t before;

	run_rounds(2 * ROUNDS);
	before = rig.received.burst_count;
	run_rounds(8 * ROUNDS);
	return count_bursts(sid, before);
}

TEST(added_modem_sends) {
	start(5);
	copy_sent(NONE); /* in flight during the change */
	rig.sg.modem_count = 6;
	assert_int_equal(count_bursts(0x60, 0), 0);
	apply_change();
	assert_true(count_next_bursts(0x60) > 0);
	deliver_copies();
	assert_int_equal(finish(NONE, 0), 0);
}

static struct ip_address new_addresses[] = {{4, {10, 9, 0, 1}}, {4, {10, 9, 0, 2}}};

/* A CMTS would drop restarted segment numbers as duplicates. */
TEST(segment_numbers_continue) {
	struct segment_header h;
	uint16_t number = 0;

	start(6);
	for (size_t count = 1; count <= 2; count++) {
		copy_sent(NONE);
		rig.sg.modems[5].addresses = new_addresses;
		rig.sg.modems[5].address_count = count;
		apply_change();
		run_rounds(4 * ROUNDS);
	}
	for (size_t i = 0; i < rig.received.burst_count; i++) {
		const struct rig_burst *b = rig.received.bursts[i];

		if (b->header.sid != 0x30 || b->kind != RIG_DATA)
			continue;
		assert_int_equal(segment_header_parse(b->payload, b->size, &h), SEGMENT_OK);
		assert_int_equal(h.sequence, number++);
	}
	assert_true(number > 8 * ROUNDS);
	finish(NONE, 0);
}

/* Stream 6 is the last modem's. Its packets are dropped after the change. */
TEST(packets_of_removed_modem_are_overtaken) {
	uint32_t made;

	start(6);
	copy_sent(NONE);
	made = uplink_made(rig.uplink, 6);
	assert_true(made > 0);
	rig.sg.modem_count = 5;
	run_rounds(4 * ROUNDS);
	copy_sent(6);
	apply_change();
	copy_sent(6);
	made = next[6] - made;
	assert_int_equal(count_next_bursts(0x60), 0);
	assert_true(count_next_bursts(0x30) > 0);
	assert_true(made > 0);
	assert_int_equal(finish(NONE, 0), made);
}

TEST(losses_of_remaining_modem_count) {
	start(6);
	rig.sg.modem_count = 5;
	run_rounds(ROUNDS);
	copy_sent(NONE);
	copies[0] = copies[--copied];
	apply_change();
	finish(NONE, 1);
}

TEST(change_applies_between_rounds) {
	start(6);
	run_rounds(1);
	copy_sent(NONE);
	deliver_copies();
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

/* A modem whose addresses fit no packet size of the mix sends nothing. Others continue. */
TEST(modem_without_fitting_size_is_silent) {
	static struct ip_address narrow[] = {{4, {10, 0, 0, 9}}};
	static struct ip_address wide[] = {{6, {0x20, 1, [15] = 9}}};

	rig.sg.modems[2].addresses = narrow;
	start_with(6, "70");
	copy_sent(NONE);
	deliver_copies();
	rig.sg.modems[2].addresses = wide;
	apply_change();
	assert_int_equal(count_next_bursts(0x30), 0);
	assert_true(count_next_bursts(0x60) > 0);
	finish(4, 0);
}

/* Bitmap of the key sequence numbers that modem 0 uses in the next rounds. */
static unsigned next_key_sequences(void) {
	unsigned keys = 0;
	size_t from;

	run_rounds(2 * ROUNDS);
	from = rig.received.burst_count;
	run_rounds(8 * ROUNDS);
	for (size_t i = from; i < rig.received.burst_count; i++) {
		const struct rig_burst *b = rig.received.bursts[i];
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

/* Delivers all packets, and marks the state before a change. */
static void settle(void) {
	copy_sent(NONE);
	deliver_copies();
	follow_group_sample(&follow);
	follow_group_sample_valid(&follow);
}

static void use_next_key_only(struct security_association *s) {
	memcpy(s->key, s->next_key, 16);
	memcpy(s->iv, s->next_iv, 16);
	s->key_sequence = 0;
	s->has_next_key = false;
}

/* Modems use the next key as soon as the server has it. */
TEST(key_rolls) {
	struct security_association *s = &rig.sg.modems[0].security;

	start(6);
	assert_int_equal(next_key_sequences(), 1u << 0); /* 15 + 1 */
	use_next_key_only(s);
	apply_change();
	assert_int_equal(next_key_sequences(), 1u << 0);
	s->has_next_key = true;
	memset(s->next_key, 0x33, 16);
	apply_change();
	assert_int_equal(next_key_sequences(), 1u << 1);
	finish(NONE, 0);
}

TEST(packets_with_removed_key_are_overtaken) {
	struct security_association *s = &rig.sg.modems[0].security;
	uint64_t overtaken;
	uint32_t rekeyed, late;

	start(6);
	settle();
	rekeyed = next[0];
	memcpy(s->key, s->next_key, 16);
	memcpy(s->iv, s->next_iv, 16);
	memset(s->next_key, 0x44, 16);
	s->key_sequence = 0;
	assert_true(follow_group_differs(&follow, &rig.sg)); /* not applied yet */
	memset(s->key, 0x44, 16);
	s->key_sequence = 1;
	s->has_next_key = false;
	run_rounds(2 * ROUNDS);
	copy_sent(0);
	apply_change(); /* the modem uses the new key from the next round on */
	rekeyed = rig.uplink->flows.streams[0].rekeyed - rekeyed;
	late = next[0];
	run_rounds(4 * ROUNDS);
	copy_sent(NONE);
	assert_true(next[0] > late + 1);
	copied--; /* a packet of another modem is lost */
	deliver_copies();
	overtaken = finish(NONE, 1);
	assert_in_range(overtaken, 1, rekeyed);
}

/* Both keys of modem 0 are replaced: packets to it are not overtaken, those from it are. No stream
 * number is free for the added modem, so the first offer fails. */
TEST(failed_offer_leaves_differences) {
	struct security_association *s = &rig.sg.modems[0].security;
	uint32_t released;

	start(5);
	settle();
	rig.sg.modem_count = 6;
	s->key_sequence = 5;
	s->has_next_key = false;
	memset(s->key, 0x55, 16);
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow.rekeyed[0] && !follow.overtaken[0]);
	released = follow.upstream.numbers.released_count;
	follow.upstream.numbers.released_count = 0;
	assert_false(follow_group_offer(&follow, rte_rdtsc()));
	assert_true(follow_group_has_differences(&follow));
	assert_true(follow.rekeyed[0] && !follow.overtaken[0]);
	follow.upstream.numbers.released_count = released;
	apply_change();
	assert_false(follow_group_has_differences(&follow));
	finish(NONE, 0);
}

/* The removal of an unused key explains no losses, even if another modem changes. */
TEST(unused_removed_key_explains_no_losses) {
	for (int other = 0; other < 2; other++) {
		uint32_t before;

		uplink_kit_tear_down(state);
		uplink_kit_set_up(state);
		start(6);
		settle();
		use_next_key_only(&rig.sg.modems[0].security);
		before = next[0];
		run_rounds(2 * ROUNDS);
		copy_sent(0); /* its packets are lost */
		before = next[0] - before;
		if (other) {
			rig.sg.modems[2].addresses = new_addresses;
			rig.sg.modems[2].address_count = 2;
			apply_change();
			assert_true(follow_group_has_differences(
				&follow)); /* a change of keys is pending */
			assert_false(follow.rekeys);
			deliver_copies(); /* packets with the old addresses */
		}
		apply_change();
		assert_false(follow_group_has_differences(&follow));
		run_rounds(2 * ROUNDS);
		assert_true(before > 0);
		assert_int_equal(finish(NONE, before), 0);
	}
}

EACH_TEST(uplink_kit_set_up, uplink_kit_tear_down)
ALL_TESTS(uplink_kit_open, uplink_kit_close)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of modems that roll, upstream. */
#include "follow_up_group.h"
#include "test_main.h"
#include "wire/segment.h"

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

/* All that was sent has come, and the traffic knows what the server has. */
static void settle(void) {
	copy_made(NONE);
	copies_come();
	follow_group_look(&follow);
	follow_group_look_holds(&follow);
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
	struct uplink_result r;
	unsigned keys[16];
	size_t before;

	start(6);
	keys_count(0x10, 0, keys);
	assert_true(keys[0] > 0); /* 15 + 1 */
	assert_int_equal(keys[15], 0);
	next_key_alone(s);
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

/* The server has the next key, and the old one is gone before the modem knows: what it sent with that is lost, and told. */
TEST(what_was_sent_with_a_removed_key_is_told) {
	struct security_association *s = &rig.sg.modems[0].security;
	struct uplink_result r;
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
	r = finish();
	assert_in_range(r.overtaken, 1, told);
	assert_int_equal(r.lost, 1);
	assert_false(uplink_result_good(&r));
}

/* A modem that has used the next key for long loses nothing by the removal of the old one: what is lost is lost. */
TEST(a_key_out_of_use_excuses_no_loss) {
	struct security_association *s = &rig.sg.modems[0].security;
	struct uplink_result r;

	start(6); /* it has had two keys from the start */
	settle();
	next_key_alone(s);
	rounds(2 * ROUNDS);
	copy_made(0); /* its packets are lost */
	learn();
	rounds(2 * ROUNDS);
	r = finish();
	assert_int_equal(r.overtaken, 0);
	assert_true(r.lost > 0);
}

/* A change of another modem at the same time excuses no more. */
TEST(a_change_beside_it_excuses_no_loss) {
	static struct ip_address others[] = {{4, {10, 9, 0, 1}}, {4, {10, 9, 0, 2}}};
	struct security_association *s = &rig.sg.modems[0].security;
	struct uplink_result r;

	start(6);
	settle();
	next_key_alone(s);
	rounds(2 * ROUNDS);
	copy_made(0); /* lost, though its key was in service for long */
	rig.sg.modems[2].addresses = others;
	rig.sg.modems[2].address_count = 2;
	learn();
	assert_true(follow_group_dirty(&follow)); /* the keys were taken */
	assert_false(follow.rekeys);
	copies_come(); /* of the old addresses */
	learn();
	assert_false(follow_group_dirty(&follow));
	rounds(2 * ROUNDS);
	r = finish();
	assert_int_equal(r.overtaken, 0);
	assert_true(r.lost > 0);
}

EACH_TEST(uplink_rig_begin, uplink_rig_end)
ALL_TESTS(uplink_rig_open, uplink_rig_close)

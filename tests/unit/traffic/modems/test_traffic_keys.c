/* SPDX-License-Identifier: BSD-3-Clause */
/* A modem decrypts with either generation of its key, as the header of a frame says. */
#include "modems/uplink_frames.h"
#include "test_main.h"
#include "traffic_group.h"

#define PACKETS 64

static struct rig_frame frames[PACKETS];

static void next_key_set(unsigned sequence) {
	struct security_association *s = &rig.sg.modems[0].security;

	s->key_sequence = (uint8_t)sequence;
	s->has_next_key = true;
	memcpy(s->next_key, rig_next_bytes, sizeof(s->next_key));
	memset(s->next_iv, 0x5a, sizeof(s->next_iv));
}

static void next_key_unset(void) {
	rig.sg.modems[0].security.key_sequence = 1;
	rig.sg.modems[0].security.has_next_key = false;
	rig.next_key = false;
}

static struct traffic_result half_and_half(unsigned sequence) {
	next_key_set(sequence);
	rig_start(&rig, "256", 1);
	rig_take(&rig, frames, PACKETS / 2, NULL);
	rig.next_key = true;
	rig_take(&rig, frames + PACKETS / 2, PACKETS / 2, NULL);
	for (unsigned i = 0; i < PACKETS; i++)
		rig_send_frame(&rig, &frames[i]);
	return rig_finish(&rig);
}

/* The newest decides, by its number, its round keys and its IV. */
TEST(a_key_differs_by_any_part) {
	static struct uplink_modem a, b;
	struct crypto_key *const key = &b.keys[1];

	a.key_count = 2;
	a.keys[1] = (struct crypto_key){.schedule = &a, .iv = {[15] = 1}, .sequence = 3};
	b = a;
	b.keys[0].sequence = 9;
	assert_true(uplink_key_same(&a, &b));
	key->schedule = &b;
	assert_false(uplink_key_same(&a, &b));
	*key = a.keys[1];
	key->sequence = 4;
	assert_false(uplink_key_same(&a, &b));
	*key = a.keys[1];
	key->iv[15] = 2;
	assert_false(uplink_key_same(&a, &b));
	b.key_count = 0;
	assert_false(uplink_key_same(&a, &b));
	assert_false(uplink_key_same(&b, &a));
	a.key_count = 0;
	assert_true(uplink_key_same(&a, &b));
}

TEST(both_generations_are_decrypted) {
	static const unsigned sequences[] = {1, 2, 15};

	for (size_t i = 0; i < ARRAY_COUNT(sequences); i++) {
		struct traffic_result r = half_and_half(sequences[i]);

		next_key_unset();
		assert_int_equal(r.proven, PACKETS);
		assert_true(traffic_result_good(&r));
	}
}

/* The number of one generation, the key of the other. */
TEST(the_number_names_the_key) {
	struct traffic_result r;
	unsigned wrong = 0;

	next_key_set(1);
	rig_start(&rig, "256", 1);
	rig_take(&rig, frames, PACKETS, NULL);
	for (unsigned i = 0; i < PACKETS; i++) {
		wrong += frames[i].modem == 0;
		if (frames[i].modem == 0) {
			struct docsis_down_header h = {
				.privacy = true,
				.encrypted = true,
				.key_sequence = 2,
				.said = 1,
				.ds = DS_EHDR_SEQUENCE,
				.priority = rig.sg.modems[0].service_flows[frames[i].flow].priority,
				.dsid = rig.sg.modems[0].service_flows[frames[i].flow].dsid,
				.sequence = (uint16_t)(0xffff + i),
			};

			docsis_down_header_write(&h, frames[i].size - frames[i].header_size,
						 frames[i].bytes);
		}
		rig_send_frame(&rig, &frames[i]);
	}
	r = rig_finish(&rig);
	next_key_unset();
	assert_true(wrong > 0);
	assert_int_equal(r.corrupted_by[CORRUPTION_CRC], wrong);
	assert_int_equal(r.proven, PACKETS - wrong);
}

ALL_TESTS(open_rig, close_rig)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets the upstream's sender makes, and which it knows again. */
#include "directions/uplink_parts.h"
#include "modems/uplink_frames.h"
#include "modems/uplink_packets.h"
#include "test_main.h"
#include "uplink_rig.h"

static struct uplink_packets packets;
static uint8_t frame[PACKET_SIZE_MAX + PACKET_START_MAX];

/* As the sender makes them. */
static void packets_begin(void) {
	char error[128];
	struct mix mix;

	uplink_rig_start("upstream-imix", 0);
	uplink_rig_run(1000);
	assert_int_equal(mix_parse("upstream-imix", PACKET_SIZE_MAX, &mix, error, sizeof(error)),
			 0);
	assert_int_equal(uplink_packets_create(&packets, &rig.sg, &mix, UPLINK_RIG_SEED), 0);
	packets.magic = rig.uplink->frames.packets.magic;
}

/* A packet of the first stream: its tag, and where that stands. */
static uint32_t packet_make(uint32_t sequence, struct packet_tag *tag, uint32_t *at) {
	uint32_t size;

	*tag = (struct packet_tag){packets.magic, 0, sequence, 12345};
	size = uplink_packet_write(&packets, 0, tag, frame);
	*at = (uint32_t)packet_tag_find(frame, size);
	assert_true(*at > 0);
	return size;
}

/* UDP over IPv4 may be without one. */
static bool has_checksum(void) {
	return load_be16(frame + 12) != 0x0800 || frame[23] != 17 || load_be16(frame + 40) != 0;
}

/* The time at which a packet was made may be any, where no checksum covers it. */
TEST(another_packet_does_not_match) {
	struct packet_tag tag, other;
	uint32_t at, size, sequence = 0, made;

	packets_begin();
	do
		size = packet_make(sequence++, &tag, &at);
	while (has_checksum());
	assert_true(uplink_matches(rig.uplink, &tag, frame, size));
	for (uint32_t i = 0; i < size; i++) {
		frame[i] ^= 0x10;
		packet_tag_read(frame + at, &other);
		assert_int_equal(uplink_matches(rig.uplink, &other, frame, size),
				 i >= at + 12 && i < at + 20);
		frame[i] ^= 0x10;
	}
	assert_false(uplink_matches(rig.uplink, &tag, frame, size - 1));
	made = uplink_made(rig.uplink, 0);
	for (int i = 0; i < 4; i++) {
		const struct packet_tag others[] = {
			{tag.magic, 0, sequence, tag.tsc},
			{tag.magic, 0, made, tag.tsc},
			{tag.magic, UPLINK_RIG_STREAMS, tag.sequence, tag.tsc},
			{tag.magic, UINT32_MAX, tag.sequence, tag.tsc},
		};

		assert_false(uplink_matches(rig.uplink, &others[i], frame, size));
	}
	size = packet_make(made - 1, &tag, &at);
	assert_true(uplink_matches(rig.uplink, &tag, frame, size));
	size = packet_make(made, &tag, &at); /* will be sent next */
	assert_false(uplink_matches(rig.uplink, &tag, frame, size));
	uplink_packets_free(&packets);
}

/* The newest key decides, by its number, its round keys and its IV. */
TEST(a_key_differs_by_any_part) {
	static struct uplink_modem a, b;
	const struct crypto_key key = {.schedule = &a, .iv = {[15] = 1}, .sequence = 3};
	const struct crypto_key others[] = {
		{.schedule = &b, .iv = {[15] = 1}, .sequence = 3},
		{.schedule = &a, .iv = {[15] = 1}, .sequence = 4},
		{.schedule = &a, .iv = {[15] = 2}, .sequence = 3},
	};

	a.key_count = 2;
	a.keys[1] = key;
	b = a;
	b.keys[0].sequence = 9;
	assert_true(uplink_key_same(&a, &b));
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		b.keys[1] = others[i];
		assert_false(uplink_key_same(&a, &b));
	}
	b.key_count = 0;
	assert_false(uplink_key_same(&a, &b));
	assert_false(uplink_key_same(&b, &a));
	a.key_count = 0;
	assert_true(uplink_key_same(&a, &b));
}

TEST(what_cannot_be_sent_is_refused) {
	assert_null(uplink_rig_create("70", 0, 0)); /* a modem has IPv6 only */
	assert_null(uplink_rig_create("upstream-imix-70", 0, 0));
	assert_null(uplink_rig_create("84", 0, 255));
	assert_null(uplink_rig_create("84", 0, 4097));
	rig.sg.modem_count = 0;
	assert_null(uplink_rig_create("84", 0, 0));
	rig.sg.modems = &rig.sg.modems[4]; /* without an address */
	rig.sg.modem_count = 1;
	assert_null(uplink_rig_create("84", 0, 0));
}

EACH_TEST(uplink_rig_begin, uplink_rig_end)
ALL_TESTS(uplink_rig_open, uplink_rig_close)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets the upstream's sender makes, and which it knows again. */
#include "modems/uplink_packets.h"
#include "test.h"
#include "uplink_group.h"

static uint32_t read_tag(const uint8_t *frame, uint32_t size, struct packet_tag *tag) {
	uint32_t at = (uint32_t)packet_tag_find(frame, size);

	assert_true(at > 0);
	packet_tag_read(frame + at, tag);
	return at;
}

/* UDP over IPv4 may be without one. */
static bool has_checksum(const uint8_t *frame) {
	return load_be16(frame + 12) != 0x0800 || frame[23] != 17 || load_be16(frame + 40) != 0;
}

/* The time at which a packet was made may be any, where no checksum covers it. */
static void another_packet_does_not_match(void **state) {
	uint8_t *frame = rig.came.plain;
	struct packet_tag tag, other;
	uint32_t at, size;

	(void)state;
	uplink_rig_start(&rig, "upstream-imix", 0);
	uplink_rig_run(&rig, 1000);
	prove_all();
	size = rig.came.plain_size;
	at = read_tag(frame, size, &tag);
	assert_true(uplink_matches(rig.uplink, &tag, frame, size));
	for (uint32_t i = 0; i < size; i++) {
		bool free = i >= at + 12 && i < at + 20 && !has_checksum(frame);

		frame[i] ^= 0x10;
		packet_tag_read(frame + at, &other);
		assert_int_equal(uplink_matches(rig.uplink, &other, frame, size), free);
		frame[i] ^= 0x10;
	}
	assert_false(uplink_matches(rig.uplink, &tag, frame, size - 1));
	other = tag;
	other.sequence++;
	assert_false(uplink_matches(rig.uplink, &other, frame, size));
	other.sequence = uplink_made(rig.uplink, tag.target);
	assert_false(uplink_matches(rig.uplink, &other, frame, size));
	other = tag;
	other.target = UPLINK_RIG_STREAMS;
	assert_false(uplink_matches(rig.uplink, &other, frame, size));
	other.target = UINT32_MAX;
	assert_false(uplink_matches(rig.uplink, &other, frame, size));
}

/* What will be sent next was not sent yet. */
static void the_next_packet_does_not_match(void **state) {
	struct uplink_packets packets;
	uint8_t frame[2048];
	struct packet_tag tag;
	struct mix mix;
	char error[128];
	uint32_t size;

	(void)state;
	uplink_rig_start(&rig, "upstream-imix", 0);
	uplink_rig_run(&rig, 1000);
	prove_all();
	assert_int_equal(mix_parse("upstream-imix", PACKET_SIZE_MAX, &mix, error, sizeof(error)),
			 0);
	assert_int_equal(uplink_packets_create(&packets, &rig.sg, &mix, UPLINK_RIG_SEED), 0);
	read_tag(rig.came.plain, rig.came.plain_size, &tag);
	packets.magic = tag.magic;
	tag.target = 0;
	tag.sequence = uplink_made(rig.uplink, 0) - 1;
	size = uplink_packet_write(&packets, 0, &tag, frame);
	assert_true(uplink_matches(rig.uplink, &tag, frame, size));
	tag.tsc += 1000;
	size = uplink_packet_write(&packets, 0, &tag, frame);
	assert_true(uplink_matches(rig.uplink, &tag, frame, size));
	tag.sequence++;
	size = uplink_packet_write(&packets, 0, &tag, frame);
	assert_false(uplink_matches(rig.uplink, &tag, frame, size));
	uplink_packets_free(&packets);
}

static struct uplink *create(const char *mix, uint32_t grant) {
	struct uplink_options options = {
		.rphy_port = rig.ports[0],
		.crypto = rig.crypto,
		.grant = grant,
	};
	char error[128];

	assert_int_equal(mix_parse(mix, PACKET_SIZE_MAX, &options.mix, error, sizeof(error)), 0);
	return uplink_create(&rig.sg, &options);
}

static void what_cannot_be_sent_is_refused(void **state) {
	(void)state;
	assert_null(create("70", 0)); /* a modem has IPv6 only */
	assert_null(create("upstream-imix-70", 0));
	assert_null(create("84", 255));
	assert_null(create("84", 4097));
	rig.sg.modem_count = 0;
	assert_null(create("84", 0));
	rig.sg.modems = &rig.sg.modems[4]; /* without an address */
	rig.sg.modem_count = 1;
	assert_null(create("84", 0));
}

static void small_packets_take_ipv4(void **state) {
	(void)state;
	rig.sg.modem_count = 2;
	uplink_rig_start(&rig, "64", 0);
	uplink_rig_run(&rig, 500);
	uplink_rig_prove(&rig);
	assert_int_equal(rig.came.by_address[0][0] + rig.came.by_address[1][0],
			 uplink_rig_made(&rig));
}

/* 70 bytes have room for IPv4 and UDP; of what is larger the other address has its part. */
static void acknowledgements_of_70_bytes_take_ipv4(void **state) {
	const struct rig_received *came = &rig.came;
	uint32_t packets;

	(void)state;
	rig.sg.modem_count = 1; /* with both */
	uplink_rig_start(&rig, "upstream-imix-70", 0);
	uplink_rig_run(&rig, 3000);
	uplink_rig_prove(&rig);
	packets = (uint32_t)uplink_rig_made(&rig);
	assert_in_range(came->by_size[70], packets * 65 / 100 - 3 * 23,
			packets * 65 / 100 + 3 * 23);
	assert_int_equal(came->by_size[70] + came->by_size[256] + came->by_size[1280], packets);
	assert_true(came->by_address[0][0] >= came->by_size[70]);
	assert_true(came->by_address[0][1] > packets / 10);
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
	const struct CMUnitTest tests[] = {
		test(another_packet_does_not_match),	      test(the_next_packet_does_not_match),
		test(what_cannot_be_sent_is_refused),	      test(small_packets_take_ipv4),
		test(acknowledgements_of_70_bytes_take_ipv4),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}

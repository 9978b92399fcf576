/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the pcapng writer: the bytes of each block, full buffers, and long texts. */
#include "test_main.h"

#include "capture/pcapng.h"
#include "vectors.h"

static uint8_t bytes[4096];
static struct pcapng p = {bytes, sizeof(bytes), 0};

/* Compares the written block with hexadecimal digits, and empties the buffer. */
static void check_block(bool written, const char *hexadecimal) {
	struct vector expected;

	assert_true(written);
	vector_read_hex(hexadecimal, &expected);
	assert_int_equal(p.size, expected.size);
	assert_memory_equal(bytes, expected.bytes, expected.size);
	p.size = 0;
}

/* Blocks of each type, with and without options. */
TEST(blocks_have_exact_bytes) {
	struct pcapng_interface i = {.link = PCAPNG_DOCSIS, .snap = 0x1234, .name = "eth0"};
	const struct pcapng_packet packet = {
		.interface = 2,
		.time = 0x0102030405060708,
		.bytes = (const uint8_t[]){1, 2, 3, 4, 5},
		.size = 5,
		.wire_size = 9,
		.flags = PCAPNG_OUTBOUND,
		.comment = "hm",
	};
	struct pcapng_statistics s = {
		.interface = 1, .time = 5, .counted = true, .received = 7, .dropped = 3};

	check_block(pcapng_section(&p, "abcde"),
		    "0a0d0d0a 2c000000 4d3c2b1a 0100 0000 ffffffffffffffff"
		    "0400 0500 6162636465000000 0000 0000 2c000000");
	check_block(pcapng_interface(&p, &i),
		    "01000000 28000000 8f00 0000 34120000 0200 0400 65746830 0900 0100 09000000"
		    "0000 0000 28000000");
	i = (struct pcapng_interface){.link = PCAPNG_ETHERNET, .name = "", .about = "x", .fcs = 4};
	check_block(pcapng_interface(&p, &i),
		    "01000000 34000000 0100 0000 00000000 0200 0000 0300 0100 78000000"
		    "0900 0100 09000000 0d00 0100 04000000 0000 0000 34000000");
	check_block(
		pcapng_packet(&p, &packet),
		"06000000 3c000000 02000000 04030201 08070605 05000000 09000000 0102030405000000"
		"0100 0200 686d0000 0200 0400 02000000 0000 0000 3c000000");
	check_block(pcapng_statistics(&p, &s),
		    "05000000 34000000 01000000 00000000 05000000 0400 0800 0700000000000000"
		    "0500 0800 0300000000000000 0000 0000 34000000");
	s = (struct pcapng_statistics){.comment = "abc"};
	check_block(pcapng_statistics(&p, &s),
		    "05000000 24000000 00000000 00000000 00000000 0100 0300 61626300"
		    "0000 0000 24000000");
}

/* A block that does not fit is not written, and no byte behind the capacity changes. */
TEST(block_beyond_capacity_is_not_written) {
	const struct pcapng_packet packet = {
		.bytes = (const uint8_t[]){1, 2, 3}, .size = 3, .wire_size = 3, .comment = "why"};
	struct pcapng whole = {bytes, sizeof(bytes), 0};

	assert_true(pcapng_section(&whole, "before"));
	assert_true(pcapng_packet(&whole, &packet));
	for (size_t capacity = 0; capacity < whole.size; capacity++) {
		struct pcapng small = {bytes, capacity, 0};
		size_t before;

		memset(bytes, 0xee, sizeof(bytes));
		pcapng_section(&small, "before");
		before = small.size;
		assert_false(pcapng_packet(&small, &packet));
		assert_int_equal(small.size, before);
		for (size_t i = capacity; i < whole.size; i++)
			assert_int_equal(bytes[i], 0xee);
	}
}

/* A long comment is truncated between two UTF-8 characters. */
TEST(long_text_is_truncated_at_character) {
	char text[2 * PCAPNG_TEXT];
	const uint8_t *option;

	/* U+20AC */
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	text[sizeof(text) - 2] = '\0';
	assert_true(pcapng_statistics(&p, &(struct pcapng_statistics){.comment = text}));
	option = bytes + 20;
	assert_int_equal(option[2] | option[3] << 8, PCAPNG_TEXT / 3 * 3);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests psp.h: PSP headers, segment tables and segments of DEPI and UEPI packets. */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/psp.h"
#include "wire_kit.h"

static struct psp psp;

static enum psp_verdict parse(const void *bytes, size_t size, unsigned extra) {
	return psp_parse(guard_copy(&guard, bytes, size), size, extra, &psp);
}

TEST(captured_packet_is_parsed) {
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	struct vector v;

	vector_get("psp.txt", "map_extra", &v);
	assert_int_equal(parse(v.bytes, v.size, 2), PSP_OK);
	assert_true(psp.sequence_valid);
	assert_int_equal(psp.flow, 0);
	assert_int_equal(psp.count, 1);
	assert_int_equal(psp.sequence, 0x6564);
	assert_int_equal(load_be16(psp.extra), 0x0090);
	assert_int_equal(psp.data_size, 62);
	assert_true(psp_next(&psp, &cursor, &segment));
	assert_true(segment.begin && segment.end);
	assert_int_equal(segment.length, 62);
	assert_false(psp_next(&psp, &cursor, &segment));
	assert_false(psp_next(&psp, &cursor, &segment));
	/* unless the caller states the extra bytes, the packet is too long */
	assert_int_equal(parse(v.bytes, v.size, 0), PSP_TRAILING);
	vector_get("psp.txt", "map_bare", &v);
	assert_int_equal(parse(v.bytes, v.size, 0), PSP_OK);
	assert_null(psp.extra);
	assert_int_equal(psp.data_size, 52);
}

static uint16_t segment_length(unsigned index) {
	return (uint16_t)(index * 37 % 200);
}

/* Writes `count` segments; bits 0, 1 of the index are begin and end flag. Returns the size. */
static size_t write_packet(uint8_t *out, unsigned count, unsigned extra, uint8_t flow) {
	size_t size = psp_header_size(count, extra);

	memset(out, 0x77, size);
	psp_header_write(out, flow, (uint8_t)count, (uint16_t)(0xfff0 + count));
	for (unsigned i = 0; i < count; i++) {
		psp_entry_write(out + PSP_HEADER_FIXED + PSP_ENTRY_SIZE * i, i & 1, i & 2,
				segment_length(i));
		memset(out + size, (int)i, segment_length(i));
		size += segment_length(i);
	}
	return size;
}

TEST(packets_round_trip) {
	static uint8_t packet[PSP_COUNT_MAX * 202 + 64];

	for (unsigned n = 0; n < 256 * 3; n++) {
		unsigned count = n / 3;
		unsigned extra = n % 3 * 2;
		size_t size = write_packet(packet, count, extra, n & PSP_FLOW_MAX);
		struct psp_cursor cursor = {0};
		struct psp_segment segment;

		assert_int_equal(parse(packet, size, extra), PSP_OK);
		assert_int_equal(psp.count, count);
		assert_int_equal(psp.flow, n & PSP_FLOW_MAX);
		assert_int_equal(psp.sequence, (uint16_t)(0xfff0 + count));
		assert_int_equal(psp.data_size, size - psp_header_size(count, extra));
		if (extra > 0)
			assert_ptr_equal(psp.extra + extra, psp.data);
		for (unsigned i = 0; i < count; i++) {
			assert_true(psp_next(&psp, &cursor, &segment));
			assert_int_equal(segment.begin, i & 1);
			assert_int_equal(segment.end, (i & 2) >> 1);
			assert_int_equal(segment.length, segment_length(i));
			for (unsigned at = 0; at < segment.length; at++)
				assert_int_equal(segment.data[at], i);
		}
		assert_false(psp_next(&psp, &cursor, &segment));
	}
}

static int parse_with_extra(const uint8_t *bytes, size_t size) {
	return parse(bytes, size, 2);
}

TEST(truncated_packet_is_rejected) {
	uint8_t packet[1024];

	for (unsigned count = 2; count <= 5; count++) {
		size_t size = write_packet(packet, count, 2, 0);
		size_t header_size = psp_header_size(count, 2);

		assert_prefixes(parse_with_extra, packet, 0, PSP_HEADER_FIXED, PSP_TRUNCATED);
		assert_prefixes(parse_with_extra, packet, PSP_HEADER_FIXED, header_size,
				PSP_TABLE_TRUNCATED);
		assert_prefixes(parse_with_extra, packet, header_size, size, PSP_SEGMENT_TRUNCATED);
		assert_prefixes(parse_with_extra, packet, size + 1, size + 2, PSP_TRAILING);
	}
}

TEST(header_flags_are_parsed) {
	assert_int_equal(parse("\x00\x00\x12\x34", 4, 0), PSP_OK);
	assert_false(psp.sequence_valid);
	assert_int_equal(psp.sequence, 0x1234);
	assert_int_equal(psp.count, 0);
	assert_int_equal(psp.data_size, 0);
	assert_int_equal(parse("\x4f\x00\x00\x00", 4, 0), PSP_OK);
	assert_int_equal(psp.flow, 7); /* the reserved bit is ignored */
	assert_int_equal(parse("\xc0\x00\x00\x00", 4, 0), PSP_CONTROL);
	assert_int_equal(parse("\x50\x00\x00\x00", 4, 0), PSP_EXTENDED);
	assert_int_equal(parse("\x60\x00\x00\x00", 4, 0), PSP_EXTENDED);
	assert_int_equal(parse("\x40\x00\x00\x00", 4, 2), PSP_TABLE_TRUNCATED);
}

ALL_TESTS(guard_group_open, guard_group_close)

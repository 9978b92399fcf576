/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests segment.h: segment headers of continuous concatenation and fragmentation. */
#include "test_main.h"

#include "wire/bytes.h"
#include "wire/hcs.h"
#include "wire/segment.h"
#include "wire_kit.h"

/* PFI, pointer, sequence, SID cluster, request. */
static const struct {
	const char *name;
	struct segment_header h;
} cases[] = {
	{"example", {true, 0, 5, 2, 0x10}},
	{"middle", {false, 0, 6, 2}},
	{"zero", {false}},
	{"highest",
	 {true, SEGMENT_POINTER_MAX, SEGMENT_SEQUENCE_MASK, SEGMENT_CLUSTER_MAX, 0xffff}},
	{"mixed", {true, 0x2001, 0x1000, 4, 0x8000}},
};

static void assert_header_equal(const struct segment_header *a, const struct segment_header *b) {
	assert_int_equal(a->pointer_valid, b->pointer_valid);
	assert_int_equal(a->pointer, b->pointer);
	assert_int_equal(a->sequence, b->sequence);
	assert_int_equal(a->sid_cluster, b->sid_cluster);
	assert_int_equal(a->request, b->request);
}

TEST(published_headers_round_trip) {
	struct segment_header h;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		vector_get("segment.txt", cases[i].name, &v);
		assert_int_equal(v.size, SEGMENT_HEADER_SIZE);
		assert_int_equal(segment_header_parse(v.bytes, v.size, &h), SEGMENT_OK);
		assert_header_equal(&h, &cases[i].h);
		segment_header_write(&cases[i].h, guard_tail(&guard, SEGMENT_HEADER_SIZE));
		assert_vector("segment.txt", cases[i].name, SEGMENT_HEADER_SIZE);
	}
}

TEST(values_are_masked_to_field_width) {
	struct segment_header wide = {true, 0xc005, 0xe006, 0xf9}, masked = {true, 5, 6, 1};
	uint8_t out[SEGMENT_HEADER_SIZE], expected[SEGMENT_HEADER_SIZE];

	segment_header_write(&wide, out);
	segment_header_write(&masked, expected);
	assert_memory_equal(out, expected, sizeof(out));
	assert_int_equal(out[0], 0x80); /* the reserved bit stays 0 */
	wide.pointer_valid = false;
	segment_header_write(&wide, out);
	assert_int_equal(load_be16(out), 0);
}

/* MULPI: the receiver ignores the reserved bit, and the pointer unless PFI is set. */
TEST(reserved_bit_and_unused_pointer_are_ignored) {
	uint8_t out[SEGMENT_HEADER_SIZE] = {0x40, 0x07, 0x00, 0x2a, 0x00, 0x10};
	struct segment_header h;

	docsis_hcs_write(out, SEGMENT_HEADER_SIZE - DOCSIS_HCS_SIZE);
	assert_int_equal(segment_header_parse(out, sizeof(out), &h), SEGMENT_OK);
	assert_false(h.pointer_valid);
	assert_int_equal(h.pointer, 0);
	assert_int_equal(h.sequence, 5);

	out[0] |= 0x80;
	docsis_hcs_write(out, SEGMENT_HEADER_SIZE - DOCSIS_HCS_SIZE);
	assert_int_equal(segment_header_parse(out, sizeof(out), &h), SEGMENT_OK);
	assert_int_equal(h.pointer, 7);
}

static int parse_verdict(const uint8_t *bytes, size_t size) {
	struct segment_header h;

	return segment_header_parse(bytes, size, &h);
}

/* Each truncation, trailing bytes, and each pair of flipped bits. */
TEST(truncated_and_corrupt_headers_are_rejected) {
	FILE *f = vectors_open("segment.txt");
	struct vector v;

	while (vector_next(f, &v)) {
		assert_prefixes(parse_verdict, v.bytes, 0, v.size, SEGMENT_TRUNCATED);
		assert_int_equal(parse_verdict(v.bytes, v.size + 1), SEGMENT_OK);
		for (unsigned n = 0; n < 64 * 64; n++) {
			uint8_t *bytes = guard_copy(&guard, v.bytes, v.size);

			flip_bit(bytes, n / 64);
			if (n % 64 != n / 64)
				flip_bit(bytes, n % 64);
			assert_int_equal(parse_verdict(bytes, v.size), SEGMENT_BAD_HCS);
		}
	}
	fclose(f);
}

ALL_TESTS(guard_group_open, guard_group_close)

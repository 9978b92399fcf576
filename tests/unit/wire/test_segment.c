/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "guard_group.h"
#include "vectors.h"
#include "wire/hcs.h"
#include "wire/segment.h"

static const struct {
	const char *name;
	struct segment_header h;
} cases[] = {
	{"example", {.pointer_valid = true, .sequence = 5, .sid_cluster = 2, .request = 0x10}},
	{"middle", {.sequence = 6, .sid_cluster = 2}},
	{"zero", {.sequence = 0}},
	{"highest",
	 {.pointer_valid = true,
	  .pointer = SEGMENT_POINTER_MAX,
	  .sequence = SEGMENT_SEQUENCE_MASK,
	  .sid_cluster = SEGMENT_CLUSTER_MAX,
	  .request = 0xffff}},
	{"mixed",
	 {.pointer_valid = true,
	  .pointer = 0x2001,
	  .sequence = 0x1000,
	  .sid_cluster = 4,
	  .request = 0x8000}},
};

static void assert_same(const struct segment_header *a, const struct segment_header *b) {
	assert_int_equal(a->pointer_valid, b->pointer_valid);
	assert_int_equal(a->pointer, b->pointer);
	assert_int_equal(a->sequence, b->sequence);
	assert_int_equal(a->sid_cluster, b->sid_cluster);
	assert_int_equal(a->request, b->request);
}

TEST(reads_and_writes_the_published_headers) {
	struct segment_header h;
	struct vector v;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		vector_get("segment.txt", cases[i].name, &v);
		assert_int_equal(v.size, SEGMENT_HEADER_SIZE);
		assert_int_equal(
			segment_header_parse(guard_copy(&guard, v.bytes, v.size), v.size, &h),
			SEGMENT_OK);
		assert_same(&h, &cases[i].h);

		uint8_t *out = guard_take(&guard, v.size);

		segment_header_write(&cases[i].h, out);
		assert_memory_equal(out, v.bytes, v.size);
	}
}

/* Every value of each field, the others mixed from it. */
TEST(reads_back_what_it_writes) {
	uint8_t *out = guard_take(&guard, SEGMENT_HEADER_SIZE);
	struct segment_header read;

	for (unsigned n = 0; n <= 0xffff; n++) {
		struct segment_header h = {
			.pointer_valid = n % 3 != 0,
			.pointer = n % 3 != 0 ? n & SEGMENT_POINTER_MAX : 0,
			.sequence = (n * 7) & SEGMENT_SEQUENCE_MASK,
			.sid_cluster = (uint8_t)(n >> 5 & SEGMENT_CLUSTER_MAX),
			.request = (uint16_t)(n * 0x101),
		};

		segment_header_write(&h, out);
		assert_int_equal(segment_header_parse(out, SEGMENT_HEADER_SIZE, &read), SEGMENT_OK);
		assert_same(&read, &h);
	}
}

TEST(cuts_values_to_their_fields) {
	struct segment_header h = {
		.pointer_valid = true, .pointer = 0xc005, .sequence = 0xe006, .sid_cluster = 0xf9};
	uint8_t out[SEGMENT_HEADER_SIZE];
	struct segment_header read;

	segment_header_write(&h, out);
	assert_int_equal(segment_header_parse(out, sizeof(out), &read), SEGMENT_OK);
	assert_int_equal(read.pointer, 5);
	assert_int_equal(read.sequence, 6);
	assert_int_equal(read.sid_cluster, 1);
	assert_int_equal(out[0], 0x80); /* the reserved bit stays 0 */

	h.pointer_valid = false;
	segment_header_write(&h, out);
	assert_int_equal(out[0], 0);
	assert_int_equal(out[1], 0);
}

/* MULPI: the reserved bit is not looked at, and the pointer counts with PFI only. */
TEST(passes_over_what_has_no_meaning) {
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

/* Every truncation, more bytes behind it, every flipped bit, and every pair of them. */
TEST(survives_damage) {
	FILE *f = vectors_open("segment.txt");
	struct segment_header h;
	struct vector v;

	while (vector_next(f, &v)) {
		for (size_t length = 0; length < v.size; length++)
			assert_int_equal(segment_header_parse(guard_copy(&guard, v.bytes, length),
							      length, &h),
					 SEGMENT_TRUNCATED);
		assert_int_equal(segment_header_parse(v.bytes, v.size + 1, &h), SEGMENT_OK);
		for (unsigned n = 0; n < 64 * 64; n++) {
			uint8_t *bytes = guard_copy(&guard, v.bytes, v.size);
			unsigned first = n / 64, second = n % 64;

			bytes[first / 8] ^= (uint8_t)(1 << first % 8);
			if (second != first)
				bytes[second / 8] ^= (uint8_t)(1 << second % 8);
			assert_int_equal(segment_header_parse(bytes, v.size, &h), SEGMENT_BAD_HCS);
		}
	}
	fclose(f);
}

ALL_TESTS(guard_group_open, guard_group_close)

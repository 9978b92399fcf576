/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "guard_group.h"
#include "random.h"
#include "vectors.h"
#include "wire/bytes.h"
#include "wire/hcs.h"

/* The definition, bit by bit, to hold against the table. */
static uint16_t hcs_by_definition(const uint8_t *bytes, size_t length) {
	unsigned crc = 0xffff;

	for (size_t bit = 0; bit < 8 * length; bit++) {
		unsigned in = (unsigned)(bytes[bit / 8] >> bit % 8) & 1;
		unsigned out = (crc ^ in) & 1;

		crc = crc >> 1 ^ (out ? 0x8408 : 0);
	}
	return (uint16_t)(crc ^ 0xffff);
}

TEST(knows_the_published_headers) {
	FILE *f = vectors_open("hcs.txt");
	struct vector v;
	unsigned count = 0;

	for (; vector_next(f, &v); count++) {
		size_t length = v.size - DOCSIS_HCS_SIZE;
		uint8_t *header = guard_copy(&guard, v.bytes, v.size);

		assert_true(docsis_hcs_good(header, length));
		assert_int_equal(docsis_hcs(header, length), load_le16(v.bytes + length));
		memset(header + length, 0, DOCSIS_HCS_SIZE);
		docsis_hcs_write(header, length);
		assert_memory_equal(header, v.bytes, v.size);
		/* The residue of X-25 over a header and its own HCS. */
		assert_int_equal(docsis_hcs(header, v.size), 0x0f47);
	}
	fclose(f);
	assert_int_equal(count, 15);
}

TEST(matches_the_definition) {
	uint8_t bytes[246];
	uint32_t seed = 1;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(seed >> 24);
		assert_int_equal(docsis_hcs(bytes, i), hcs_by_definition(bytes, i));
	}
	for (unsigned value = 0; value < 256; value++) {
		bytes[0] = (uint8_t)value;
		assert_int_equal(docsis_hcs(bytes, 1), hcs_by_definition(bytes, 1));
	}
}

/* Of every length, those too for which there are no shares: the right one is good, and none with a wrong bit. */
TEST(good_or_not) {
	struct random rnd = {11};
	uint8_t bytes[40];

	for (size_t length = 0; length + DOCSIS_HCS_SIZE <= sizeof(bytes); length++) {
		random_fill(&rnd, bytes, length);
		docsis_hcs_write(bytes, length);
		assert_true(docsis_hcs_good(bytes, length));
		for (size_t bit = 0; bit < 8 * (length + DOCSIS_HCS_SIZE); bit++) {
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(docsis_hcs_good(bytes, length));
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

/* Whichever bytes of whatever header change to what: by shares it is the same as anew. */
TEST(changes_by_shares) {
	struct random rnd = {7};

	for (int round = 0; round < 100000; round++) {
		size_t length = random_between(&rnd, 1, DOCSIS_HCS_SHARES);
		uint8_t bytes[DOCSIS_HCS_SHARES];
		uint16_t hcs;

		random_fill(&rnd, bytes, length);
		hcs = docsis_hcs(bytes, length);
		for (uint32_t changes = random_below(&rnd, 8); changes > 0; changes--) {
			size_t at = random_below(&rnd, (uint32_t)length);
			uint8_t change = (uint8_t)random_next(&rnd);

			bytes[at] ^= change;
			hcs ^= docsis_hcs_share(length - 1 - at, change);
		}
		assert_int_equal(hcs, docsis_hcs(bytes, length));
	}
}

ALL_TESTS(guard_group_open, guard_group_close)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests crc32.h and hcs.h: the CRC of Ethernet frames and the HCS of DOCSIS MAC headers. */
#include "test_main.h"

#include "random.h"
#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/hcs.h"
#include "wire_kit.h"

TEST(crc_matches_published_frames) {
	FILE *f = vectors_open("crc.txt");
	struct vector v;
	unsigned count = 0;

	for (; vector_next(f, &v); count++) {
		size_t length = v.size - ETHERNET_CRC_SIZE;
		uint8_t *frame = guard_copy(&guard, v.bytes, v.size);

		assert_true(ethernet_crc_good(frame, v.size));
		assert_int_equal(ethernet_crc(frame, length), load_le32(v.bytes + length));
		memset(frame + length, 0, ETHERNET_CRC_SIZE);
		assert_false(ethernet_crc_good(frame, v.size));
		ethernet_crc_write(frame, length);
		assert_memory_equal(frame, v.bytes, v.size);
	}
	fclose(f);
	assert_int_equal(count, 6);
}

/* The CRC of 0 bytes is 0, but a CRC alone is not a frame. */
TEST(crc_rejects_frame_without_data) {
	static const uint8_t zeroes[ETHERNET_CRC_SIZE];

	for (size_t length = 0; length <= sizeof(zeroes); length++)
		assert_false(ethernet_crc_good(guard_copy(&guard, zeroes, length), length));
}

/* The HCS computed bit by bit as X.25 defines it; the reference for docsis_hcs(). */
static uint16_t hcs_by_definition(const uint8_t *bytes, size_t length) {
	unsigned crc = 0xffff;

	for (size_t bit = 0; bit < 8 * length; bit++) {
		unsigned in = (unsigned)(bytes[bit / 8] >> bit % 8) & 1;
		unsigned out = (crc ^ in) & 1;

		crc = crc >> 1 ^ (out ? 0x8408 : 0);
	}
	return (uint16_t)(crc ^ 0xffff);
}

TEST(hcs_matches_published_headers) {
	FILE *f = vectors_open("hcs.txt");
	struct vector v;
	unsigned count = 0;

	for (; vector_next(f, &v); count++) {
		size_t length = v.size - DOCSIS_HCS_SIZE;

		assert_true(docsis_hcs_good(guard_copy(&guard, v.bytes, v.size), length));
		assert_int_equal(docsis_hcs(v.bytes, length), load_le16(v.bytes + length));
		assert_int_equal(docsis_hcs(v.bytes, length), hcs_by_definition(v.bytes, length));
		/* the X.25 residue of a header with its HCS */
		assert_int_equal(docsis_hcs(v.bytes, v.size), 0x0f47);
	}
	fclose(f);
	assert_int_equal(count, 15);
}

/* Also for lengths beyond DOCSIS_HCS_SHARES. */
TEST(hcs_detects_single_bit_errors) {
	struct random rnd = {11};
	uint8_t bytes[246];

	for (size_t length = 0; length + DOCSIS_HCS_SIZE <= sizeof(bytes); length++) {
		random_fill(&rnd, bytes, length);
		docsis_hcs_write(bytes, length);
		assert_int_equal(load_le16(bytes + length), hcs_by_definition(bytes, length));
		assert_true(docsis_hcs_good(bytes, length));
		for (size_t bit = 0; bit < 8 * (length + DOCSIS_HCS_SIZE); bit++) {
			flip_bit(bytes, bit);
			assert_false(docsis_hcs_good(bytes, length));
			flip_bit(bytes, bit);
		}
	}
}

/* Updating the HCS by the share of each changed byte gives the HCS of the changed header. */
TEST(hcs_shares_update_changed_header) {
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

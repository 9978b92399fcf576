/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "guard_group.h"
#include "vectors.h"
#include "wire/bytes.h"
#include "wire/crc32.h"

TEST(knows_the_published_frames) {
	FILE *f = vectors_open("crc.txt");
	struct vector v;
	unsigned count = 0;

	for (; vector_next(f, &v); count++) {
		size_t length = v.size - ETHERNET_CRC_SIZE;
		uint8_t *frame = guard_copy(&guard, v.bytes, v.size);

		assert_true(ethernet_crc_good(frame, v.size));
		assert_int_equal(ethernet_crc(frame, length), load_le32(v.bytes + length));
		memset(frame + length, 0, ETHERNET_CRC_SIZE);
		ethernet_crc_write(frame, length);
		assert_memory_equal(frame, v.bytes, v.size);
	}
	fclose(f);
	assert_int_equal(count, 6);
}

TEST(gives_the_check_value) {
	assert_int_equal(ethernet_crc((const uint8_t *)"123456789", 9), 0xcbf43926);
}

TEST(finds_every_flipped_bit) {
	struct vector v;

	vector_get("crc.txt", "map", &v);
	for (size_t bit = 0; bit < 8 * v.size; bit++) {
		v.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(ethernet_crc_good(v.bytes, v.size));
		v.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* A CRC with nothing in front of it is no frame, though the CRC of nothing is 0. */
TEST(refuses_what_holds_no_frame) {
	static const uint8_t zeroes[ETHERNET_CRC_SIZE];

	for (size_t length = 0; length <= sizeof(zeroes); length++)
		assert_false(ethernet_crc_good(guard_copy(&guard, zeroes, length), length));
}

ALL_TESTS(guard_group_open, guard_group_close)

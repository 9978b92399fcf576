/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_main.h"

#include "guard_group.h"
#include "wire/bytes.h"

static const uint8_t sample[] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0};

TEST(loads_in_both_orders) {
	assert_int_equal(load_be16(sample), 0x1234);
	assert_int_equal(load_be32(sample), 0x12345678);
	assert_true(load_be64(sample) == 0x123456789abcdef0);
	assert_int_equal(load_le16(sample), 0x3412);
	assert_int_equal(load_le32(sample), 0x78563412);
}

/* Each store writes its own bytes, at any alignment, and no other. */
TEST(stores_what_loads_read) {
	for (size_t at = 0; at < 8; at++) {
		uint8_t bytes[16];

		memset(bytes, 0xaa, sizeof(bytes));
		store_be32(bytes + at, 0x12345678);
		assert_memory_equal(bytes + at, sample, 4);
		assert_int_equal(bytes[at + 4], 0xaa);
		store_be16(bytes + at, 0x789a);
		assert_int_equal(load_be16(bytes + at), 0x789a);
		assert_int_equal(bytes[at + 2], 0x56);
		store_le32(bytes + at, 0x78563412);
		assert_memory_equal(bytes + at, sample, 4);
		store_le16(bytes + at, 0x789a);
		assert_int_equal(load_be16(bytes + at), 0x9a78);
		assert_int_equal(bytes[at + 2], 0x56);
	}
}

TEST(stays_inside) {
	assert_int_equal(load_be16(guard_copy(&guard, sample, 2)), 0x1234);
	assert_int_equal(load_le32(guard_copy(&guard, sample, 4)), 0x78563412);
	assert_true(load_be64(guard_copy(&guard, sample, 8)) == 0x123456789abcdef0);
	store_be32(guard_take(&guard, 4), 1);
	store_le16(guard_take(&guard, 2), 1);
}

ALL_TESTS(guard_group_open, guard_group_close)

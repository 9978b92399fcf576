/* SPDX-License-Identifier: BSD-3-Clause */
/* Assertions for parsers and writers of bytes that end at an inaccessible page (guard.h). */
#pragma once

#include "guard_group.h"
#include "vectors.h"

/* Parses bytes; returns the parser's verdict as a number. */
typedef int parse_function(const uint8_t *bytes, size_t size);

/* Asserts that parsing each prefix of `from` to `to` - 1 bytes returns `expected`. */
static inline void assert_prefixes(parse_function *verdict, const uint8_t *bytes, size_t from,
				   size_t to, int expected) {
	for (size_t size = from; size < to; size++)
		assert_int_equal(verdict(guard_copy(&guard, bytes, size), size), expected);
}

static inline void flip_bit(uint8_t *bytes, size_t bit) {
	bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* Asserts that nothing was written to a buffer of guard_tail(). */
static inline void assert_unwritten(const uint8_t *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], 0xaa);
}

/* Asserts that the last `size` bytes of the guarded buffer equal the named vector. */
static inline void assert_vector(const char *file, const char *name, size_t size) {
	struct vector v;

	vector_get(file, name, &v);
	assert_int_equal(size, v.size);
	assert_memory_equal(guard.base + guard.size - size, v.bytes, size);
}

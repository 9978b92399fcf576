/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that are cut off, changed or left alone, in front of a page that is none. */
#pragma once

#include "guard_group.h"
#include "vectors.h"

/* What a parser says of bytes, as a number. */
typedef int parser_verdict(const uint8_t *bytes, size_t size);

/* The first `from` to `to` - 1 of these bytes have one verdict. */
static inline void cut_off(parser_verdict *verdict, const uint8_t *bytes, size_t from, size_t to,
			   int wanted) {
	for (size_t size = from; size < to; size++)
		assert_int_equal(verdict(guard_copy(&guard, bytes, size), size), wanted);
}

static inline void flip(uint8_t *bytes, size_t bit) {
	bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* What guard_take() gave is as it was. */
static inline void untouched(const uint8_t *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], 0xaa);
}

/* What was written at the end of the guarded buffer is the message of that name. */
static inline void is_vector(const char *file, const char *name, size_t size) {
	struct vector v;

	vector_get(file, name, &v);
	assert_int_equal(size, v.size);
	assert_memory_equal(guard.base + guard.room - size, v.bytes, size);
}

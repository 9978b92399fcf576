/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the middle half of many measurements, which excludes those during which the thread was
 * descheduled. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct middle {
	unsigned first, end; /* indices; `end` is after the last one */
};

static inline int middle_compare(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts `count` items of `size` bytes by their first member, a uint64_t. Returns their middle half. */
static inline struct middle middle_half(void *items, unsigned count, size_t size) {
	qsort(items, count, size, middle_compare);
	return (struct middle){count / 4, count - count / 4};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer that ends at an inaccessible page: an overrun of one byte faults, with or without a sanitizer. */
#pragma once

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
	uint8_t *base;
	size_t size; /* bytes before the inaccessible page */
	size_t page;
};

/* Maps at least `size` bytes. Include a header with cmocka before this one. */
static inline struct guard guard_open(size_t size) {
	struct guard guard = {.page = (size_t)sysconf(_SC_PAGESIZE)};

	guard.size = (size / guard.page + 1) * guard.page;
	guard.base = mmap(NULL, guard.size + guard.page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(guard.base != MAP_FAILED);
	assert_int_equal(mprotect(guard.base + guard.size, guard.page, PROT_NONE), 0);
	return guard;
}

/* The last `size` bytes before the inaccessible page, filled with 0xaa. */
static inline uint8_t *guard_tail(const struct guard *guard, size_t size) {
	assert_true(size <= guard->size);
	return memset(guard->base + guard->size - size, 0xaa, size);
}

/* A copy of `size` bytes that ends at the inaccessible page. The source may overlap the guarded buffer. */
static inline uint8_t *guard_copy(const struct guard *guard, const void *bytes, size_t size) {
	assert_true(size <= guard->size);
	return memmove(guard->base + guard->size - size, bytes, size);
}

static inline void guard_close(struct guard *guard) {
	munmap(guard->base, guard->size + guard->page);
}

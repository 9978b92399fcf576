/* SPDX-License-Identifier: BSD-3-Clause */
#include "failing_allocations.h"

#include "test.h"

__typeof__(malloc) __real_malloc, __wrap_malloc;
__typeof__(calloc) __real_calloc, __wrap_calloc;
__typeof__(aligned_alloc) __real_aligned_alloc, __wrap_aligned_alloc;
__typeof__(realloc) __real_realloc, __wrap_realloc;
__typeof__(reallocarray) __real_reallocarray, __wrap_reallocarray;
__typeof__(free) __real_free, __wrap_free;

static long left = -1; /* allocations before the one that fails; below 0: none fails */
static void *blocks[8192]; /* allocated, not freed */
static size_t block_count;
static bool active;

static bool fails_now(void) {
	return active && left >= 0 && left-- == 0;
}

static void *record(void *memory) {
	if (active && memory != NULL && block_count < ARRAY_COUNT(blocks))
		blocks[block_count++] = memory;
	return memory;
}

/* Ignores unknown blocks: the C library allocates some without the wrappers. */
static void forget_block(const void *memory) {
	for (size_t i = block_count; i > 0; i--) {
		if (blocks[i - 1] == memory) {
			blocks[i - 1] = blocks[--block_count];
			return;
		}
	}
}

void *__wrap_malloc(size_t size) {
	return fails_now() ? NULL : record(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
	return fails_now() ? NULL : record(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
	return fails_now() ? NULL : record(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *memory, size_t size) {
	void *next = fails_now() ? NULL : __real_realloc(memory, size);

	if (next != NULL)
		forget_block(memory);
	return record(next);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t size) {
	void *next = fails_now() ? NULL : __real_reallocarray(memory, count, size);

	if (next != NULL)
		forget_block(memory);
	return record(next);
}

void __wrap_free(void *memory) {
	forget_block(memory);
	__real_free(memory);
}

void fail_allocations(allocating_function *function, void *context, bool may_recover) {
	long n = 0;

	left = -1;
	while (left < 0) {
		bool succeeded;

		block_count = 0;
		left = n++;
		active = true;
		succeeded = function(context);
		active = false;
		assert_int_equal(block_count, 0);
		assert_true(succeeded == (left >= 0) || (succeeded && may_recover));
		assert_true(n < 10000);
	}
	assert_true(n > 2);
}

void fail_each_allocation(allocating_function *function, void *context) {
	fail_allocations(function, context, false);
}

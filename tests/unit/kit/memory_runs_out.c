/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory_runs_out.h"

#include "test.h"

__typeof__(malloc) __real_malloc, __wrap_malloc;
__typeof__(calloc) __real_calloc, __wrap_calloc;
__typeof__(aligned_alloc) __real_aligned_alloc, __wrap_aligned_alloc;
__typeof__(realloc) __real_realloc, __wrap_realloc;
__typeof__(reallocarray) __real_reallocarray, __wrap_reallocarray;
__typeof__(free) __real_free, __wrap_free;

static long left = -1; /* allocations until one fails; below 0: none does */
static void *pieces[8192]; /* that are held */
static size_t held;
static bool watching;

static bool runs_out(void) {
	return watching && left >= 0 && left-- == 0;
}

static void *counted(void *memory) {
	if (watching && memory != NULL && held < ARRAY_COUNT(pieces))
		pieces[held++] = memory;
	return memory;
}

/* What the C library took for a stream is not known here. */
static void forget(const void *memory) {
	for (size_t i = held; i > 0; i--) {
		if (pieces[i - 1] == memory) {
			pieces[i - 1] = pieces[--held];
			return;
		}
	}
}

void *__wrap_malloc(size_t size) {
	return runs_out() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
	return runs_out() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
	return runs_out() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *memory, size_t size) {
	void *next = runs_out() ? NULL : __real_realloc(memory, size);

	if (next != NULL)
		forget(memory);
	return counted(next);
}

void *__wrap_reallocarray(void *memory, size_t count, size_t size) {
	void *next = runs_out() ? NULL : __real_reallocarray(memory, count, size);

	if (next != NULL)
		forget(memory);
	return counted(next);
}

void __wrap_free(void *memory) {
	forget(memory);
	__real_free(memory);
}

void until_memory_suffices(attempt *try, void *context, bool tries_again) {
	long n = 0;

	left = -1;
	while (left < 0) {
		bool done;

		held = 0;
		left = n++;
		watching = true;
		done = try(context);
		watching = false;
		assert_int_equal(held, 0);
		assert_true(done == (left >= 0) || (done && tries_again));
		assert_true(n < 10000);
	}
	assert_true(n > 2);
}

void with_little_memory(attempt *try, void *context) {
	until_memory_suffices(try, context, false);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "faults.h"
#include "faults_wrap.h"

#include "test.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include <rte_hash.h>

#define SLOTS (1u << 18) /* pieces of memory, a power of two */

static long until = -1; /* calls before the one that fails; below 0: none does */
static long counted;
static bool counts;
static const char *failed;
static bool stays_short;

bool faults_fail(const char *function) {
	if (!counts)
		return false;
	counted++;
	if (failed != NULL)
		return stays_short && strstr(function, "alloc") != NULL;
	if (until < 0 || until-- > 0)
		return false;
	failed = function;
	return true;
}

void faults_stay_short(bool on) {
	stays_short = on;
}

void faults_begin(long n) {
	until = n;
	counted = 0;
	failed = NULL;
	counts = true;
}

const char *faults_end(void) {
	counts = false;
	until = -1;
	return failed;
}

long faults_counted(void) {
	return counted;
}

/* The pieces of memory that are held, by address: open addressing. */
static void *pieces[SLOTS];
static struct faults_memory memory;

static size_t slot_of(const void *p) {
	return (size_t)(((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 46) & (SLOTS - 1);
}

static void *noted(void *p) {
	size_t slot = slot_of(p);

	if (p == NULL)
		return NULL;
	while (pieces[slot] != NULL)
		slot = (slot + 1) & (SLOTS - 1);
	pieces[slot] = p;
	memory.pieces++;
	memory.bytes += malloc_usable_size(p);
	assert_true(memory.pieces < SLOTS / 2);
	return p;
}

/* Pieces behind a slot that is free move up to where a search for them begins, so that searches end soon: the sanitizer
 * hands out no address twice for long. */
static void slot_free(size_t slot) {
	for (size_t next = (slot + 1) & (SLOTS - 1); pieces[next] != NULL;
	     next = (next + 1) & (SLOTS - 1)) {
		size_t from = slot_of(pieces[next]);

		if (((next - from) & (SLOTS - 1)) < ((next - slot) & (SLOTS - 1)))
			continue;
		pieces[slot] = pieces[next];
		slot = next;
	}
	pieces[slot] = NULL;
}

/* What the C library allocated by itself is not known here. */
static void forgotten(void *p) {
	size_t slot = slot_of(p);

	while (p != NULL && pieces[slot] != p && pieces[slot] != NULL)
		slot = (slot + 1) & (SLOTS - 1);
	if (p == NULL || pieces[slot] != p)
		return;
	slot_free(slot);
	memory.pieces--;
	memory.bytes -= malloc_usable_size(p);
}

struct faults_memory faults_memory(void) {
	return memory;
}

/* A wrapped call whose memory is noted. */
#define WRAP_MEMORY(type, function, params, args)                                     \
	__typeof__(function) __real_##function, __wrap_##function;                    \
	type __wrap_##function params {                                               \
		return faults_fail(#function) ? NULL : noted(__real_##function args); \
	}

WRAP_MEMORY(void *, malloc, (size_t size), (size))
WRAP_MEMORY(void *, calloc, (size_t count, size_t size), (count, size))
WRAP_MEMORY(void *, aligned_alloc, (size_t align, size_t size), (align, size))
WRAP_MEMORY(char *, strdup, (const char *text), (text))

__typeof__(free) __real_free, __wrap_free;
void __wrap_free(void *p) {
	forgotten(p);
	__real_free(p);
}

__typeof__(reallocarray) __real_reallocarray, __wrap_reallocarray;
void *__wrap_reallocarray(void *p, size_t count, size_t size) {
	if (faults_fail("reallocarray"))
		return NULL;
	forgotten(p);
	return noted(__real_reallocarray(p, count, size));
}

__typeof__(realloc) __wrap_realloc;
void *__wrap_realloc(void *p, size_t size) {
	return __wrap_reallocarray(p, 1, size);
}

WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL)
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode), NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument), EAGAIN)
WRAP(int, eventfd, (unsigned value, int flags), (value, flags), -1)
WRAP(int, epoll_create1, (int flags), (flags), -1)
int __real_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode) {
	return faults_fail("open64") ? -1 : __real_open64(path, flags, mode);
}

WRAP(void *, mmap64, (void *at, size_t size, int access, int flags, int fd, off_t offset),
     (at, size, access, flags, fd, offset), MAP_FAILED)

/* Once a change takes effect its keys are put into tables that have space for them: that was seen to before. */
static unsigned taking;

#define STEP(function)                            \
	bool __real_##function(void *change);     \
	bool __wrap_##function(void *change);     \
	bool __wrap_##function(void *change) {    \
		bool done;                        \
                                                  \
		taking++;                         \
		done = __real_##function(change); \
		taking--;                         \
		return done;                      \
	}

STEP(ds_change_upper)
STEP(us_change_take)
STEP(us_change_passed)
STEP(share_change_come)
STEP(share_change_go)
STEP(share_forget)

__typeof__(rte_hash_add_key_data) __real_rte_hash_add_key_data, __wrap_rte_hash_add_key_data;
int __wrap_rte_hash_add_key_data(const struct rte_hash *h, const void *key, void *data) {
	if (taking == 0 && faults_fail("rte_hash_add_key_data"))
		return -ENOSPC;
	return __real_rte_hash_add_key_data(h, key, data);
}

long faults_step(long calls, long about) {
	const char *wish = getenv("VCMTS_FAULTS");

	if (wish != NULL && strcmp(wish, "all") == 0)
		return 1;
	return calls / about > 1 ? calls / about : 1;
}

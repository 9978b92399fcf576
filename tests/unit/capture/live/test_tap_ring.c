/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of copies against a model, with one thread and with two; and the bucket that bounds their rate. */
#include "test_main.h"

#include <pthread.h>
#include <sched.h>

#include "capture/live/bucket.h"
#include "capture/live/ring.h"
#include "random.h"

#define SECOND UINT64_C(1000000000)

static uint32_t size_of(uint64_t number, uint32_t most) {
	return (uint32_t)(number * 2654435761u % most) + 1;
}

/* Entries whose size and bytes tell their number. Returns whether there is capacity. */
static uint8_t *entry_write(struct tap_ring *r, uint64_t number, uint32_t most) {
	uint32_t size = size_of(number, most);
	uint8_t *entry = tap_ring_reserve(r, size);

	for (uint32_t i = 0; entry != NULL && i < size; i++)
		entry[i] = (uint8_t)(number + i);
	return entry;
}

/* Takes the next one. Returns whether there is one. */
static bool entry_take(struct tap_ring *r, uint64_t number, uint32_t most) {
	uint32_t size;
	const uint8_t *entry = tap_ring_first(r, &size);

	if (entry == NULL)
		return false;
	assert_int_equal(size, size_of(number, most));
	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(entry[i], (uint8_t)(number + i));
	tap_ring_take(r);
	return true;
}

TEST(in_order) {
	struct random random = {1};
	struct tap_ring r;
	uint64_t in = 0, out = 0;
	uint32_t size, most;

	assert_int_equal(tap_ring_create(&r, 1024), 0);
	assert_null(tap_ring_reserve(&r, tap_ring_most(&r) + 1)); /* too large */
	assert_null(tap_ring_reserve(&r, UINT32_MAX));
	assert_null(tap_ring_first(&r, &size));
	tap_ring_take(&r); /* harmless */
	most = tap_ring_most(&r);
	for (int i = 0; i < 100000; i++) {
		if (random_below(&random, 2) == 0) {
			uint8_t *entry = entry_write(&r, in, most);

			assert_true(entry != NULL ||
				    in != out); /* one fits wherever the ring stands */
			assert_int_equal((uintptr_t)entry % 8, 0);
			if (entry != NULL &&
			    random_below(&random, 8) > 0) { /* else it is given up */
				tap_ring_put(&r);
				in++;
			}
		} else {
			bool there = entry_take(&r, out, most);

			assert_int_equal(there, in != out);
			out += there;
		}
	}
	assert_true(out > 1000);
	tap_ring_free(&r);
	assert_null(tap_ring_first(&r, &size)); /* one that was freed is empty */
}

#define HANDED 200000

static void *put_all(void *arg) {
	struct tap_ring *r = arg;

	for (uint64_t n = 0; n < HANDED;) {
		if (entry_write(r, n, 100) != NULL) {
			tap_ring_put(r);
			n++;
		} else {
			sched_yield();
		}
	}
	return NULL;
}

TEST(two_threads) {
	struct tap_ring r;
	pthread_t putter;
	uint32_t size;

	assert_int_equal(tap_ring_create(&r, 4096), 0);
	assert_int_equal(pthread_create(&putter, NULL, put_all, &r), 0);
	for (uint64_t n = 0; n < HANDED;) {
		if (entry_take(&r, n, 100))
			n++;
		else
			sched_yield();
	}
	pthread_join(putter, NULL);
	assert_null(tap_ring_first(&r, &size));
	tap_ring_free(&r);
}

static unsigned taken(struct tap_bucket *b, uint64_t from, uint64_t to, uint64_t step) {
	unsigned n = 0;

	for (uint64_t now = from; now < to; now += step)
		n += tap_bucket_take(b, now);
	return n;
}

TEST(rates) {
	static const uint32_t list[] = {1, 7, 50, 10000, TAP_RATE_MAX};
	struct tap_bucket b;

	for (unsigned i = 0; i < ARRAY_COUNT(list); i++) {
		unsigned depth = list[i] / TAP_BUCKET_DEPTH > 0 ? list[i] / TAP_BUCKET_DEPTH : 1;
		unsigned n;

		tap_bucket_set(&b, list[i]);
		n = taken(&b, 5 * SECOND, 7 * SECOND, 499);
		assert_in_range(n, 2 * list[i] * 99 / 100, 2 * list[i] + depth);
	}
}

/* However long nobody asked, no more than the depth goes at once; and a clock that goes back gives nothing. */
TEST(bursts) {
	struct tap_bucket b;

	tap_bucket_set(&b, 100);
	assert_int_equal(taken(&b, 0, 1000, 1), 10);
	assert_int_equal(taken(&b, 3600 * SECOND, 3600 * SECOND + 1000, 1), 10);
	assert_int_equal(taken(&b, SECOND, 2 * SECOND, SECOND / 1000), 99);
	assert_int_equal(taken(&b, 0, 1000, 1), 0);
	tap_bucket_set(&b, 0);
	assert_int_equal(taken(&b, 0, 1000, 1), 1000);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the ring of packet copies, and the token bucket that limits their rate. */
#include "test_main.h"

#include <pthread.h>
#include <sched.h>

#include "capture/live/bucket.h"
#include "capture/live/ring.h"
#include "random.h"

#define SECOND UINT64_C(1000000000)

static uint32_t entry_size(uint64_t number, uint32_t max_size) {
	return (uint32_t)(number * 2654435761u % max_size) + 1;
}

/* Reserves entry `number`, which determines size and bytes. Returns NULL if the ring is full. */
static uint8_t *write_entry(struct tap_ring *r, uint64_t number, uint32_t max_size) {
	uint32_t size = entry_size(number, max_size);
	uint8_t *entry = tap_ring_reserve(r, size);

	for (uint32_t i = 0; entry != NULL && i < size; i++)
		entry[i] = (uint8_t)(number + i);
	return entry;
}

/* Removes and checks the next entry, with this number. Returns false if the ring is empty. */
static bool read_entry(struct tap_ring *r, uint64_t number, uint32_t max_size) {
	uint32_t size;
	const uint8_t *entry = tap_ring_first(r, &size);

	if (entry == NULL)
		return false;
	assert_int_equal(size, entry_size(number, max_size));
	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(entry[i], (uint8_t)(number + i));
	tap_ring_pop(r);
	return true;
}

TEST(entries_are_read_in_order) {
	struct random random = {1};
	struct tap_ring r;
	uint64_t in = 0, out = 0;
	uint32_t size, max_size;

	assert_int_equal(tap_ring_create(&r, 1024), 0);
	assert_null(tap_ring_reserve(&r, tap_ring_max(&r) + 1)); /* too large */
	assert_null(tap_ring_reserve(&r, UINT32_MAX));
	assert_null(tap_ring_first(&r, &size));
	tap_ring_pop(&r); /* no effect */
	max_size = tap_ring_max(&r);
	for (int i = 0; i < 100000; i++) {
		if (random_below(&random, 2) == 0) {
			uint8_t *entry = write_entry(&r, in, max_size);

			assert_true(entry != NULL || in != out); /* an empty ring has space */
			assert_int_equal((uintptr_t)entry % 8, 0);
			if (entry != NULL && random_below(&random, 8) > 0) { /* else abandons it */
				tap_ring_put(&r);
				in++;
			}
		} else {
			bool read = read_entry(&r, out, max_size);

			assert_int_equal(read, in != out);
			out += read;
		}
	}
	assert_true(out > 1000);
	tap_ring_free(&r);
	assert_null(tap_ring_first(&r, &size)); /* a freed ring is empty */
}

#define ENTRIES 200000

static void *write_all(void *arg) {
	struct tap_ring *r = arg;

	for (uint64_t n = 0; n < ENTRIES;) {
		if (write_entry(r, n, 100) != NULL) {
			tap_ring_put(r);
			n++;
		} else {
			sched_yield();
		}
	}
	return NULL;
}

TEST(entries_pass_between_threads) {
	struct tap_ring r;
	pthread_t writer;
	uint32_t size;

	assert_int_equal(tap_ring_create(&r, 4096), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_all, &r), 0);
	for (uint64_t n = 0; n < ENTRIES;) {
		if (read_entry(&r, n, 100))
			n++;
		else
			sched_yield();
	}
	pthread_join(writer, NULL);
	assert_null(tap_ring_first(&r, &size));
	tap_ring_free(&r);
}

static unsigned count_tokens(struct tap_bucket *b, uint64_t from, uint64_t to, uint64_t step) {
	unsigned n = 0;

	for (uint64_t now = from; now < to; now += step)
		n += tap_bucket_admit(b, now);
	return n;
}

TEST(bucket_limits_rate) {
	static const uint32_t list[] = {1, 7, 50, 10000, TAP_RATE_MAX};
	struct tap_bucket b;

	for (unsigned i = 0; i < ARRAY_COUNT(list); i++) {
		unsigned depth = list[i] / TAP_BUCKET_DEPTH > 0 ? list[i] / TAP_BUCKET_DEPTH : 1;
		unsigned n;

		tap_bucket_set(&b, list[i]);
		n = count_tokens(&b, 5 * SECOND, 7 * SECOND, 499);
		assert_in_range(n, 2 * list[i] * 99 / 100, 2 * list[i] + depth);
	}
}

/* After any idle time, a burst is limited to the depth. A clock that steps back adds no tokens. */
TEST(bucket_limits_bursts) {
	struct tap_bucket b;

	tap_bucket_set(&b, 100);
	assert_int_equal(count_tokens(&b, 0, 1000, 1), 10);
	assert_int_equal(count_tokens(&b, 3600 * SECOND, 3600 * SECOND + 1000, 1), 10);
	assert_int_equal(count_tokens(&b, SECOND, 2 * SECOND, SECOND / 1000), 99);
	assert_int_equal(count_tokens(&b, 0, 1000, 1), 0);
	tap_bucket_set(&b, 0);
	assert_int_equal(count_tokens(&b, 0, 1000, 1), 1000);
}

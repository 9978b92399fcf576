/* SPDX-License-Identifier: BSD-3-Clause */
/* The DEPI stage: pools that run dry, buffers that are shared by fragments. */
#include "test_main.h"

#include "depi_kit.h"
#include "fixture.h"
#include "random.h"

#define HELD 64
#define ROOM 1600

/* What came out is held for a while, as a port does. */
struct held {
	struct rte_mbuf *m;
	size_t size;
	uint8_t bytes[ROOM];
};

struct dry {
	struct random random;
	struct held held[HELD];
	unsigned held_count;
};

/* In any order: the bytes of the others stay; a buffer goes back with its last part. */
static void give_back(struct dry *d, unsigned keep) {
	while (d->held_count > keep) {
		struct held *h = &d->held[random_below(&d->random, d->held_count)];
		uint8_t now[ROOM];

		fixture_check(h->m);
		assert_int_equal(fixture_read(h->m, now, ROOM), h->size);
		assert_memory_equal(now, h->bytes, h->size);
		rte_pktmbuf_free(h->m);
		*h = d->held[--d->held_count];
	}
}

/* A burst as far as there are packets. */
static void dry_burst(struct dry *d) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = (uint16_t)random_below(&d->random, 8), got = 0, out;

	while (got < n) {
		pkts[got] = depi_kit_frame((uint16_t)random_below(&d->random, DEPI_KIT_CHANNELS),
					   random_between(&d->random, 20, 2017));
		if (pkts[got] == NULL)
			break;
		got++;
	}
	out = depi_kit_run(pkts, got);
	for (uint16_t i = 0; i < out; i++) {
		struct held *h;

		depi_kit_read(pkts[i], NULL);
		give_back(d, HELD - 1);
		h = &d->held[d->held_count++];
		h->m = pkts[i];
		h->size = fixture_read(h->m, h->bytes, ROOM);
	}
}

/* Small pools, all kinds of shortage: each packet is counted once, no buffer is lost. */
static void dry_run(unsigned headers, unsigned fragments, unsigned max_segments) {
	const struct depi_kit_config c = {
		.max_segments = max_segments,
		.family = 6,
		.extra = PSP_EXTRA_COUNTER,
		.packets = 127,
		.headers = headers,
		.fragments = fragments,
	};
	static struct dry d;

	d = (struct dry){.random = {headers * 1000 + fragments + 1}};
	depi_kit_open(&c);
	for (unsigned i = 0; i < DEPI_KIT_CHANNELS; i++)
		depi_kit.ends[i].lossy = true;
	for (int round = 0; round < 1000; round++) {
		dry_burst(&d);
		depi_kit_check();
		if (random_below(&d.random, 4) == 0)
			give_back(&d, random_below(&d.random, d.held_count + 1));
		depi_kit.clock.now += random_below(&d.random, DEPI_KIT_FLUSH_NS);
	}
	assert_true(depi_kit.lower.counters.drops[DROP_NO_BUFFER] > 0);
	assert_true(depi_kit.lower.counters.drops[DROP_NO_BUFFER] < depi_kit.in);
	give_back(&d, 0);
	depi_kit_close();
}

TEST(pools_run_dry) {
	static const unsigned pools[][3] = {{3, 127, 16},  {7, 127, 2}, {127, 1, 16},
					    {127, 3, 255}, {7, 3, 16},	{15, 7, 1}};

	for (size_t i = 0; i < ARRAY_COUNT(pools); i++)
		dry_run(pools[i][0], pools[i][1], pools[i][2]);
}

#define DRY 255

/* A frame that needs to be cut, and no buffer for a part: the DEPI frame that was opened for it is
 * given up, too, and none without segments ever goes out. What is open at the end goes back to its pools. */
TEST(no_empty_frame_stays_open) {
	const struct depi_kit_config c = {.headers = DRY, .fragments = DRY};
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	void *taken[DRY];

	depi_kit_open(&c);
	assert_int_equal(rte_mempool_get_bulk(depi_kit.fragments, taken, DRY), 0);
	assert_int_equal(depi_kit_put(2, 2000, pkts), 0);
	assert_int_equal(depi_kit.lower.counters.drops[DROP_NO_BUFFER], 1);
	assert_int_equal(rte_mempool_in_use_count(depi_kit.headers), 0);
	depi_kit.clock.now += 2 * DEPI_KIT_FLUSH_NS;
	assert_int_equal(depi_kit_run(pkts, 0), 0);
	rte_mempool_put_bulk(depi_kit.fragments, taken, DRY);
	for (uint16_t i = 0; i < DEPI_KIT_CHANNELS; i++) {
		for (uint16_t n = depi_kit_put(i, 2000, pkts); n > 0; n--)
			rte_pktmbuf_free(pkts[n - 1]);
	}
	assert_int_equal(rte_mempool_in_use_count(depi_kit.packets), DEPI_KIT_CHANNELS);
	depi_kit_close();
}

ALL_TESTS(fixture_start, fixture_stop)

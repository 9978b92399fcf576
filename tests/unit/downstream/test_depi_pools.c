/* SPDX-License-Identifier: BSD-3-Clause */
/* The DEPI stage: pools that run dry, buffers that are shared by fragments. */
#include "test.h"

#include "downstream/stages.h"

#include "depi_bench.h"
#include "fixture.h"
#include "random.h"

#define HELD 64

static struct depi_bench bench;

/* What is open when the channels are freed goes back to its pools. */
static void free_gives_back_what_is_open(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	depi_bench_open_roomy(&bench);
	for (uint16_t i = 0; i < DEPI_CHANNELS; i++) {
		for (uint16_t n = depi_bench_put(&bench, i, 2000, pkts); n > 0; n--)
			rte_pktmbuf_free(pkts[n - 1]);
	}
	assert_int_equal(rte_mempool_in_use_count(bench.packets), DEPI_CHANNELS);
	depi_bench_close(&bench);
}

/* Three DEPI frames of two DOCSIS frames: 1400 bytes are in the first, 2017 in all of them. */
#define PARTS 3

struct parts {
	struct rte_mbuf *m[PARTS]; /* NULL: freed */
	uint8_t bytes[PARTS][1600];
	size_t sizes[PARTS];
};

static void parts_make(struct parts *p) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	assert_int_equal(depi_bench_put(&bench, 0, 1400, pkts), 0); /* leaves 66 bytes */
	assert_int_equal(depi_bench_put(&bench, 0, 2017, pkts), 2);
	p->m[0] = pkts[0];
	p->m[1] = pkts[1];
	bench.clock.now = DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	p->m[2] = pkts[0];
	for (int i = 0; i < PARTS; i++) {
		depi_bench_read(&bench, p->m[i]);
		p->sizes[i] = fixture_read(p->m[i], p->bytes[i], sizeof(p->bytes[i]));
	}
	assert_int_equal(bench.readers[0].frames, 2);
	/* the second one is in three parts, the first one whole */
	assert_int_equal(bench.lower.counters.values[COUNTER_PSP_FRAGMENTS], 3);
	bench.lower.counters.values[COUNTER_PSP_FRAGMENTS] = 0;
}

static void parts_check(const struct parts *p) {
	unsigned left = 0;

	for (int i = 0; i < PARTS; i++) {
		uint8_t now[1600];

		if (p->m[i] == NULL)
			continue;
		left++;
		fixture_check(p->m[i]);
		assert_int_equal(fixture_read(p->m[i], now, sizeof(now)), p->sizes[i]);
		assert_memory_equal(now, p->bytes[i], p->sizes[i]);
	}
	assert_int_equal(rte_mempool_in_use_count(bench.headers), left);
	assert_int_equal(rte_mempool_in_use_count(bench.packets), (p->m[0] != NULL) + (left > 0));
}

/* Whichever is freed first, the bytes of the others stay; a buffer goes back with its last part. */
static void fragments_outlive_each_other(void **state) {
	static const int orders[][PARTS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	(void)state;
	for (size_t o = 0; o < ARRAY_COUNT(orders); o++) {
		struct parts p;

		depi_bench_open_roomy(&bench);
		parts_make(&p);
		parts_check(&p);
		for (int i = 0; i < PARTS; i++) {
			rte_pktmbuf_free(p.m[orders[o][i]]);
			p.m[orders[o][i]] = NULL;
			parts_check(&p);
		}
		depi_bench_close(&bench);
	}
}

struct dry {
	struct random random;
	struct rte_mbuf *held[HELD];
	unsigned held_count;
	uint64_t in;
};

static void take_back(struct dry *d, unsigned keep) {
	while (d->held_count > keep) {
		unsigned i = random_below(&d->random, d->held_count);

		rte_pktmbuf_free(d->held[i]);
		d->held[i] = d->held[--d->held_count];
	}
}

/* A burst as far as there are packets; what comes out is held for a while, as a port does. */
static void dry_burst(struct dry *d) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = (uint16_t)random_below(&d->random, 8), got = 0, out;

	while (got < n) {
		pkts[got] =
			depi_bench_frame(&bench, (uint16_t)random_below(&d->random, DEPI_CHANNELS),
					 random_between(&d->random, 20, 2017));
		if (pkts[got] == NULL)
			break;
		got++;
	}
	d->in += got;
	out = ds_depi(&bench.lower, pkts, got);
	for (uint16_t i = 0; i < out; i++) {
		depi_bench_read(&bench, pkts[i]);
		take_back(d, HELD - 1);
		d->held[d->held_count++] = pkts[i];
	}
}

/* Small pools, all kinds of shortage: each packet is counted once, no buffer is lost. */
static void dry_run(unsigned headers, unsigned fragments, unsigned max_segments) {
	const struct depi_bench_config c = {
		.mtu = 1500,
		.max_segments = max_segments,
		.family = 6,
		.extra = PSP_EXTRA_COUNTER,
		.flush_ns = DEPI_BENCH_FLUSH_NS,
		.packets = 127,
		.headers = headers,
		.fragments = fragments,
	};
	struct dry d = {.random = {headers * 1000 + fragments + 1}};

	depi_bench_open(&bench, &c);
	for (unsigned i = 0; i < DEPI_CHANNELS; i++)
		bench.ends[i].lossy = true;
	for (int round = 0; round < 1000; round++) {
		dry_burst(&d);
		depi_bench_check(&bench, d.in);
		if (random_below(&d.random, 4) == 0)
			take_back(&d, random_below(&d.random, d.held_count + 1));
		bench.clock.now += random_below(&d.random, DEPI_BENCH_FLUSH_NS);
	}
	assert_true(bench.lower.counters.drops[DROP_NO_BUFFER] > 0);
	assert_true(bench.lower.counters.drops[DROP_NO_BUFFER] < d.in);
	take_back(&d, 0);
	depi_bench_close(&bench);
}

static void pools_run_dry(void **state) {
	(void)state;
	dry_run(3, 127, 16);
	dry_run(7, 127, 2);
	dry_run(127, 1, 16);
	dry_run(127, 3, 255);
	dry_run(7, 3, 16);
	dry_run(15, 7, 1);
}

/* A frame that would have to be cut first of all: the DEPI frame that was begun for it is none. */
static void nothing_is_begun_in_vain(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY], *taken[255];

	(void)state;
	depi_bench_open_roomy(&bench);
	assert_int_equal(rte_mempool_get_bulk(bench.fragments, (void **)taken, 255), 0);
	assert_int_equal(depi_bench_put(&bench, 1, 2000, pkts), 0);
	assert_int_equal(bench.lower.counters.drops[DROP_NO_BUFFER], 1);
	assert_int_equal(rte_mempool_in_use_count(bench.headers), 0);
	bench.clock.now += DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	rte_mempool_put_bulk(bench.fragments, (void **)taken, 255);
	depi_bench_close(&bench);
}

/* No pool at all for headers: everything is dropped; when buffers are there again, it goes on. */
static void recovers_from_a_dry_pool(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY], *taken[255];

	(void)state;
	depi_bench_open_roomy(&bench);
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench.headers, taken, 255), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(depi_bench_put(&bench, 1, 1000, pkts), 0);
	assert_int_equal(bench.lower.counters.drops[DROP_NO_BUFFER], 10);
	assert_int_equal(rte_mempool_in_use_count(bench.packets), 0);
	rte_pktmbuf_free_bulk(taken, 255);
	bench.ends[1].back = 10;
	assert_int_equal(depi_bench_put(&bench, 1, 1000, pkts), 0);
	bench.clock.now += DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	assert_int_equal(depi_bench_take(&bench, pkts[0]), 1);
	assert_int_equal(bench.readers[1].frames, 1);
	depi_bench_check(&bench, 11);
	depi_bench_close(&bench);
}

/* A frame that needs to be cut, and no buffer for a part: the DEPI frame that was opened for it is
 * given up, too, and none without segments ever goes out. */
static void no_empty_frame_stays_open(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY], *taken[255];
	unsigned n = 0;

	(void)state;
	depi_bench_open_roomy(&bench);
	while (n < 255 && (taken[n] = rte_pktmbuf_alloc(bench.fragments)) != NULL)
		n++;
	assert_in_range(n, 1, 255);
	bench.ends[2].lossy = true;
	assert_int_equal(depi_bench_put(&bench, 2, 2000, pkts), 0);
	assert_int_equal(bench.lower.counters.drops[DROP_NO_BUFFER], 1);
	assert_int_equal(rte_mempool_in_use_count(bench.headers), 0);
	bench.clock.now += 2 * DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	rte_pktmbuf_free_bulk(taken, n);
	depi_bench_close(&bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_gives_back_what_is_open),
		cmocka_unit_test(fragments_outlive_each_other),
		cmocka_unit_test(pools_run_dry),
		cmocka_unit_test(nothing_is_begun_in_vain),
		cmocka_unit_test(recovers_from_a_dry_pool),
		cmocka_unit_test(no_empty_frame_stays_open),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}

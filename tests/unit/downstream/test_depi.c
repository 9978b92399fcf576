/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DEPI stage: every size of DOCSIS frame and random mixes of them, over every kind of session.
 * What comes out must be full, in sequence, within the MTU, and give the same frames again.
 */
#include "test.h"

#include "downstream/stages.h"

#include "depi_bench.h"
#include "fixture.h"
#include "random.h"

#define FLUSH_NS 50000
/* a table entry and the least that is worth cutting off */
#define NOT_FULL (2 + 16)
#define SMALLEST 20
#define LARGEST 2017

struct mix {
	struct depi_bench bench;
	struct random random;
	uint64_t in;
};

static struct mix mix;

/* One call of the stage; what it put out is checked and freed. */
static void call(struct mix *x, struct rte_mbuf **pkts, uint16_t n) {
	struct depi_bench *b = &x->bench;
	const struct counters *c = &b->lower.counters;
	uint64_t full = c->values[COUNTER_DEPI_FULL];
	uint16_t out = ds_depi(&b->lower, pkts, n);

	x->in += n;
	full = c->values[COUNTER_DEPI_FULL] - full;
	for (uint16_t i = 0; i < out; i++) {
		struct depi_seen seen = depi_bench_read(b, pkts[i]);

		assert_true(seen.segments > 0);
		/* the full ones come first, then those that were flushed */
		if (i < full && seen.segments < b->sg.rphy.max_segments)
			assert_in_range(seen.space, 0, NOT_FULL - 1);
		rte_pktmbuf_free(pkts[i]);
	}
}

static void put(struct mix *x, const uint16_t *channels, const uint32_t *sizes, uint16_t n) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (uint16_t i = 0; i < n; i++) {
		pkts[i] = depi_bench_frame(&x->bench, channels[i], sizes[i]);
		assert_non_null(pkts[i]);
	}
	call(x, pkts, n);
}

/* Sizes one after the other on one channel, no time passes. */
static void put_every_size(struct mix *x) {
	uint32_t size = SMALLEST;

	while (size <= LARGEST) {
		uint16_t channels[PIPELINE_BURST] = {0}, n = 0;
		uint32_t sizes[PIPELINE_BURST];

		for (; n < PIPELINE_BURST && size <= LARGEST; n++)
			sizes[n] = size++;
		put(x, channels, sizes, n);
	}
}

/* Several channels, bursts of all lengths, mostly small or mostly large frames, time passes. */
static void put_mix(struct mix *x) {
	for (int round = 0; round < 24; round++) {
		uint32_t largest = random_below(&x->random, 2) ? LARGEST : 100;
		uint16_t channels[PIPELINE_BURST];
		uint32_t sizes[PIPELINE_BURST];
		uint16_t n = (uint16_t)random_between(&x->random, 0, PIPELINE_BURST);

		for (uint16_t i = 0; i < n; i++) {
			channels[i] = (uint16_t)random_below(&x->random, DEPI_CHANNELS);
			sizes[i] = random_between(&x->random, SMALLEST, largest);
		}
		put(x, channels, sizes, n);
		x->bench.clock.now += random_below(&x->random, FLUSH_NS);
	}
}

static void finish(struct mix *x) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	depi_bench_check(&x->bench, x->in);
	x->bench.clock.now += FLUSH_NS;
	call(x, pkts, 0);
	depi_bench_check(&x->bench, x->in);
	assert_int_equal(x->bench.lower.depi.ends_open, 0);
	for (unsigned i = 0; i < DEPI_CHANNELS; i++) {
		assert_int_equal(x->bench.ends[i].back, x->bench.ends[i].sent);
		assert_int_equal(x->bench.readers[i].cut_off, 0);
		assert_false(x->bench.readers[i].open);
	}
	assert_int_equal(x->bench.lower.counters.drops[DROP_NO_BUFFER], 0);
	depi_bench_close(&x->bench);
}

static void run(struct depi_bench_config c, void (*put_all)(struct mix *)) {
	c.flush_ns = FLUSH_NS;
	c.packets = 1023;
	c.headers = 1023;
	c.fragments = 1023;
	depi_bench_open(&mix.bench, &c);
	mix.in = 0;
	put_all(&mix);
	finish(&mix);
}

static void all_sessions(void (*put_all)(struct mix *)) {
	static const uint32_t mtus[] = {1500, 1501, 4000, 9000};
	static const uint32_t max_segments[] = {1, 2, 16, 255};
	static const enum psp_extra extras[] = {PSP_EXTRA_NONE, PSP_EXTRA_COUNTER,
						PSP_EXTRA_STATIC};

	mix.random.state = 99;
	for (size_t m = 0; m < ARRAY_COUNT(mtus); m++) {
		for (size_t s = 0; s < ARRAY_COUNT(max_segments); s++) {
			for (size_t e = 0; e < 2 * ARRAY_COUNT(extras); e++)
				run((struct depi_bench_config){.mtu = mtus[m],
							       .max_segments = max_segments[s],
							       .family = e % 2 ? 6 : 4,
							       .extra = extras[e / 2]},
				    put_all);
		}
	}
}

static void every_size_of_frame(void **state) {
	(void)state;
	all_sessions(put_every_size);
}

static void random_mixes(void **state) {
	(void)state;
	all_sessions(put_mix);
}

/* By hand: MTU 1500, IPv4, no extra bytes: 1472 bytes for segments and their table entries. */
static void cuts_where_the_mtu_ends(void **state) {
	const struct depi_bench_config c = {1500, 16, 4, PSP_EXTRA_NONE, FLUSH_NS, 63, 63, 63};
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct depi_bench *b = &mix.bench;
	struct depi_seen seen;

	(void)state;
	depi_bench_open(b, &c);
	/* 1470 bytes fill one DEPI frame to the last byte */
	pkts[0] = depi_bench_frame(b, 0, 1470);
	assert_int_equal(ds_depi(&b->lower, pkts, 1), 1);
	assert_int_equal(rte_pktmbuf_pkt_len(pkts[0]), 1514);
	seen = depi_bench_read(b, pkts[0]);
	assert_int_equal(seen.segments, 1);
	assert_int_equal(seen.ends, 1);
	rte_pktmbuf_free(pkts[0]);
	/* two bytes are left, as much as an entry: it is full as well */
	pkts[0] = depi_bench_frame(b, 0, 1468);
	assert_int_equal(ds_depi(&b->lower, pkts, 1), 1);
	assert_int_equal(depi_bench_read(b, pkts[0]).space, 2);
	rte_pktmbuf_free(pkts[0]);
	/* one byte more, and it waits in the next DEPI frame */
	pkts[0] = depi_bench_frame(b, 0, 1471);
	assert_int_equal(ds_depi(&b->lower, pkts, 1), 1);
	seen = depi_bench_read(b, pkts[0]);
	assert_int_equal(seen.ends, 0);
	assert_int_equal(seen.space, 0);
	assert_int_equal(b->lower.depi.ends_open, 1);
	rte_pktmbuf_free(pkts[0]);
	/* 1 + 1451 bytes and two entries leave 16: not worth a cut, the next frame opens another */
	pkts[0] = depi_bench_frame(b, 0, 1451);
	pkts[1] = depi_bench_frame(b, 0, 15);
	assert_int_equal(ds_depi(&b->lower, pkts, 2), 1);
	seen = depi_bench_read(b, pkts[0]);
	assert_int_equal(seen.segments, 2);
	assert_int_equal(seen.space, 16);
	rte_pktmbuf_free(pkts[0]);
	b->clock.now += FLUSH_NS;
	assert_int_equal(ds_depi(&b->lower, pkts, 0), 1);
	depi_bench_read(b, pkts[0]);
	rte_pktmbuf_free(pkts[0]);
	assert_int_equal(b->ends[0].back, 5);
	depi_bench_close(b);
}

/* The largest table: 255 entries stand before the segments. */
static void as_many_segments_as_there_can_be(void **state) {
	const struct depi_bench_config c = {9000, 255, 6, PSP_EXTRA_COUNTER, FLUSH_NS, 511, 63, 63};
	const uint16_t channels[PIPELINE_BURST] = {0};
	uint32_t sizes[PIPELINE_BURST];

	(void)state;
	for (int i = 0; i < PIPELINE_BURST; i++)
		sizes[i] = SMALLEST;
	depi_bench_open(&mix.bench, &c);
	mix.in = 0;
	for (int i = 0; i < 4; i++) /* 256: the last stays */
		put(&mix, channels, sizes, PIPELINE_BURST);
	assert_int_equal(mix.bench.readers[0].packets, 1);
	assert_int_equal(mix.bench.readers[0].segments, 255);
	finish(&mix);
}

/* Sequence and counter of 65,540 DEPI frames. */
static void sequence_and_counter_wrap(void **state) {
	const struct depi_bench_config c = {1500, 1, 4, PSP_EXTRA_COUNTER, FLUSH_NS, 63, 63, 63};
	const uint16_t channels[20] = {0};
	uint32_t sizes[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		sizes[i] = SMALLEST;
	depi_bench_open(&mix.bench, &c);
	mix.in = 0;
	while (mix.in < 65540)
		put(&mix, channels, sizes, 20);
	finish(&mix);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_of_frame),
		cmocka_unit_test(random_mixes),
		cmocka_unit_test(cuts_where_the_mtu_ends),
		cmocka_unit_test(as_many_segments_as_there_can_be),
		cmocka_unit_test(sequence_and_counter_wrap),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}

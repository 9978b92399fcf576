/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DEPI stage: every size of DOCSIS frame and random mixes of them, over every kind of session; the flush timer, and
 * padding. What comes out must be full, in sequence, within the MTU, and give the same frames again.
 */
#include "test_main.h"

#include <string.h>

#include "depi_kit.h"
#include "fixture.h"
#include "random.h"

/* a table entry and the least that is worth cutting off */
#define NOT_FULL (2 + 16)
#define SMALLEST 20
#define LARGEST 2017
#define VLAN 4094
#define FLUSH DEPI_KIT_FLUSH_NS

static struct random rnd;

/* One call of the stage; what it put out is checked and freed. */
static void call(struct rte_mbuf **pkts, uint16_t n) {
	const struct counters *c = &depi_kit.lower.counters;
	uint64_t full = c->values[COUNTER_DEPI_FULL];
	uint16_t out = depi_kit_run(pkts, n);

	full = c->values[COUNTER_DEPI_FULL] - full;
	for (uint16_t i = 0; i < out; i++) {
		struct depi_seen seen = depi_kit_read(pkts[i], NULL);

		assert_true(seen.segments > 0);
		/* the full ones come first, then those that were flushed */
		if (i < full && seen.segments < depi_kit.sg.rphy.max_segments)
			assert_in_range(seen.space, 0, NOT_FULL - 1);
		rte_pktmbuf_free(pkts[i]);
	}
}

/* Frames of these sizes, on one channel or, at random, on all. */
static void put(uint32_t channels, const uint32_t *sizes, uint16_t n) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (uint16_t i = 0; i < n; i++) {
		pkts[i] = depi_kit_frame((uint16_t)random_below(&rnd, channels), sizes[i]);
		assert_non_null(pkts[i]);
	}
	call(pkts, n);
}

/* Sizes one after the other on one channel, no time passes. */
static void put_every_size(void) {
	for (uint32_t size = SMALLEST; size <= LARGEST;) {
		uint32_t sizes[PIPELINE_BURST];
		uint16_t n = 0;

		for (; n < PIPELINE_BURST && size <= LARGEST; n++)
			sizes[n] = size++;
		put(1, sizes, n);
	}
}

/* Several channels, bursts of all lengths, mostly small or mostly large frames, time passes. */
static void put_mix(void) {
	for (int round = 0; round < 24; round++) {
		uint32_t largest = random_below(&rnd, 2) ? LARGEST : 100;
		uint32_t sizes[PIPELINE_BURST];
		uint16_t n = (uint16_t)random_between(&rnd, 0, PIPELINE_BURST);

		for (uint16_t i = 0; i < n; i++)
			sizes[i] = random_between(&rnd, SMALLEST, largest);
		put(DEPI_KIT_CHANNELS, sizes, n);
		depi_kit.clock.now += random_below(&rnd, FLUSH);
	}
}

/* Until so many have come in. */
static void put_small(uint64_t frames) {
	uint32_t sizes[PIPELINE_BURST];

	for (unsigned i = 0; i < PIPELINE_BURST; i++)
		sizes[i] = SMALLEST;
	while (depi_kit.in < frames)
		put(1, sizes, PIPELINE_BURST);
}

/* The largest table: 255 entries stand before the segments. Of 256 frames the last one stays. */
static void put_into_the_largest_table(void) {
	put_small(256);
	assert_int_equal(depi_kit.readers[0].packets, 1);
	assert_int_equal(depi_kit.readers[0].segments, 255);
}

/* Sequence and counter of 65,540 DEPI frames. */
static void put_until_numbers_wrap(void) {
	put_small(65540);
}

static void run(const struct depi_kit_config *c, void (*put_all)(void)) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	depi_kit_open(c);
	put_all();
	depi_kit_check();
	depi_kit.clock.now += FLUSH;
	call(pkts, 0);
	depi_kit_check();
	assert_int_equal(depi_kit.lower.depi.ends_open, 0);
	for (unsigned i = 0; i < DEPI_KIT_CHANNELS; i++) {
		assert_int_equal(depi_kit.ends[i].back, depi_kit.ends[i].sent);
		assert_int_equal(depi_kit.readers[i].cut_off, 0);
		assert_false(depi_kit.readers[i].open);
	}
	assert_int_equal(depi_kit.lower.counters.drops[DROP_NO_BUFFER], 0);
	depi_kit_close();
}

TEST(all_sessions) {
	static const uint32_t mtus[] = {1500, 1501, 4000, 9000};
	static const uint32_t max_segments[] = {1, 2, 16, 255};
	static const enum psp_extra extras[] = {PSP_EXTRA_NONE, PSP_EXTRA_COUNTER,
						PSP_EXTRA_STATIC};

	rnd.state = 99;
	for (size_t m = 0; m < ARRAY_COUNT(mtus); m++) {
		for (size_t s = 0; s < ARRAY_COUNT(max_segments); s++) {
			for (size_t e = 0; e < 2 * ARRAY_COUNT(extras); e++) {
				const struct depi_kit_config c = {.mtu = mtus[m],
								  .max_segments = max_segments[s],
								  .family = e % 2 ? 6 : 4,
								  .extra = extras[e / 2],
								  .vlan = s % 2 ? VLAN : 0};

				run(&c, put_every_size);
				run(&c, put_mix);
			}
		}
	}
	run(&(struct depi_kit_config){9000, 255, 6, PSP_EXTRA_COUNTER}, put_into_the_largest_table);
	run(&(struct depi_kit_config){1500, 1, 4, PSP_EXTRA_COUNTER}, put_until_numbers_wrap);
}

/* By hand: MTU 1500, IPv4, no extra bytes: 1472 bytes for segments and their table entries. */
TEST(cuts_where_the_mtu_ends) {
	static const struct {
		uint32_t size;
		unsigned out; /* DEPI frames */
		struct depi_seen seen; /* of the first one */
	} cases[] = {
		{1470, 1, {1, 1, 0}}, /* fills one to the last byte */
		{1468, 1, {1, 1, 2}}, /* as much as an entry is left: it is full as well */
		{1471, 1, {1, 0, 0}}, /* one byte waits in the next DEPI frame .. */
		{1451, 0, {0}},
		{20, 1, {2, 2, 16}}, /* .. where 16 bytes are left: not worth a cut */
		{0, 1, {1, 1, 1450}}, /* after the flush time */
	};

	depi_kit_open(&(struct depi_kit_config){.extra = PSP_EXTRA_NONE});
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		struct depi_seen seen;
		uint16_t out;

		depi_kit.clock.now += cases[i].size == 0 ? FLUSH : 0;
		out = depi_kit_put(0, cases[i].size, pkts);
		assert_int_equal(out, cases[i].out);
		if (out == 0)
			continue;
		seen = depi_kit_read(pkts[0], NULL);
		assert_memory_equal(&seen, &cases[i].seen, sizeof(seen));
		assert_int_equal(rte_pktmbuf_pkt_len(pkts[0]), 1514 - seen.space);
		rte_pktmbuf_free(pkts[0]);
	}
	assert_int_equal(depi_kit.ends[0].back, 5);
	depi_kit_check();
	depi_kit_close();
}

/* At a time, a frame is put in, or none is (0 bytes); and DEPI frames of these channels come out, the oldest first. */
TEST(flush_waits_as_long_as_told) {
	static const struct {
		uint64_t at; /* ns */
		uint16_t channel;
		uint32_t size;
		const char *out;
	} events[] = {
		{1000, 2, 100, ""},
		{1010, 0, 100, ""},
		{1010, 2, 100, ""}, /* joins the first: no new time for it */
		{2000, 4, 100, ""},
		{1000 + FLUSH - 1, 0, 0, ""},
		{1000 + FLUSH, 0, 0, "2"},
		{1000 + FLUSH, 0, 0, ""},
		{10 * FLUSH, 0, 0, "04"},
		/* one that was full and opened again counts its time from then, and stands behind */
		{20 * FLUSH, 0, 1000, ""},
		{20 * FLUSH + 10, 1, 100, ""},
		{20 * FLUSH + 20, 0, 1000, "0"},
		{21 * FLUSH + 10, 0, 0, "1"},
		{21 * FLUSH + 19, 0, 0, ""},
		{21 * FLUSH + 20, 0, 0, "0"},
	};
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	depi_kit_open(&(struct depi_kit_config){.extra = PSP_EXTRA_COUNTER});
	for (size_t i = 0; i < ARRAY_COUNT(events); i++) {
		char out[16] = "";
		uint32_t channel;
		uint16_t n;

		depi_kit.clock.now = events[i].at;
		n = depi_kit_put(events[i].channel, events[i].size, pkts);
		for (uint16_t k = 0; k < n; k++) {
			depi_kit_read(pkts[k], &channel);
			out[k] = (char)('0' + channel);
			rte_pktmbuf_free(pkts[k]);
		}
		assert_string_equal(out, events[i].out);
		depi_kit_check();
	}
	assert_int_equal(depi_kit.lower.depi.ends_open, 0);
	depi_kit_close();
}

/* A few bytes alone make a frame of Ethernet's least length; depi_read() looks at what is behind them. */
TEST(few_bytes_are_padded) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (unsigned tagged = 0; tagged < 2; tagged++) {
		depi_kit_open(&(struct depi_kit_config){.vlan = tagged ? VLAN : 0});
		for (uint32_t size = 6; size < 60; size++) {
			assert_int_equal(depi_kit_put(3, size, pkts), 0);
			depi_kit.clock.now += FLUSH;
			assert_int_equal(depi_kit_run(pkts, 0), 1);
			assert_true(rte_pktmbuf_pkt_len(pkts[0]) >= 60 + 4 * tagged);
			depi_kit_read(pkts[0], NULL);
			rte_pktmbuf_free(pkts[0]);
		}
		depi_kit_check();
		depi_kit_close();
	}
}

ALL_TESTS(fixture_start, fixture_stop)

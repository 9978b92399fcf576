/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DEPI stage: random mixes of DOCSIS frames over every kind of session; the flush timer, padding, pools that run dry.
 * What comes out must be full, in sequence, within the MTU, and give the same frames again.
 */
#include "test_main.h"

#include "depi_kit.h"
#include "random.h"

/* a table entry and the least that is worth cutting off */
#define NOT_FULL (2 + 16)
#define SMALLEST 20
#define LARGEST 2017
#define VLAN 4094
#define HELD 64
#define ROOM 1600
#define DRY 255

static struct random rnd;

/* One call of the stage; what it put out is checked and freed. */
static void call(struct rte_mbuf **pkts, uint16_t n) {
	const uint64_t *full = &kit.lower.counters.values[COUNTER_DEPI_FULL], before = *full;
	uint16_t out = kit_run(pkts, n);

	for (uint16_t i = 0; i < out; i++) {
		struct depi_seen seen = kit_read(pkts[i]);

		assert_true(seen.segments > 0);
		/* the full ones come first, then those that were flushed */
		if (i < *full - before && seen.segments < kit.sg.rphy.max_segments)
			assert_in_range(seen.space, 0, NOT_FULL - 1);
		rte_pktmbuf_free(pkts[i]);
	}
}

/* Frames of random sizes, on one channel or, at random, on all. */
static void put(uint32_t channels, uint16_t n, uint32_t smallest, uint32_t largest) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (uint16_t i = 0; i < n; i++) {
		pkts[i] = kit_frame(random_below(&rnd, channels),
				    random_between(&rnd, smallest, largest));
		assert_non_null(pkts[i]);
	}
	call(pkts, n);
}

/* Several channels, bursts of all lengths, mostly small or mostly large frames, time passes; then single ones of a few
 * bytes, which are padded (depi_read()). */
static void put_mix(void) {
	for (unsigned round = 0; round < 48; round++) {
		put(CHANNELS, (uint16_t)random_between(&rnd, 0, PIPELINE_BURST), SMALLEST,
		    random_below(&rnd, 2) ? LARGEST : 100);
		kit.clock.now += random_below(&rnd, FLUSH);
	}
	for (uint32_t size = 6; size < 60; size++) {
		put(CHANNELS, 1, size, size);
		kit.clock.now += FLUSH;
	}
}

/* Until so many have come in. */
static void put_small(uint64_t frames) {
	while (kit.in < frames)
		put(1, PIPELINE_BURST, SMALLEST, SMALLEST);
}

/* The largest table: 255 entries stand before the segments. Of 256 frames the last one stays. */
static void put_into_the_largest_table(void) {
	put_small(256);
	assert_int_equal(kit.readers[0].packets, 1);
	assert_int_equal(kit.readers[0].segments, 255);
}

/* Sequence and counter of 65,540 DEPI frames. */
static void put_until_numbers_wrap(void) {
	put_small(65540);
}

static void run(const struct depi_kit_config *c, void (*put_all)(void)) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	kit_open(c);
	put_all();
	kit_check();
	kit.clock.now += FLUSH;
	call(pkts, 0);
	kit_check();
	assert_int_equal(kit.lower.depi.ends_open, 0);
	for (unsigned i = 0; i < CHANNELS; i++) {
		assert_int_equal(kit.back[i], kit.sent[i]);
		assert_int_equal(kit.readers[i].cut_off, 0);
		assert_false(kit.readers[i].open);
	}
	assert_int_equal(kit.lower.counters.drops[DROP_NO_BUFFER], 0);
	kit_close();
}

TEST(all_sessions) {
	static const uint32_t mtus[] = {1500, 1501, 4000, 9000};
	static const uint32_t max_segments[] = {1, 2, 16, 255};

	rnd.state = 99;
	for (unsigned i = 0; i < 4 * 4 * 6; i++) {
		const struct depi_kit_config c = {.mtu = mtus[i / 24],
						  .max_segments = max_segments[i / 6 % 4],
						  .family = i % 2 ? 6 : 4,
						  .extra = (enum psp_extra)(i / 2 % 3),
						  .vlan = i / 6 % 2 ? VLAN : 0};

		run(&c, put_mix);
	}
	run(&(struct depi_kit_config){9000, 255, 6, PSP_EXTRA_COUNTER}, put_into_the_largest_table);
	run(&(struct depi_kit_config){1500, 1, 4, PSP_EXTRA_COUNTER}, put_until_numbers_wrap);
}

/* The stage with the channel's next frame alone; 0 bytes: with none. */
static uint16_t put_one(uint16_t channel, uint32_t size, struct rte_mbuf **pkts) {
	if (size > 0)
		pkts[0] = kit_frame(channel, size);
	return kit_run(pkts, size > 0);
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

	kit_open(&(struct depi_kit_config){.extra = PSP_EXTRA_NONE});
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		struct depi_seen seen;

		kit.clock.now += cases[i].size == 0 ? FLUSH : 0;
		assert_int_equal(put_one(0, cases[i].size, pkts), cases[i].out);
		if (cases[i].out == 0)
			continue;
		seen = kit_read(pkts[0]);
		assert_memory_equal(&seen, &cases[i].seen, sizeof(seen));
		assert_int_equal(rte_pktmbuf_pkt_len(pkts[0]), 1514 - seen.space);
		rte_pktmbuf_free(pkts[0]);
	}
	assert_int_equal(kit.back[0], 5);
	kit_check();
	kit_close();
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

	kit_open(&(struct depi_kit_config){.extra = PSP_EXTRA_COUNTER});
	for (size_t i = 0; i < ARRAY_COUNT(events); i++) {
		char out[16] = "";
		uint16_t n;

		kit.clock.now = events[i].at;
		n = put_one(events[i].channel, events[i].size, pkts);
		for (uint16_t k = 0; k < n; k++) {
			kit_read(pkts[k]);
			out[k] = (char)('0' + depi_session(pkts[k]) - SESSION);
			rte_pktmbuf_free(pkts[k]);
		}
		assert_string_equal(out, events[i].out);
		kit_check();
	}
	assert_int_equal(kit.lower.depi.ends_open, 0);
	kit_close();
}

/* What came out is held for a while, as a port does. */
static struct held {
	struct rte_mbuf *m;
	size_t size;
	uint8_t bytes[ROOM];
} held[HELD];
static unsigned delayed_count;

/* In any order: the bytes of the others stay; a buffer goes back with its last part. */
static void give_back(unsigned keep) {
	while (delayed_count > keep) {
		struct held *h = &held[random_below(&rnd, delayed_count)];
		uint8_t now[ROOM];

		fixture_check(h->m);
		assert_int_equal(fixture_read(h->m, now, ROOM), h->size);
		assert_memory_equal(now, h->bytes, h->size);
		rte_pktmbuf_free(h->m);
		*h = held[--delayed_count];
	}
}

/* A burst as far as there are packets. */
static void dry_burst(void) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = (uint16_t)random_below(&rnd, 8), got = 0, out;

	while (got < n && (pkts[got] = kit_frame(random_below(&rnd, CHANNELS),
						 random_between(&rnd, 20, 2017))) != NULL)
		got++;
	out = kit_run(pkts, got);
	for (uint16_t i = 0; i < out; i++) {
		kit_read(pkts[i]);
		give_back(HELD - 1);
		held[delayed_count].m = pkts[i];
		held[delayed_count].size = fixture_read(pkts[i], held[delayed_count].bytes, ROOM);
		delayed_count++;
	}
	kit_check();
}

TEST(pools_run_dry) {
	static const unsigned pools[][3] = {{3, 127, 16},  {7, 127, 2}, {127, 1, 16},
					    {127, 3, 255}, {7, 3, 16},	{15, 7, 1}};
	const uint64_t *dropped = &kit.lower.counters.drops[DROP_NO_BUFFER];

	for (size_t i = 0; i < ARRAY_COUNT(pools); i++) {
		kit_open(&(struct depi_kit_config){.max_segments = pools[i][2],
						   .family = 6,
						   .extra = PSP_EXTRA_COUNTER,
						   .packets = 127,
						   .headers = pools[i][0],
						   .fragments = pools[i][1]});
		kit.lossy = true;
		for (unsigned round = 0; round < 1000; round++) {
			dry_burst();
			if (random_below(&rnd, 4) == 0)
				give_back(random_below(&rnd, delayed_count + 1));
			kit.clock.now += random_below(&rnd, FLUSH);
		}
		assert_in_range(*dropped, 1, kit.in - 1);
		give_back(0);
		kit_close();
	}
}

/* A frame that needs to be cut, and no buffer for a part: the DEPI frame that was opened for it is
 * given up, too, and none without segments ever goes out. What is open at the end goes back to its pools. */
TEST(no_empty_frame_stays_open) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	void *taken[DRY];

	kit_open(&(struct depi_kit_config){.headers = DRY, .fragments = DRY});
	assert_int_equal(rte_mempool_get_bulk(kit.fragments, taken, DRY), 0);
	assert_int_equal(put_one(2, 2000, pkts), 0);
	assert_int_equal(kit.lower.counters.drops[DROP_NO_BUFFER], 1);
	assert_int_equal(rte_mempool_in_use_count(kit.headers), 0);
	kit.clock.now += 2 * FLUSH;
	assert_int_equal(kit_run(pkts, 0), 0);
	rte_mempool_put_bulk(kit.fragments, taken, DRY);
	for (uint16_t i = 0; i < CHANNELS; i++) {
		for (uint16_t n = put_one(i, 2000, pkts); n > 0; n--)
			rte_pktmbuf_free(pkts[n - 1]);
	}
	assert_int_equal(rte_mempool_in_use_count(kit.packets), CHANNELS);
	kit_close();
}

ALL_TESTS(fixture_start, fixture_stop)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the DEPI stage: random DOCSIS frames over all kinds of sessions, flush timer, padding,
 * empty pools. DEPI frames must be full, in sequence, within the MTU, and contain the same DOCSIS
 * frames. */
#include "test_main.h"

#include "depi_kit.h"
#include "random.h"

#define NOT_FULL (2 + 16) /* bytes of a table entry and of the smallest fragment */
#define SMALLEST 20
#define LARGEST 2017
#define VLAN 4094
#define PENDING 64 /* limit of delayed DEPI frames */
#define FRAME_SIZE 1600
#define POOL 255

static struct random rng;

/* Runs the stage once. Checks and frees its output. */
static void run_stage(struct rte_mbuf **pkts, uint16_t n) {
	const uint64_t *full = &kit.lower.counters.values[COUNTER_DEPI_FULL], before = *full;
	uint16_t out = kit_run(pkts, n);

	for (uint16_t i = 0; i < out; i++) {
		struct depi_contents contents = kit_read(pkts[i]);

		assert_true(contents.segments > 0);
		/* full frames precede flushed ones */
		if (i < *full - before && contents.segments < kit.sg.rphy.max_segments)
			assert_in_range(contents.space, 0, NOT_FULL - 1);
		rte_pktmbuf_free(pkts[i]);
	}
}

/* Passes frames of random sizes on random channels to the stage. */
static void put_random_frames(uint32_t channels, uint16_t n, uint32_t smallest, uint32_t largest) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (uint16_t i = 0; i < n; i++) {
		pkts[i] = kit_create_frame(random_below(&rng, channels),
					   random_between(&rng, smallest, largest));
		assert_non_null(pkts[i]);
	}
	run_stage(pkts, n);
}

/* Random bursts on all channels; then single small frames, which must be padded. */
static void put_random_bursts(void) {
	for (unsigned round = 0; round < 48; round++) {
		put_random_frames(CHANNELS, (uint16_t)random_between(&rng, 0, PIPELINE_BURST),
				  SMALLEST, random_below(&rng, 2) ? LARGEST : 100);
		kit.clock.now += random_below(&rng, FLUSH_NS);
	}
	for (uint32_t size = 6; size < 60; size++) {
		put_random_frames(CHANNELS, 1, size, size);
		kit.clock.now += FLUSH_NS;
	}
}

/* Sends small frames up to this total. */
static void put_small(uint64_t frames) {
	while (kit.in < frames)
		put_random_frames(1, PIPELINE_BURST, SMALLEST, SMALLEST);
}

/* The largest table has 255 entries. Of 256 frames, the last one stays in an open DEPI frame. */
static void fill_largest_table(void) {
	put_small(256);
	assert_int_equal(kit.readers[0].packets, 1);
	assert_int_equal(kit.readers[0].segments, 255);
}

/* Sequence number and counter wrap within 65,540 DEPI frames. */
static void wrap_numbers(void) {
	put_small(65540);
}

static void test_session(const struct depi_kit_config *c, void (*put_all)(void)) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	kit_open(c);
	put_all();
	kit_check();
	kit.clock.now += FLUSH_NS;
	run_stage(pkts, 0);
	kit_check();
	assert_int_equal(kit.lower.depi.ends_open, 0);
	for (unsigned i = 0; i < CHANNELS; i++) {
		assert_int_equal(kit.received[i], kit.sent[i]);
		assert_int_equal(kit.readers[i].incomplete, 0);
		assert_false(kit.readers[i].open);
	}
	assert_int_equal(kit.lower.counters.drops[DROP_NO_BUFFER], 0);
	kit_close();
}

TEST(random_frames_pass_all_kinds_of_sessions) {
	static const uint32_t mtus[] = {1500, 1501, 4000, 9000};
	static const uint32_t max_segments[] = {1, 2, 16, 255};

	rng.state = 99;
	for (unsigned i = 0; i < 4 * 4 * 6; i++) {
		const struct depi_kit_config c = {.mtu = mtus[i / 24],
						  .max_segments = max_segments[i / 6 % 4],
						  .family = i % 2 ? 6 : 4,
						  .extra = (enum psp_extra)(i / 2 % 3),
						  .vlan = i / 6 % 2 ? VLAN : 0};

		test_session(&c, put_random_bursts);
	}
	test_session(&(struct depi_kit_config){9000, 255, 6, PSP_EXTRA_COUNTER},
		     fill_largest_table);
	test_session(&(struct depi_kit_config){1500, 1, 4, PSP_EXTRA_COUNTER}, wrap_numbers);
}

/* Runs the stage with the channel's next frame; 0 bytes: without a frame. */
static uint16_t put_one(uint16_t channel, uint32_t size, struct rte_mbuf **pkts) {
	if (size > 0)
		pkts[0] = kit_create_frame(channel, size);
	return kit_run(pkts, size > 0);
}

/* With MTU 1500 and IPv4, a DEPI frame has 1472 bytes for segments and table entries. */
TEST(frame_is_split_at_mtu) {
	static const struct {
		uint32_t size;
		unsigned out; /* DEPI frames */
		struct depi_contents contents; /* of the first */
	} cases[] = {
		{1470, 1, {1, 1, 0}}, /* fills the frame exactly */
		{1468, 1, {1, 1, 2}}, /* only an entry would fit: full */
		{1471, 1, {1, 0, 0}}, /* one byte goes to the next DEPI frame .. */
		{1451, 0, {0}},
		{20, 1, {2, 2, 16}}, /* .. where 16 bytes are left: too few for a fragment */
		{0, 1, {1, 1, 1450}}, /* flushed */
	};

	kit_open(&(struct depi_kit_config){.extra = PSP_EXTRA_NONE});
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		struct depi_contents contents;

		kit.clock.now += cases[i].size == 0 ? FLUSH_NS : 0;
		assert_int_equal(put_one(0, cases[i].size, pkts), cases[i].out);
		if (cases[i].out == 0)
			continue;
		contents = kit_read(pkts[0]);
		assert_memory_equal(&contents, &cases[i].contents, sizeof(contents));
		assert_int_equal(rte_pktmbuf_pkt_len(pkts[0]), 1514 - contents.space);
		rte_pktmbuf_free(pkts[0]);
	}
	assert_int_equal(kit.received[0], 5);
	kit_check();
	kit_close();
}

/* Frames of `size` bytes (0: none) by time, and channels of flushed frames, oldest first. */
TEST(open_frame_is_flushed_after_its_time) {
	static const struct {
		uint64_t at; /* ns */
		uint16_t channel;
		uint32_t size;
		const char *out;
	} events[] = {
		{1000, 2, 100, ""},
		{1010, 0, 100, ""},
		{1010, 2, 100, ""}, /* joins the first frame, whose timer continues */
		{2000, 4, 100, ""},
		{1000 + FLUSH_NS - 1, 0, 0, ""},
		{1000 + FLUSH_NS, 0, 0, "2"},
		{1000 + FLUSH_NS, 0, 0, ""},
		{10 * FLUSH_NS, 0, 0, "04"},
		/* a frame opened after a full one starts a new timer */
		{20 * FLUSH_NS, 0, 1000, ""},
		{20 * FLUSH_NS + 10, 1, 100, ""},
		{20 * FLUSH_NS + 20, 0, 1000, "0"},
		{21 * FLUSH_NS + 10, 0, 0, "1"},
		{21 * FLUSH_NS + 19, 0, 0, ""},
		{21 * FLUSH_NS + 20, 0, 0, "0"},
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

/* Transmitted frames, delayed like in a port. */
static struct delayed {
	struct rte_mbuf *m;
	size_t size;
	uint8_t bytes[FRAME_SIZE];
} delayed[PENDING];
static unsigned delayed_count;

/* Frees delayed frames in random order down to `keep`. Their bytes must be unchanged. */
static void release_frames(unsigned keep) {
	while (delayed_count > keep) {
		struct delayed *h = &delayed[random_below(&rng, delayed_count)];
		uint8_t now[FRAME_SIZE];

		fixture_packet_check(h->m);
		assert_int_equal(fixture_packet_read(h->m, now, FRAME_SIZE), h->size);
		assert_memory_equal(now, h->bytes, h->size);
		rte_pktmbuf_free(h->m);
		*h = delayed[--delayed_count];
	}
}

/* Runs the stage with a random burst, as far as the pool has packets, and delays its output. */
static void run_with_empty_pools(void) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = (uint16_t)random_below(&rng, 8), created = 0, out;

	while (created < n &&
	       (pkts[created] = kit_create_frame(random_below(&rng, CHANNELS),
						 random_between(&rng, 20, 2017))) != NULL)
		created++;
	out = kit_run(pkts, created);
	for (uint16_t i = 0; i < out; i++) {
		kit_read(pkts[i]);
		release_frames(PENDING - 1);
		delayed[delayed_count].m = pkts[i];
		delayed[delayed_count].size =
			fixture_packet_read(pkts[i], delayed[delayed_count].bytes, FRAME_SIZE);
		delayed_count++;
	}
	kit_check();
}

TEST(empty_pools_drop_frames_and_leak_nothing) {
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
			run_with_empty_pools();
			if (random_below(&rng, 4) == 0)
				release_frames(random_below(&rng, delayed_count + 1));
			kit.clock.now += random_below(&rng, FLUSH_NS);
		}
		assert_in_range(*dropped, 1, kit.in - 1);
		release_frames(0);
		kit_close();
	}
}

/* If a frame must be split and no buffer for a fragment is free, its new DEPI frame is freed, too:
 * DEPI frames always have segments. Open frames are freed at the end. */
TEST(frame_without_segments_is_not_sent) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	void *fragments[POOL];

	kit_open(&(struct depi_kit_config){.headers = POOL, .fragments = POOL});
	assert_int_equal(rte_mempool_get_bulk(kit.fragments, fragments, POOL), 0);
	assert_int_equal(put_one(2, 2000, pkts), 0);
	assert_int_equal(kit.lower.counters.drops[DROP_NO_BUFFER], 1);
	assert_int_equal(rte_mempool_in_use_count(kit.headers), 0);
	kit.clock.now += 2 * FLUSH_NS;
	assert_int_equal(kit_run(pkts, 0), 0);
	rte_mempool_put_bulk(kit.fragments, fragments, POOL);
	for (uint16_t i = 0; i < CHANNELS; i++) {
		for (uint16_t n = put_one(i, 2000, pkts); n > 0; n--)
			rte_pktmbuf_free(pkts[n - 1]);
	}
	assert_int_equal(rte_mempool_in_use_count(kit.packets), CHANNELS);
	kit_close();
}

ALL_TESTS(fixture_start, fixture_stop)

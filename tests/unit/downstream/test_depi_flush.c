/* SPDX-License-Identifier: BSD-3-Clause */
/* The DEPI stage: the flush timer, and padding. */
#include "test_main.h"

#include <string.h>

#include "depi_kit.h"
#include "fixture.h"

#define FLUSH DEPI_KIT_FLUSH_NS

/* At a time, a frame is put in, or none is; and DEPI frames of these channels come out. */
struct event {
	uint64_t at; /* ns */
	uint16_t channel;
	uint32_t size; /* 0: none */
	const char *out;
};

static void play(const struct event *events, size_t count) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	depi_kit_open(NULL);
	for (size_t i = 0; i < count; i++) {
		const struct event *e = &events[i];
		uint16_t n;

		depi_kit.clock.now = e->at;
		n = e->size > 0 ? depi_kit_put(e->channel, e->size, pkts) : depi_kit_run(pkts, 0);
		if (n != strlen(e->out))
			fail_msg("event %zu: %u DEPI frames", i, n);
		for (uint16_t k = 0; k < n; k++)
			assert_int_equal(depi_kit_take(pkts[k]), e->out[k] - '0');
		depi_kit_check();
	}
	assert_int_equal(depi_kit.lower.depi.ends_open, 0);
	depi_kit_close();
}

/* Nothing before its time, all at its time, the oldest first. */
TEST(flush_waits_as_long_as_told) {
	static const struct event events[] = {
		{1000, 2, 100, ""},
		{1010, 0, 100, ""},
		{1010, 2, 100, ""}, /* joins the first: no new time for it */
		{2000, 4, 100, ""},
		{1000 + FLUSH - 1, 0, 0, ""},
		{1000 + FLUSH, 0, 0, "2"},
		{1000 + FLUSH, 0, 0, ""},
		{UINT64_C(1000) * FLUSH, 0, 0, "04"},
	};

	play(events, ARRAY_COUNT(events));
}

/* A DEPI frame that was full and opened again counts its time from then, and stands behind. */
TEST(flush_counts_from_the_opening) {
	static const struct event events[] = {
		{0, 0, 1000, ""},	 {10, 1, 100, ""},	     {20, 0, 1000, "0"},
		{10 + FLUSH, 0, 0, "1"}, {20 + FLUSH - 1, 0, 0, ""}, {20 + FLUSH, 0, 0, "0"},
	};

	play(events, ARRAY_COUNT(events));
}

/* A few bytes alone make a frame of Ethernet's least length; depi_read() looks at what is behind them. */
TEST(few_bytes_are_padded) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (unsigned tagged = 0; tagged < 2; tagged++) {
		depi_kit_open(&(struct depi_kit_config){.vlan = tagged ? 4094 : 0});
		for (uint32_t size = 6; size < 60; size++) {
			assert_int_equal(depi_kit_put(3, size, pkts), 0);
			depi_kit.clock.now += FLUSH;
			assert_int_equal(depi_kit_run(pkts, 0), 1);
			assert_true(rte_pktmbuf_pkt_len(pkts[0]) >= 60 + 4 * tagged);
			assert_int_equal(depi_kit_take(pkts[0]), 3);
		}
		depi_kit_check();
		depi_kit_close();
	}
}

ALL_TESTS(fixture_start, fixture_stop)

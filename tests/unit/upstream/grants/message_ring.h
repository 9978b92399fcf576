/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of an upstream scheduler's messages, in the place of a downstream's. */
#pragma once

#include "pipeline/messages.h"
#include "upstream_cases.h"

static struct message_path path;

static const struct grants_config message_times = {
	.map_interval = 2 * BENCH_MS,
	.ucd_interval = 1000 * BENCH_MS,
	.modem_processing = 600000,
	.cmts_processing = 200000,
};

/* Of a channel; what carries its MAPs is the test's. */
static const struct channel_grants message_grants = {
	.physical = {.minislot_ticks = 2,
		     .symbol_rate = 5120,
		     .burst_minislots = 1,
		     .cyclic_prefix = 256,
		     .frame_minislots = 237,
		     .frame_symbols = 6,
		     .subcarrier_spacing = 50,
		     .data_iuc = 10},
	.contention = {1, 8, 3, 10},
	.maintenance = {.initial_interval = 1000 * BENCH_MS, .backoff_end = 4},
};

/* For that many messages, from so many upstream channels into so many downstream ones, of which each has its
 * counter of `bytes`. To be called before bench_start(). */
static inline void message_ring_open(struct upstream_bench *b, unsigned ring, uint16_t pseudowires,
				     uint16_t channels, uint64_t *bytes) {
	static uint8_t memory[64 << 10] __rte_cache_aligned;

	memset(bytes, 0, channels * sizeof(*bytes));
	path = (struct message_path){
		.ring = (struct rte_ring *)memory,
		.pseudowires = pseudowires,
		.channels = channels,
		.bytes = bytes,
	};
	assert_true(rte_ring_get_memsize(ring) <= (ssize_t)sizeof(memory));
	assert_int_equal(rte_ring_init(path.ring, "messages", ring, RING_F_SP_ENQ | RING_F_SC_DEQ),
			 0);
	b->path = &path;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of an upstream scheduler's messages, in the place of a downstream's. */
#pragma once

#include <string.h>

#include "test.h"

#include "pipeline/messages.h"
#include "upstream_bench.h"

static struct message_path path;

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

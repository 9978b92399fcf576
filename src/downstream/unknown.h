/* SPDX-License-Identifier: BSD-3-Clause */
/* The packets of a burst with unknown flows. modem_lookup, filter and classify handle them; the
 * others keep their positions in the burst. */
#pragma once

#include <stdint.h>

#include "downstream/downstream.h"

/* The unknown packets of a stage's burst. */
struct unknown {
	struct ds_record *records[PIPELINE_BURST];
	uint16_t at[PIPELINE_BURST]; /* index of the packet in the burst */
	uint16_t count;
	uint16_t gaps; /* of these, dropped by the stage */
};

/* Finds them. There may be none. */
void unknown_find(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n, struct unknown *unknown);

/* Drops the packet at index `i` of the list. unknown_compact() removes the gap. */
void unknown_drop(struct ds_upper *u, struct rte_mbuf **pkts, struct unknown *unknown, uint16_t i,
		  enum drop_reason reason);

/* Removes the gaps of dropped packets among `n` packets. Returns how many are left. */
uint16_t unknown_compact(const struct unknown *unknown, struct rte_mbuf **pkts, uint16_t n);

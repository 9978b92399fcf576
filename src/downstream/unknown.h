/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets of a burst whose flows are not known: modem_lookup, filter and classify work on these, among
 * others that stay where they are in the burst.
 */
#pragma once

#include <stdint.h>

#include "downstream/downstream.h"

/* Those of the burst that a stage was given. */
struct unknown {
	struct ds_row *rows[PIPELINE_BURST];
	uint16_t at[PIPELINE_BURST]; /* index of the packet in the burst */
	uint16_t count;
	uint16_t gaps; /* of these, dropped by the stage */
};

/* Finds them; there may be none. */
void unknown_find(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n, struct unknown *unknown);

/* Ends the packet at place `i` of the list, to be closed over by unknown_close(). */
void unknown_drop(struct ds_upper *u, struct rte_mbuf **pkts, struct unknown *unknown, uint16_t i,
		  enum drop_reason reason);

/* Closes the gaps that dropped packets left among `n` packets. Returns how many there are now. */
uint16_t unknown_close(const struct unknown *unknown, struct rte_mbuf **pkts, uint16_t n);

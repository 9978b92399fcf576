/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets of a burst whose flows are not known: modem_lookup, filter and classify work on these, among
 * others that stay where they are in the burst.
 */
#pragma once

#include <stdint.h>

#include "downstream/downstream.h"

/* Ends the packet of a row; its place in the burst, and the row, are gone with unknown_close(). */
void unknown_drop(struct ds_upper *u, struct rte_mbuf **pkts, const struct ds_row *row,
		  enum drop_reason reason);

/* Closes the gaps that dropped packets left among `n` packets. Returns how many there are now. */
uint16_t unknown_close(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n);

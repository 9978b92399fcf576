/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `transmit`: bursts to the network port. */
#pragma once

#include <stdint.h>

#define US_TRANSMIT_CAPACITY 1024

struct rte_mbuf;
struct upstream;

/* What goes to the network port, and what it has not taken yet, a circle. */
struct us_transmit {
	uint16_t vlan; /* whose tag they get; 0: none */
	struct rte_mbuf *line[US_TRANSMIT_CAPACITY];
	uint32_t first, count;
	uint32_t most; /* with those in the crypto provider, from where on no frame is begun */
};

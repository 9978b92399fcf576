/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `verify_source`: source address belongs to the modem. */
#pragma once

#include <stdint.h>

struct rte_mbuf;

uint16_t us_verify_source(void *ctx, struct rte_mbuf **pkts, uint16_t n);

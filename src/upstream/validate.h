/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `validate`: outer headers, session to upstream channel. */
#pragma once

#include <stdint.h>

struct rte_mbuf;

uint16_t us_validate(void *ctx, struct rte_mbuf **pkts, uint16_t n);

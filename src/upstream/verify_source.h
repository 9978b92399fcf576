/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `verify_source`: the source address must belong to the modem. */
#pragma once

#include "upstream/shared.h"

struct us_verify_source {
	const struct us_resources *r;
	struct counters *counters;
	const struct us_tables *tables;
	bool enabled; /* configured; else all frames pass */
};

uint16_t us_verify_source(void *ctx, struct rte_mbuf **pkts, uint16_t n);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `validate`: outer headers, session to upstream channel. */
#pragma once

#include "model/group/address.h"
#include "upstream/shared.h"

struct us_validate {
	struct counters *counters;
	const struct us_tables *tables;
	/* the only addresses that packets may have */
	struct ip_address core_ip; /* of this core */
	struct ip_address rpd_ip;
};

uint16_t us_validate(void *ctx, struct rte_mbuf **pkts, uint16_t n);

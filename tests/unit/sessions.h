/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <rte_mempool.h>

#include "platform/crypto.h"

/* How many sessions of the device are not given back. */
static inline unsigned sessions_in_use(const struct docsis_crypto *c) {
	unsigned used = 0;

	for (unsigned p = 0; p < c->session_pools; p++)
		used += rte_mempool_in_use_count(c->sessions[p]);
	return used;
}

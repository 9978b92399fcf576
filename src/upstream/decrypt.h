/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages `decrypt_submit` and `decrypt_collect`: frames to the crypto provider and back. */
#pragma once

#include "upstream/shared.h"

struct us_decrypt {
	const struct us_resources *r;
	struct counters *counters;
	const struct us_tables *tables;
	bool verify_crc;
};

uint16_t us_decrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint16_t us_decrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_decrypt_collect_pending(const void *ctx, enum unit unit);
void us_decrypt_collect_stop(void *ctx);

/* Counts a frame in the clear. If configured, verifies its CRC, except that of a fragment, which
 * defragment verifies. Returns false if it dropped the frame. */
bool us_clear_frame_accept(const struct us_decrypt *stage, struct rte_mbuf *m);

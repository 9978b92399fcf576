/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `uepi`: PSP packets in order, their segments to bursts. */
#pragma once

#include "upstream/reorder.h"
#include "upstream/requests.h"
#include "upstream/shared.h"

#define US_BURSTS_MAX 127 /* in a PSP packet: header, payload and trailer are a segment each */
#define US_BURST_PIECES 64 /* most buffers of a burst */
#define US_BURST_BYTES 65535 /* most bytes of its payload */

struct us_uepi {
	const struct us_resources *r;
	struct counters *counters;
	struct us_tables *tables;
	struct pending_set *pending_set;
	struct us_reorder_set *reorder_set;
	struct us_requests *requests;
	struct pipeline *list;
	const struct latency *latency;
	bool numbered_by_session; /* a sequence of PSP packets per session; else per PSP flow */
	/* pending; the records in tables.h own the packets and bursts */
	uint32_t pending_packets;
	uint32_t open_bursts;
};

uint16_t us_uepi(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_uepi_pending(const void *ctx, enum unit unit);
void us_uepi_stop(void *ctx);

/* Ends the wait of early packets, or of an open burst (expire.c); `timeout` is that of
 * pending_excess(). */
void us_packets_expire(struct us_uepi *stage, struct pending *h);
void us_burst_expire(struct us_uepi *stage, struct pending *h, bool timeout);

/* Drops pending packets and the open burst of a PSP flow whose session is removed, within the
 * budget (ns). Returns whether none is left. */
bool us_psp_flow_remove(struct us_uepi *stage, struct us_psp_flow *f, int *budget);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `uepi`: PSP packets in order, their segments to bursts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hold;
struct us_psp_flow;
struct upstream;

/* What of it is held; the packets and bursts themselves are with their sessions, in tables.h. */
struct us_uepi {
	uint32_t waiting_packets;
	uint32_t open_bursts;
};

/* Ends a wait (expire.c): of packets that are ahead, or of an open burst; `timeout` as holds_excess() tells. */
void us_packets_expire(struct upstream *u, struct hold *h);
void us_burst_expire(struct upstream *u, struct hold *h, bool timeout);

/* Drops what waits in a PSP flow of a session that goes, within the budget. Returns whether that was all. */
bool us_psp_flow_remove(struct upstream *u, struct us_psp_flow *f, int *budget);

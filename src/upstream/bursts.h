/* SPDX-License-Identifier: BSD-3-Clause */
/* From the segments of PSP to whole bursts: header, payload, trailer (docs/uepi-formats.md). */
#pragma once

#include "pipeline/counters.h"
#include "upstream/tables.h"

struct upstream;

/* Where a PSP segment stands. */
struct us_piece {
	struct rte_mbuf *packet;
	const struct psp_segment *segment;
	bool last_payload; /* no more payload in this packet: the piece may be the packet itself */
};

/* Takes the next segment of a data or ranging session's PSP flow. The caller keeps its reference to
 * the packet. */
void us_burst_take(struct upstream *u, const struct us_session *s, struct us_burst *b,
		   const struct us_piece *piece);

/* Drops the open burst; the rest of it will be passed over. Harmless where none is open. */
void us_burst_drop(struct upstream *u, struct us_burst *b, enum drop_reason reason);

/* What an open burst keeps behind the end of a packet counts as held. */
void us_burst_hold(struct upstream *u, struct us_burst *b);

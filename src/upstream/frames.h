/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks MAC headers, and decides what the stream does with the frame. */
#pragma once

#include "upstream/state/cursor.h"
#include "upstream/state/tables.h"
#include "wire/docsis_mac.h"

struct us_streams;

enum us_frame_action {
	US_FRAME_FORWARD, /* a PDU to forward follows: packet, management message or fragment */
	US_FRAME_HEADER, /* no PDU: the frame is a header only, or the frames in it follow */
	US_FRAME_SKIP, /* dropped; the stream continues behind the frame */
	US_FRAME_RESYNC, /* dropped; the next frame boundary is unknown */
};

/*
 * Checks a header for which docsis_mac_parse() returned `verdict`. Its header_size is known, or its
 * HCS is wrong.
 *
 * Counts the drop, or passes on the requests in the header.
 */
enum us_frame_action us_frame_check(const struct us_streams *all, const struct us_cursor *cursor,
				    enum docsis_verdict verdict, const struct docsis_mac *mac);

/* Whether the frame has no PDU: requests, and concatenations, which are followed by their
 * frames. */
bool us_frame_is_header(const struct docsis_mac *mac);

/* Passes on the bandwidth requests of a valid header. */
void us_frame_requests(const struct us_streams *all, const struct us_cursor *cursor,
		       const struct docsis_mac *mac);

/* Returns the size of the whole header if its first `have` bytes determine it; else the number of
 * bytes to read first. */
uint32_t us_frame_header_needs(const uint8_t *header, uint32_t have);

/* Bytes of the PDU behind the header. */
static inline uint32_t us_frame_pdu(const struct docsis_mac *mac) {
	return mac->frame_size - mac->header_size;
}

/* Copies header fields for later stages to the mbuf's metadata. */
void us_frame_describe(struct rte_mbuf *m, const struct us_cursor *cursor,
		       const struct docsis_mac *mac);

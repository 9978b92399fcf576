/* SPDX-License-Identifier: BSD-3-Clause */
/* What a MAC header says is to be done with its frame. */
#pragma once

#include "upstream/state/cut.h"
#include "upstream/state/tables.h"
#include "wire/docsis_mac.h"

struct us_streams;

enum us_frame_action {
	US_FRAME_TAKE, /* a PDU follows that goes on: packet, management message or fragment */
	US_FRAME_HEADER, /* the header is all of it, or the frames in it follow: nothing to take */
	US_FRAME_PASS, /* dropped; the stream goes on behind the frame */
	US_FRAME_LOSE, /* dropped; where the stream goes on is not known */
};

/*
 * Judges a header of which docsis_mac_parse() said `verdict`, with header_size known or the HCS wrong.
 * Counts the drop, or hands over the requests in it.
 */
enum us_frame_action us_frame_judge(const struct us_streams *all, const struct us_cut *cut,
				    enum docsis_verdict verdict, const struct docsis_mac *mac);

/* Whether the frame ends with its header, or goes on with frames: requests, concatenations. */
bool us_frame_is_header(const struct docsis_mac *mac);

/* Hands over the bandwidth requests of a good header. */
void us_frame_requests(const struct us_streams *all, const struct us_cut *cut,
		       const struct docsis_mac *mac);

/* Bytes that a header needs in all, as far as the `have` bytes tell. */
uint32_t us_frame_header_needs(const uint8_t *header, uint32_t have);

/* Bytes of the PDU behind the header. */
static inline uint32_t us_frame_pdu(const struct docsis_mac *mac) {
	return mac->frame_size - mac->header_size;
}

/* Puts what the later stages need of the header into the frame's mbuf. */
void us_frame_describe(struct rte_mbuf *m, const struct us_cut *cut, const struct docsis_mac *mac);

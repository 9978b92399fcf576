/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the size of grants from rate, number of flows and the reassembly timer of the CMTS. */
#include "modems/uplink_grant.h"

#include "wire/docsis_mac.h"
#include "wire/docsis_up.h"
#include "wire/segment.h"

#define CRC 4
#define NS 1000000000.0
#define TIMEOUT_SHARE 0.5 /* share of frame_timeout; the rest allows for preemption of the sender */

static uint64_t grants_for(uint64_t bytes, uint32_t capacity) {
	return (bytes + capacity - 1) / capacity;
}

/* Rounds from the grant with the first byte of a frame or unit to the one with its last byte. */
static uint64_t rounds(bool segment_header, uint64_t frame, uint32_t grant) {
	uint32_t fragment = grant - DOCSIS_MAC_HEADER - DOCSIS_UP_HEADER_MAX - CRC;

	/* At worst, the first grant has only one byte of the frame. */
	if (segment_header)
		return grants_for(frame - 1, grant - SEGMENT_HEADER_SIZE);
	/* A unit exceeds the grant by up to a frame; a request may precede a fragment. */
	return grants_for(grant + DOCSIS_MAC_HEADER + frame, fragment) - 1;
}

uint64_t uplink_grant_span(const struct service_group *sg, const struct mix *mix, uint32_t grant) {
	uint64_t frame = DOCSIS_UP_HEADER_MAX + mix_largest(mix) + CRC;
	uint64_t flows = 0, longest = 0;

	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		if (modem->address_count == 0)
			continue; /* sends nothing */
		flows += modem->upstream_flow_count;
		for (size_t u = 0; u < modem->upstream_flow_count; u++) {
			const struct upstream_service_flow *f = &modem->upstream_flows[u];
			/* The clusters of a flow share its grants. */
			uint64_t n = rounds(f->segment_header, frame, grant) * f->cluster_count;

			longest = n > longest ? n : longest;
		}
	}
	return flows * longest * grant;
}

/* Ignores the headers in grants, which the rate excludes: actual grants come faster. */
uint64_t uplink_grant_lowest(const struct service_group *sg, const struct mix *mix,
			     uint32_t grant) {
	double timeout = (double)sg->upstream.frame_timeout_ns / NS * TIMEOUT_SHARE;

	return (uint64_t)((double)uplink_grant_span(sg, mix, grant) * 8 / timeout) + 1;
}

uint32_t uplink_grant_size(const struct service_group *sg, const struct mix *mix, uint64_t rate) {
	uint32_t grant = UPLINK_GRANT;

	if (rate == 0)
		return UPLINK_GRANT;
	while (grant > UPLINK_GRANT_MIN && uplink_grant_lowest(sg, mix, grant) > rate)
		grant--;
	return grant;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata of a burst for the R-PHY device: its transmission opportunity, and the packets that end
 * in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The transmission opportunity of a MAP. */
struct uplink_slot {
	bool from_map; /* false: there are no MAPs */
	uint8_t iuc;
	uint32_t minislot;
	uint32_t size; /* bytes of burst payload granted */
	uint32_t request; /* bytes requested in its segment header */
	uint8_t request_unit; /* N, the unit of the request */
};

/* Packets of a stream whose last byte is in a burst. */
struct uplink_ended {
	uint32_t stream;
	uint32_t first; /* sequence number */
	uint32_t packets;
	uint32_t bytes; /* Ethernet frames without CRC */
};

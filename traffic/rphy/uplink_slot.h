/* SPDX-License-Identifier: BSD-3-Clause */
/* What the R-PHY device is told of a burst: when it is sent, and which packets end in it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The transmission opportunity of a MAP that a grant is. */
struct uplink_slot {
	bool given; /* else there is no MAP: grants come of themselves */
	uint8_t iuc;
	uint32_t minislot;
	uint32_t size; /* bytes of burst payload that it could hold */
	uint32_t request; /* bytes that its segment header asks for */
	uint8_t request_unit; /* of these, N */
};

/* Packets of a stream whose last byte lies in a burst. */
struct uplink_ended {
	uint32_t stream;
	uint32_t first; /* sequence number */
	uint32_t packets;
	uint32_t bytes; /* Ethernet frames without CRC */
};

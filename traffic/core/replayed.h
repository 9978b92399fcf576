/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of a capture in memory, sent to the modems in order and repeatedly. All bytes are kept,
 * because the proof compares each received packet with what was sent. */
#pragma once

#include <stdint.h>

#include "core/packet.h"

struct replayed_packet {
	uint64_t offset; /* of its bytes in `bytes` */
	uint32_t modem; /* index in the service group */
	uint16_t flow; /* index into the modem's service flows */
	uint16_t size;
	uint16_t tag_at;
	uint16_t headers; /* bytes before the payload */
	uint16_t checksum_at; /* 0: no checksum */
	uint16_t sum; /* sum of the bytes that the checksum covers, without the tag */
	uint8_t class; /* enum traffic_class */
	uint8_t protocol;
};

struct replayed {
	struct replayed_packet *packets;
	uint32_t count;
	uint32_t capacity;
	uint8_t *bytes; /* tags and upper-layer checksums are 0 */
	uint64_t bytes_used;
	uint64_t bytes_capacity;
};

/* Writes packet `index` with this tag and its checksum. Returns its size, at most PACKET_SIZE_MAX. */
uint32_t replayed_write(const struct replayed *r, uint32_t index, const struct packet_tag *tag,
			uint8_t *out);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rewrites a captured frame for replay: MAC addresses of the simulation, no VLAN tags, an address of a
 * modem as destination, a tag for the proof at the end of its payload, and correct checksums. The rest of
 * the IP packet is unchanged. Frames of a capture are untrusted input.
 *
 *     +----------+-----+------------------+----------------------+-----+-----+-----------+
 *     | Ethernet | IP  | UDP, TCP, ICMP.. | payload              | tag | odd | padding   |
 *     | 14       |     |                  |                      | 20  | 0-1 | up to 60  |
 *     +----------+-----+------------------+----------------------+-----+-----+-----------+
 *
 * A payload that is too short for a tag is lengthened.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/packet.h"
#include "wire/ip.h"

enum capture_skip {
#define CAPTURE_SKIP(enumerator, name, meaning) CAPTURE_SKIP_##enumerator,
#include "captures/capture_skip.def"
#undef CAPTURE_SKIP
	CAPTURE_SKIPS,
	CAPTURE_ACCEPTED = CAPTURE_SKIPS,
};

extern const char *const capture_skip_names[CAPTURE_SKIPS];

/* A rewritten frame and the offsets of its parts. */
struct captured_frame {
	uint8_t bytes[PACKET_SIZE_MAX];
	struct frame_fields fields; /* of `bytes` */
	uint16_t size;
	uint16_t headers; /* bytes before the payload */
	uint16_t tag_at; /* at an even distance from the upper-layer header */
	uint16_t checksum_at; /* of UDP, TCP, ICMP, ICMPv6; 0: no checksum */
	uint16_t sum; /* folded sum of the bytes that the checksum covers, without the tag */
	bool lengthened;
	bool untagged; /* had VLAN tags, which are removed */
};

/*
 * Copies the IP packet of a captured frame: `size` captured bytes of `wire_size`. The result has at most
 * `max_size` bytes, at most PACKET_SIZE_MAX. On CAPTURE_ACCEPTED all of `out` is set except MAC addresses,
 * checksums, `checksum_at` and `sum`; capture_frame_finish() must follow. Otherwise `out` is undefined.
 */
enum capture_skip capture_frame_read(const uint8_t *frame, size_t size, size_t wire_size,
				     size_t max_size, struct captured_frame *out);

/* Sets the destination address (of the frame's family), the MAC addresses, `checksum_at` and `sum`, and
 * writes the IPv4 checksum. replayed_write() writes the upper-layer checksum with the tag. */
void capture_frame_finish(struct captured_frame *f, const uint8_t *destination,
			  const uint8_t destination_mac[6], const uint8_t source_mac[6]);

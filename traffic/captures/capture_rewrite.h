/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A captured frame as it is sent again: between our own MAC addresses, without VLAN tags, to an
 * address of a modem, with a tag for the proof at the end of its payload and good checksums. The rest
 * of the IP packet stays what it was. Frames of a capture are anybody's bytes.
 *
 *     +----------+-----+------------------+----------------------+-----+-----+-----------+
 *     | Ethernet | IP  | UDP, TCP, ICMP.. | payload              | tag | odd | padding   |
 *     | 14       |     |                  |                      | 20  | 0-1 | up to 60  |
 *     +----------+-----+------------------+----------------------+-----+-----+-----------+
 *
 * A payload that holds no tag is lengthened by one.
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
	CAPTURE_TAKEN = CAPTURE_SKIPS,
};

extern const char *const capture_skip_names[CAPTURE_SKIPS];

/* A frame that is rewritten, and where things are in it. */
struct captured_frame {
	uint8_t bytes[PACKET_SIZE_MAX];
	struct frame_fields fields; /* of `bytes` */
	uint16_t size;
	uint16_t headers; /* bytes before the payload */
	uint16_t tag_at; /* an even distance from the upper header */
	uint16_t checksum_at; /* of UDP, TCP, ICMP, ICMPv6; 0: none is sent */
	uint16_t sum; /* of what that covers without the tag, folded */
	bool lengthened;
	bool untagged; /* had VLAN tags */
};

/*
 * Takes over the IP packet of a captured frame: `size` bytes of the `wire_size` that it had, to be
 * sent in at most `max_size` bytes, at most PACKET_SIZE_MAX. On CAPTURE_TAKEN all of `out` is set but
 * the MAC addresses, which are 0, and the checksums: capture_frame_finish() follows.
 */
enum capture_skip capture_frame_read(const uint8_t *frame, size_t size, size_t wire_size,
				     size_t max_size, struct captured_frame *out);

/*
 * Sends the frame to `destination`, an address of its family, and between these MAC addresses. The
 * IPv4 checksum is then good; the upper one is written with the tag.
 */
void capture_frame_finish(struct captured_frame *f, const uint8_t *destination,
			  const uint8_t destination_mac[6], const uint8_t source_mac[6]);

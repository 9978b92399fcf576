/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test packet: the headers of its target, a tag, and a payload that sender and proof can compute.
 *
 *     +----------+-------------+-----------+--------+--------+----------+-----+----------------+
 *     | Ethernet | IPv4 / IPv6 | UDP / TCP | magic  | target | sequence | TSC | payload        |
 *     | 14       | 20 / 40     | 8 / 20    | 4      | 4      | 4        | 8   | ..             |
 *     +----------+-------------+-----------+--------+--------+----------+-----+----------------+
 *                                            \____________ tag ______________/
 *
 *     84-byte frames hold IPv6 + UDP + tag (82), 64-byte frames hold IPv4 + UDP + tag (62).
 *
 * The payload is a part of one pseudo-random block. Stream and sequence number select its start, so that
 * one memcpy() writes it, one memcmp() checks it, and its checksum is a difference of two sums.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "model/service_group.h"
#include "random/random.h"
#include "wire/bytes.h"

#define PACKET_TAG_SIZE 20
#define PACKET_HEADERS_MAX 80 /* Ethernet 14, IPv6 40, TCP 20, and padding to copy whole words */
#define PACKET_START_MAX (PACKET_HEADERS_MAX + PACKET_TAG_SIZE)
#define PACKET_SIZE_MAX 1996 /* 2000 with the CRC, the largest frame of DOCSIS 3.1 */

/* Source MAC address: the core network's router. */
extern const uint8_t traffic_source_mac[6];

/* Destination MAC address: the CMTS at its network port. */
static inline const uint8_t *packet_cmts_mac(const struct service_group *sg) {
	return sg->network.has_mac ? sg->network.mac : sg->rphy.core_mac;
}

#define PATTERN_STARTS 4096 /* even offsets at which a payload may start */
#define PATTERN_SIZE (2 * PATTERN_STARTS + 2048)

struct pattern {
	uint8_t bytes[PATTERN_SIZE];
	uint32_t sums[PATTERN_SIZE / 2 + 1]; /* sums of the 16-bit words before each word */
};

/* Fills the block from `random`. */
void pattern_create(struct pattern *p, struct random *random);

/* Offset in the pattern of the payload of packet `sequence` of `stream`. */
static inline uint32_t pattern_start(uint32_t stream, uint32_t sequence) {
	uint32_t mixed = (stream * 0x9e3779b1u) ^ (sequence * 0x85ebca6bu);

	return 2 * ((mixed ^ mixed >> 15) % PATTERN_STARTS);
}

/* Prefetches the sums that packet_start_write() reads, and the first bytes of the payload. */
static inline void pattern_prefetch(const struct pattern *p, uint32_t start, uint32_t size) {
	__builtin_prefetch(&p->sums[start / 2]);
	__builtin_prefetch(&p->sums[(start + size) / 2]);
	__builtin_prefetch(&p->bytes[start]);
}

struct packet_tag {
	uint32_t magic; /* identifies sender and generation */
	uint32_t target; /* or the flow (targets.h), or the index in a capture */
	uint32_t sequence; /* of the target's stream */
	uint64_t tsc; /* when the packet was made */
};

/* The headers of packets to one address. Lengths and checksums are 0; packet_start_write() sets them. */
struct packet_template {
	uint8_t headers[PACKET_HEADERS_MAX];
	uint8_t size; /* bytes of the Ethernet, IP and UDP or TCP headers */
	uint8_t ip_size; /* 20 or 40 */
	uint8_t protocol;
	uint8_t checksum_at; /* offset of the UDP or TCP checksum; 0: no checksum */
	uint32_t ip_sum; /* IPv4: sum of the words of its header */
	uint32_t upper_sum; /* sum of pseudo header and UDP or TCP header, without lengths */
};

/* Fields that differ between the flows to one address; they replace those of the template. */
struct packet_variant {
	uint16_t source_low; /* the last two bytes of the source address */
	uint16_t source_port; /* ports: for UDP and TCP only */
	uint16_t destination_port;
};

/* Input of a template. Ports are used with UDP and TCP only. */
struct packet_address {
	uint8_t family; /* 4 or 6 */
	uint8_t source[16];
	uint8_t destination[16];
	uint8_t protocol;
	uint8_t tos;
	uint16_t source_port;
	uint16_t destination_port;
};

void packet_template_create(struct packet_template *t, const struct packet_address *a,
			    const uint8_t source_mac[6], const uint8_t destination_mac[6]);

/*
 * Writes the headers and the tag of a packet of `size` bytes, at least template size plus tag. The payload
 * starts at `start` of the pattern. `out` has PACKET_START_MAX bytes. Lengths and IPv4, UDP and TCP
 * checksums are correct; UDP over IPv4 may have checksum 0 (none).
 */
void packet_start_write(const struct packet_template *t, const struct packet_tag *tag,
			const struct pattern *pattern, uint32_t start, uint32_t size, uint8_t *out);

/* Replaces the fields of `v` in the packet that packet_start_write() wrote to `out`. */
void packet_vary(const struct packet_template *t, const struct packet_variant *v, uint8_t *out);

/* Finds the tag of a frame of `size` bytes without CRC; reads nothing but the frame. Returns its
 * offset, or 0 if the frame cannot hold a tag. */
size_t packet_tag_find(const uint8_t *frame, size_t size);

static inline void packet_tag_write(const struct packet_tag *tag, uint8_t *p) {
	store_be32(p, tag->magic);
	store_be32(p + 4, tag->target);
	store_be32(p + 8, tag->sequence);
	memcpy(p + 12, &tag->tsc, sizeof(tag->tsc));
}

static inline void packet_tag_read(const uint8_t *p, struct packet_tag *tag) {
	tag->magic = load_be32(p);
	tag->target = load_be32(p + 4);
	tag->sequence = load_be32(p + 8);
	memcpy(&tag->tsc, p + 12, sizeof(tag->tsc));
}

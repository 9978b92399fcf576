/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of a subscriber's Ethernet frame that modem lookup, filters and classifiers use
 * (MULPI, annex C, packet classification encodings).
 *
 *     0            6            12      14
 *     +------------+------------+-------+----------------------------------------------+
 *     | DA         | SA         | type  | IPv4, IPv6, ARP or anything else             |
 *     +------------+------------+-------+----------------------------------------------+
 *
 *     IPv4   +0 version|IHL  +1 TOS  +2 total length  +6 flags|offset  +9 protocol
 *            +10 checksum  +12 source  +16 destination  +4*IHL ports
 *     IPv6   +0 version|traffic class|flow  +4 payload length  +6 next header
 *            +8 source  +24 destination  +40 extension headers, ports
 *
 *     020100000001 020000000009 0800
 *     45 B8 0020 0000 4000 40 11 .... C6336401 0A000001  C350 138C 000C ....
 *            IPv4, TOS 0xB8, UDP from 198.51.100.1 port 50000 to 10.0.0.1 port 5004
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"

#define ETHERNET_HEADER 14
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_SERVICE_VLAN 0x88a8

#define IPV4_HEADER 20 /* without options */
#define IPV4_CHECKSUM 10
#define IPV6_HEADER 40
#define IPV6_EXTENSIONS_MAX 16 /* extension headers of a packet */
#define IPV6_EXTENSION_KINDS 10

#define IP_PROTOCOL_ICMP 1
#define IP_PROTOCOL_TCP 6
#define IP_PROTOCOL_UDP 17
#define IP_PROTOCOL_ICMPV6 58
#define IP_PROTOCOL_L2TP 115

/* Bytes of an address of the family: 4 or 6. */
static inline size_t ip_address_size(uint8_t family) {
	return family == 4 ? 4 : 16;
}

enum frame_kind {
	FRAME_IPV4,
	FRAME_IPV6,
	FRAME_ARP,
	FRAME_OTHER,
};

enum frame_verdict {
	FRAME_GOOD,
	FRAME_RUNT, /* no whole Ethernet header */
	FRAME_VLAN, /* tagged, 802.1Q or 802.1ad */
	FRAME_IPV4_HEADER, /* wrong version or IHL, or the header is truncated */
	FRAME_IPV4_LENGTH, /* total length is less than the header or exceeds the frame */
	FRAME_IPV6_HEADER, /* wrong version, or a truncated header or extension header */
	FRAME_IPV6_LENGTH, /* payload length exceeds the frame */
	FRAME_IPV6_EXTENSIONS, /* more than IPV6_EXTENSIONS_MAX extension headers */
	FRAME_ARP_MALFORMED, /* truncated, or not IPv4 over Ethernet */
};

struct frame_fields {
	enum frame_kind kind;
	uint16_t ethertype; /* below 0x0600: the length of an 802.3 frame, kind FRAME_OTHER */
	uint8_t tos; /* IPv4 TOS or IPv6 traffic class */
	uint8_t protocol; /* of the upper layer; 0 in ARP and others */
	uint16_t extensions; /* bit i: the packet has an extension header ipv6_extension(i) */
	bool fragment; /* any fragment, including the first */
	bool has_ports; /* TCP or UDP, except in a later fragment */
	uint8_t family; /* of the addresses: 4 (also for ARP) or 6; otherwise 0 */
	const uint8_t *source; /* into the frame; in ARP the sender's; otherwise NULL */
	const uint8_t *destination; /* in ARP the target's */
	const uint8_t *upper; /* behind the IP headers; NULL in ARP and others */
	size_t upper_size; /* by the IP length: without Ethernet padding */
	uint16_t source_port; /* 0 unless has_ports */
	uint16_t destination_port;
};

/*
 * Parses a frame without its CRC. Bytes behind the IP packet (padding) are allowed.
 *
 * It skips IPv6 extension headers (RFC 8200, 4; all of RFC 7045, 4, except ESP, which hides the
 * next header); `protocol` is the header behind them. A later fragment has no headers behind its
 * fragment header, whose next header becomes `protocol`. In a first fragment the chain must reach
 * the ports of TCP or UDP (RFC 7112). A truncated experimental header (253, 254) counts as an
 * upper-layer protocol. A whole IPv6 packet with a fragment header is no fragment (RFC 6946).
 *
 * With other verdicts than FRAME_GOOD only `ethertype` is valid, and with FRAME_RUNT nothing. The
 * IPv4 checksum is not verified.
 */
enum frame_verdict frame_parse(const uint8_t *frame, size_t length, struct frame_fields *out);

/* The number of an extension header by its bit in `extensions`, 0..IPV6_EXTENSION_KINDS - 1. */
uint8_t ipv6_extension(unsigned bit);

/* The checksum of an IPv4 header (RFC 791, RFC 1071), in host order; the checksum field is
 * ignored. `header_length` is 20..60, a multiple of 4. */
uint16_t ipv4_checksum(const uint8_t *header, size_t header_length);

/* Replaces the 16 bits at the even offset `at` of an IPv4 header and updates its checksum (RFC 1624,
 * equation 3), so that a wrong checksum stays wrong. */
static inline void ipv4_replace(uint8_t *header, size_t at, uint16_t word) {
	uint32_t sum = (uint16_t)~load_be16(header + IPV4_CHECKSUM) +
		       (uint32_t)(uint16_t)~load_be16(header + at) + word;

	sum = (sum & 0xffff) + (sum >> 16);
	store_be16(header + at, word);
	store_be16(header + IPV4_CHECKSUM, (uint16_t)~(sum + (sum >> 16)));
}

/* Whether the checksum is right. The caller has checked that IHL is 5..15 and that the header is
 * complete. */
bool ipv4_checksum_good(const uint8_t *ip_header);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognizes frames of a link's own protocols, which switches and kernels send on any link. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#define LINK_FRAME_HEADERS (ETHERNET_HEADER + IPV6_HEADER + 1)
#define LINK_FRAME_LENGTHS \
	0x0600 /* lower types are lengths of LLC frames, such as of spanning tree */

/* Whether IPv6 is neighbour discovery (RFC 4861) or a report of multicast listeners (RFC 3810): ICMPv6 from a
 * link-local or the unspecified address. */
static inline bool link_frame_is_icmpv6(const uint8_t *ip, size_t size) {
	static const uint8_t unspecified[16];
	const uint8_t *source = ip + 8;

	if (size < IPV6_HEADER + 1 || (memcmp(source, unspecified, sizeof(unspecified)) != 0 &&
				       (source[0] != 0xfe || (source[1] & 0xc0) != 0x80)))
		return false;
	return ip[6] == IP_PROTOCOL_ICMPV6 ||
	       (ip[6] == IPPROTO_HOPOPTS && ip[IPV6_HEADER] == IP_PROTOCOL_ICMPV6);
}

/* Whether a frame without VLAN tag, of at least its first LINK_FRAME_HEADERS bytes, is multicast or broadcast of
 * ARP, LLDP, LACP, spanning tree, IGMP, IPv6 neighbour discovery or multicast listeners. */
static inline bool link_frame_is(const uint8_t *frame, size_t size) {
	uint16_t type;

	if (size < ETHERNET_HEADER || (frame[0] & 1) == 0)
		return false;
	type = load_be16(frame + ETHERNET_HEADER - 2);
	switch (type) {
	case ETHERTYPE_ARP:
	case RTE_ETHER_TYPE_LLDP:
	case RTE_ETHER_TYPE_SLOW: return true; /* slow: LACP */
	case ETHERTYPE_IPV4:
		return size >= ETHERNET_HEADER + IPV4_HEADER &&
		       frame[ETHERNET_HEADER + 9] == IPPROTO_IGMP;
	case ETHERTYPE_IPV6:
		return link_frame_is_icmpv6(frame + ETHERNET_HEADER, size - ETHERNET_HEADER);
	default: return type < LINK_FRAME_LENGTHS;
	}
}

static inline bool link_frame_is_mbuf(const struct rte_mbuf *m) {
	uint32_t size = RTE_MIN(rte_pktmbuf_pkt_len(m), (uint32_t)LINK_FRAME_HEADERS);
	uint8_t copy[LINK_FRAME_HEADERS];

	return link_frame_is(rte_pktmbuf_read(m, 0, size, copy), size);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/l2tpv3.h"

#include <stdbool.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/ip.h"
#include "wire/vlan.h"

#define IPV4_DONT_FRAGMENT 0x4000
#define IPV4_LENGTH 2
#define IPV6_LENGTH (ETHERNET_HEADER + 4)

#define UDP_HEADER 8
#define L2TP_UDP_HEADER 8 /* flags and version, reserved, session ID */
#define L2TP_T 0x8000
#define L2TP_VERSION_BITS 0x000f

static size_t ip_header_size(uint8_t family) {
	return family == 6 ? IPV6_HEADER : IPV4_HEADER;
}

size_t depi_encap_size(const struct depi_encap *e) {
	size_t tag = e->vlan != 0 ? VLAN_TAG_SIZE : 0;

	return ETHERNET_HEADER + tag + ip_header_size(e->family) + L2TP_SESSION_SIZE;
}

static void write_ipv4(const struct depi_encap *e, uint16_t total_length, uint8_t *ip) {
	ip[0] = 0x45;
	ip[1] = (uint8_t)(e->dscp << 2);
	store_be16(ip + 2, total_length);
	store_be16(ip + 4, 0);
	store_be16(ip + 6, IPV4_DONT_FRAGMENT);
	ip[8] = e->ttl;
	ip[9] = IP_PROTOCOL_L2TP;
	memcpy(ip + 12, e->source_ip, 4);
	memcpy(ip + 16, e->destination_ip, 4);
	store_be16(ip + 10, ipv4_checksum(ip, IPV4_HEADER));
}

static void write_ipv6(const struct depi_encap *e, uint16_t payload_length, uint8_t *ip) {
	uint32_t traffic_class = (uint8_t)(e->dscp << 2);

	store_be32(ip, 6u << 28 | traffic_class << 20);
	store_be16(ip + 4, payload_length);
	ip[6] = IP_PROTOCOL_L2TP;
	ip[7] = e->ttl;
	memcpy(ip + 8, e->source_ip, 16);
	memcpy(ip + 24, e->destination_ip, 16);
}

/* The length of IPv4 includes its own header, that of IPv6 does not. */
static size_t ip_length(uint8_t family, size_t l2tp_payload) {
	size_t size = L2TP_SESSION_SIZE + l2tp_payload;

	return family == 6 ? size : IPV4_HEADER + size;
}

size_t depi_encap_write(const struct depi_encap *e, size_t l2tp_payload, uint8_t *out) {
	size_t size = depi_encap_size(e);
	uint8_t *type = out + VLAN_ADDRESSES;

	if (l2tp_payload > UINT16_MAX - ip_length(e->family, 0))
		return 0;

	uint16_t length = (uint16_t)ip_length(e->family, l2tp_payload);

	memcpy(out, e->destination_mac, 6);
	memcpy(out + 6, e->source_mac, 6);
	if (e->vlan != 0)
		type += vlan_tag_write(type, e->vlan);
	if (e->family == 6) {
		store_be16(type, ETHERTYPE_IPV6);
		write_ipv6(e, length, type + 2);
	} else {
		store_be16(type, ETHERTYPE_IPV4);
		write_ipv4(e, length, type + 2);
	}
	store_be32(out + size - L2TP_SESSION_SIZE, e->session);
	return size;
}

void depi_encap_patch(uint8_t *headers, uint8_t family, size_t l2tp_payload) {
	uint16_t length = (uint16_t)ip_length(family, l2tp_payload);

	if (family == 6) {
		store_be16(headers + IPV6_LENGTH, length);
		return;
	}
	ipv4_replace(headers + ETHERNET_HEADER, IPV4_LENGTH, length);
}

static enum l2tp_verdict frame_to_l2tp_verdict(enum frame_verdict verdict) {
	switch (verdict) {
	case FRAME_GOOD: return L2TP_OK;
	case FRAME_RUNT: return L2TP_RUNT;
	case FRAME_IPV4_HEADER:
	case FRAME_IPV6_HEADER:
	case FRAME_IPV6_EXTENSIONS: return L2TP_IP_HEADER;
	case FRAME_IPV4_LENGTH:
	case FRAME_IPV6_LENGTH: return L2TP_IP_LENGTH;
	case FRAME_VLAN:
	case FRAME_ARP_MALFORMED: break;
	}
	return L2TP_NOT_IP;
}

/* RFC 3931, 4.1.1: a session ID, or 0 before a control message. */
static enum l2tp_verdict parse_over_ip(const struct frame_fields *ip, struct l2tp_data *out) {
	if (ip->upper_size < L2TP_SESSION_SIZE)
		return L2TP_TRUNCATED;
	out->session = load_be32(ip->upper);
	out->payload = ip->upper + L2TP_SESSION_SIZE;
	out->payload_size = ip->upper_size - L2TP_SESSION_SIZE;
	return out->session == 0 ? L2TP_CONTROL : L2TP_OK;
}

/* RFC 3931, 4.1.2: the T bit distinguishes control from data. One side may choose its port. */
static enum l2tp_verdict parse_over_udp(const struct frame_fields *ip, struct l2tp_data *out) {
	if (ip->upper_size < UDP_HEADER)
		return L2TP_TRUNCATED;
	if (ip->source_port != L2TP_PORT && ip->destination_port != L2TP_PORT)
		return L2TP_NOT_L2TP;

	size_t udp_length = load_be16(ip->upper + 4);

	if (udp_length < UDP_HEADER || udp_length > ip->upper_size)
		return L2TP_IP_LENGTH;
	if (udp_length < UDP_HEADER + L2TP_UDP_HEADER)
		return L2TP_TRUNCATED;

	const uint8_t *l2tp = ip->upper + UDP_HEADER;
	uint16_t flags = load_be16(l2tp);

	if ((flags & L2TP_VERSION_BITS) != 3)
		return L2TP_VERSION;
	if (flags & L2TP_T) {
		out->session = 0;
		out->payload = l2tp;
		out->payload_size = udp_length - UDP_HEADER;
		return L2TP_CONTROL;
	}
	out->session = load_be32(l2tp + 4);
	out->payload = l2tp + L2TP_UDP_HEADER;
	out->payload_size = udp_length - UDP_HEADER - L2TP_UDP_HEADER;
	return L2TP_OK;
}

static bool has_vlan_tag(const uint8_t *frame, size_t length) {
	return length >= ETHERNET_HEADER && load_be16(frame + 12) == ETHERTYPE_VLAN;
}

enum l2tp_verdict l2tp_parse(const uint8_t *frame, size_t length, struct l2tp_data *out) {
	struct frame_fields ip;

	/* Type and body are parsed as in an untagged frame, behind the tag. */
	if (has_vlan_tag(frame, length)) {
		frame += VLAN_TAG_SIZE;
		length -= VLAN_TAG_SIZE;
	}

	enum l2tp_verdict verdict = frame_to_l2tp_verdict(frame_parse(frame, length, &ip));

	if (verdict != L2TP_OK)
		return verdict;
	if (ip.kind != FRAME_IPV4 && ip.kind != FRAME_IPV6)
		return L2TP_NOT_IP;
	if (ip.kind == FRAME_IPV4 && !ipv4_checksum_good(frame + ETHERNET_HEADER))
		return L2TP_IP_CHECKSUM;
	if (ip.fragment)
		return L2TP_FRAGMENT;
	out->family = ip.family;
	out->source_ip = ip.source;
	out->destination_ip = ip.destination;
	if (ip.protocol == IP_PROTOCOL_L2TP)
		return parse_over_ip(&ip, out);
	if (ip.protocol == IP_PROTOCOL_UDP)
		return parse_over_udp(&ip, out);
	return L2TP_NOT_L2TP;
}

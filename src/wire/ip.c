/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/ip.h"

#include "wire/bytes.h"

#define IPV4_MORE_FRAGMENTS 0x2000
#define IPV4_FRAGMENT_OFFSET 0x1fff

#define IPV6_FRAGMENT 44
#define IPV6_AUTHENTICATION 51
#define IPV6_EXPERIMENT_1 253
#define IPV6_EXPERIMENT_2 254
#define IPV6_EXTENSION_UNIT 8
#define AUTHENTICATION_UNIT 4
#define IPV6_FRAGMENT_OFFSET 0xfff8
#define IPV6_MORE_FRAGMENTS 0x0001

#define ARP_SIZE 28
#define ARP_IPV4_OVER_ETHERNET 0x0001080006040000 /* with a mask over the operation */

/* Adds 16-bit words in pairs; the upper half counts the carries. */
static uint64_t ipv4_sum(const uint8_t *header, size_t header_length) {
	uint64_t sum = 0;

	for (size_t i = 0; i < header_length; i += 4)
		sum += load_be32(header + i);
	return sum;
}

/* A header has at most 15 pairs, so three folds suffice. */
static uint16_t ip_fold(uint64_t sum) {
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

uint16_t ipv4_checksum(const uint8_t *header, size_t header_length) {
	uint64_t sum = ipv4_sum(header, header_length) - load_be16(header + IPV4_CHECKSUM);

	return (uint16_t)~ip_fold(sum);
}

bool ipv4_checksum_good(const uint8_t *ip_header) {
	return ip_fold(ipv4_sum(ip_header, 4 * (size_t)(ip_header[0] & 0x0f))) == 0xffff;
}

static bool is_with_ports(uint8_t protocol) {
	return protocol == IP_PROTOCOL_TCP || protocol == IP_PROTOCOL_UDP;
}

static void read_ports(struct frame_fields *out) {
	if (!is_with_ports(out->protocol) || out->upper_size < 4)
		return;
	out->has_ports = true;
	out->source_port = load_be16(out->upper);
	out->destination_port = load_be16(out->upper + 2);
}

static enum frame_verdict parse_ipv4(const uint8_t *ip, size_t size, struct frame_fields *out) {
	if (size < IPV4_HEADER || ip[0] >> 4 != 4)
		return FRAME_IPV4_HEADER;

	size_t header_length = 4 * (size_t)(ip[0] & 0x0f);
	size_t total_length = load_be16(ip + 2);
	uint16_t fragment = load_be16(ip + 6);

	if (header_length < IPV4_HEADER || header_length > size)
		return FRAME_IPV4_HEADER;
	if (total_length < header_length || total_length > size)
		return FRAME_IPV4_LENGTH;
	out->kind = FRAME_IPV4;
	out->tos = ip[1];
	out->protocol = ip[9];
	out->fragment = (fragment & (IPV4_MORE_FRAGMENTS | IPV4_FRAGMENT_OFFSET)) != 0;
	out->family = 4;
	out->source = ip + 12;
	out->destination = ip + 16;
	out->upper = ip + header_length;
	out->upper_size = total_length - header_length;
	if ((fragment & IPV4_FRAGMENT_OFFSET) == 0)
		read_ports(out);
	return FRAME_GOOD;
}

/* RFC 7045, 4: hop-by-hop options, routing, fragment, authentication, destination options,
 * mobility, HIP, Shim6, and two for experiments. */
static const uint8_t extensions[IPV6_EXTENSION_KINDS] = {
	0,   43,  IPV6_FRAGMENT, IPV6_AUTHENTICATION, 60,
	135, 139, 140,		 IPV6_EXPERIMENT_1,   IPV6_EXPERIMENT_2,
};

uint8_t ipv6_extension(unsigned bit) {
	return extensions[bit];
}

/* The bit of the header in `extensions`; 0: not an extension header. */
static uint16_t ipv6_extension_bit(uint8_t next) {
	for (unsigned i = 0; i < IPV6_EXTENSION_KINDS; i++) {
		if (extensions[i] == next)
			return (uint16_t)(1u << i);
	}
	return 0;
}

/* Bytes of the extension header at out->upper; 0 if it is truncated. */
static size_t ipv6_extension_size(const struct frame_fields *out) {
	size_t size = IPV6_EXTENSION_UNIT;

	if (out->upper_size < IPV6_EXTENSION_UNIT)
		return 0;
	if (out->protocol == IPV6_AUTHENTICATION) /* RFC 4302, 2.2 */
		size += out->upper[1] * (size_t)AUTHENTICATION_UNIT;
	else if (out->protocol != IPV6_FRAGMENT)
		size += out->upper[1] * (size_t)IPV6_EXTENSION_UNIT;
	return out->upper_size < size ? 0 : size;
}

static bool is_experiment(uint8_t next) {
	return next == IPV6_EXPERIMENT_1 || next == IPV6_EXPERIMENT_2;
}

/* Skips the extension header at out->upper. Returns whether the chain ends here. */
static bool ipv6_extension_skip(struct frame_fields *out, size_t size) {
	const uint8_t *header = out->upper;
	uint16_t bits = out->protocol == IPV6_FRAGMENT ? load_be16(header + 2) : 0;

	out->protocol = header[0];
	out->upper += size;
	out->upper_size -= size;
	out->fragment |= (bits & (IPV6_FRAGMENT_OFFSET | IPV6_MORE_FRAGMENTS)) != 0;
	return (bits & IPV6_FRAGMENT_OFFSET) != 0;
}

/* Skips extension headers from out->upper, the end of the fixed header, to the upper-layer
 * header. */
static enum frame_verdict read_ipv6_chain(struct frame_fields *out) {
	uint16_t bit;

	for (unsigned n = 0; (bit = ipv6_extension_bit(out->protocol)) != 0; n++) {
		size_t size = ipv6_extension_size(out);

		if (size == 0 && is_experiment(out->protocol))
			break;
		if (size == 0)
			return FRAME_IPV6_HEADER;
		if (n == IPV6_EXTENSIONS_MAX)
			return FRAME_IPV6_EXTENSIONS;
		out->extensions |= bit;
		if (ipv6_extension_skip(out, size))
			return FRAME_GOOD;
	}
	read_ports(out);
	if (out->fragment && is_with_ports(out->protocol) && !out->has_ports)
		return FRAME_IPV6_HEADER;
	return FRAME_GOOD;
}

static enum frame_verdict parse_ipv6(const uint8_t *ip, size_t size, struct frame_fields *out) {
	if (size < IPV6_HEADER || ip[0] >> 4 != 6)
		return FRAME_IPV6_HEADER;

	size_t payload_length = load_be16(ip + 4);

	if (payload_length > size - IPV6_HEADER)
		return FRAME_IPV6_LENGTH;
	out->kind = FRAME_IPV6;
	out->tos = (uint8_t)(load_be16(ip) >> 4);
	out->protocol = ip[6];
	out->family = 6;
	out->source = ip + 8;
	out->destination = ip + 24;
	out->upper = ip + IPV6_HEADER;
	out->upper_size = payload_length;
	return read_ipv6_chain(out);
}

static enum frame_verdict parse_arp(const uint8_t *arp, size_t size, struct frame_fields *out) {
	if (size < ARP_SIZE || (load_be64(arp) & ~(uint64_t)0xffff) != ARP_IPV4_OVER_ETHERNET)
		return FRAME_ARP_MALFORMED;
	out->kind = FRAME_ARP;
	out->family = 4;
	out->source = arp + 14;
	out->destination = arp + 24;
	return FRAME_GOOD;
}

enum frame_verdict frame_parse(const uint8_t *frame, size_t length, struct frame_fields *out) {
	*out = (struct frame_fields){.kind = FRAME_OTHER};
	if (length < ETHERNET_HEADER)
		return FRAME_RUNT;

	const uint8_t *body = frame + ETHERNET_HEADER;
	size_t size = length - ETHERNET_HEADER;

	out->ethertype = load_be16(frame + 12);
	switch (out->ethertype) {
	case ETHERTYPE_IPV4: return parse_ipv4(body, size, out);
	case ETHERTYPE_IPV6: return parse_ipv6(body, size, out);
	case ETHERTYPE_ARP: return parse_arp(body, size, out);
	case ETHERTYPE_VLAN:
	case ETHERTYPE_SERVICE_VLAN: return FRAME_VLAN;
	}
	return FRAME_GOOD;
}

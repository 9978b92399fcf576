/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reference model of rule matching: compares a packet with a struct match, criterion by criterion, as
 * model/group/match.h specifies. A missing criterion matches everything. Also generates random rules and packets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "downstream/rules/rules.h"
#include "wire/ip.h"

#include "random.h"

/* The fields of a packet that rules compare, and the rule set that applies to it. */
struct packet {
	enum rule_family family;
	uint32_t set;
	uint8_t source[16], destination[16];
	uint8_t protocol, tos;
	uint16_t extensions; /* as in struct frame_fields; IPv6 only */
	bool has_ports;
	uint16_t source_port, destination_port, ethertype;
};

static inline bool prefix_matches(const struct ip_prefix *p, const uint8_t *address) {
	for (unsigned bit = 0; bit < p->length; bit++) {
		unsigned mask = 0x80u >> bit % 8;

		if ((p->address.bytes[bit / 8] & mask) != (address[bit / 8] & mask))
			return false;
	}
	return true;
}

static inline bool port_in_range(const struct port_range *r, uint16_t port) {
	return port >= r->low && port <= r->high;
}

static inline bool is_any_port(const struct port_range *r) {
	return r->low == 0 && r->high == UINT16_MAX;
}

/* A rule with a port criterion matches only packets with ports. */
static inline bool ports_match(const struct match *m, const struct packet *p) {
	if (is_any_port(&m->source_ports) && is_any_port(&m->destination_ports))
		return true;
	return p->has_ports && port_in_range(&m->source_ports, p->source_port) &&
	       port_in_range(&m->destination_ports, p->destination_port);
}

/* In IPv6 the protocol of a rule may also be the type of an extension header. */
static inline bool protocol_matches(const struct match *m, const struct packet *p) {
	static const uint8_t types[IPV6_EXTENSION_KINDS] = {0,	 43,  44,  51,	60,
							    135, 139, 140, 253, 254};

	for (unsigned i = 0; i < IPV6_EXTENSION_KINDS; i++) {
		if ((p->extensions >> i & 1) && types[i] == m->protocol)
			return true;
	}
	return m->protocol == p->protocol;
}

static inline bool matches(const struct match *m, const struct packet *p) {
	if (m->family != p->family)
		return false;
	if (m->family == RULE_LLC)
		return !m->has_ethertype || m->ethertype == p->ethertype;
	if (m->has_protocol && !protocol_matches(m, p))
		return false;
	return (p->tos & m->tos_mask) == (m->tos & m->tos_mask) &&
	       prefix_matches(&m->source, p->source) &&
	       prefix_matches(&m->destination, p->destination) && ports_match(m, p);
}

/* Sets the key that classification of a burst would make for the packet. */
static inline void packet_rule_key(const struct packet *p, struct rule_key *key) {
	struct flow_key *flow = &key->flow;

	memset(key, 0xee, sizeof(*key)); /* unset bytes must not matter: a burst reuses keys */
	flow->family = (uint8_t)p->family;
	flow->flags = p->has_ports ? 0 : FLOW_NO_PORTS;
	if (p->family == RULE_LLC || p->extensions != 0)
		flow->flags |= FLOW_ALONE;
	flow->protocol = p->protocol;
	flow->tos = p->tos;
	flow->source_port = rte_cpu_to_be_16(p->source_port);
	flow->destination_port = rte_cpu_to_be_16(p->destination_port);
	if (p->family == RULE_LLC) {
		flow->llc.ethertype = rte_cpu_to_be_32(p->ethertype);
	} else if (p->family == RULE_IPV4) {
		memcpy(flow->ipv4.source, p->source, 4);
		memcpy(flow->ipv4.destination, p->destination, 4);
	} else {
		memcpy(flow->ipv6.source, p->source, 16);
		memcpy(flow->ipv6.destination, p->destination, 16);
	}
	rule_key_set(key, p->set);
}

/* Few distinct values with small changes, so that random rules match random packets. */
static inline void random_address(struct random *r, uint8_t *out) {
	static const uint8_t bases[3][16] = {
		{10, 0, 0, 1, 0xff, 0, 7},
		{0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1},
		{0},
	};

	memcpy(out, bases[random_below(r, 3)], 16);
	for (uint32_t n = random_below(r, 3); n > 0; n--)
		out[random_below(r, random_below(r, 2) ? 4 : 16)] ^=
			(uint8_t)(1u << random_below(r, 8));
}

static inline uint16_t random_port(struct random *r) {
	static const uint16_t common[] = {0, 1, 53, 80, 443, 0xff, 0x100, 0x1ff, 0xfffe, 0xffff};

	return random_below(r, 2) ? common[random_below(r, RTE_DIM(common))]
				  : (uint16_t)random_next(r);
}

static inline struct port_range random_range(struct random *r) {
	uint16_t a = random_port(r), b = random_port(r);

	switch (random_below(r, 4)) {
	case 0: return (struct port_range){a, a};
	case 1: return (struct port_range){RTE_MIN(a, b), RTE_MAX(a, b)};
	default: return (struct port_range){0, UINT16_MAX};
	}
}

static inline struct ip_prefix random_prefix(struct random *r, uint8_t family) {
	uint8_t bits = family == 4 ? 32 : 128;
	struct ip_prefix p = {.address.family = family};

	random_address(r, p.address.bytes);
	p.length = (uint8_t)(random_below(r, 3) ? random_between(r, 0, bits)
						: bits * random_below(r, 2));
	return p;
}

/* Host bits of prefixes and TOS bits outside the mask are random: they must not matter. */
static inline struct match random_match(struct random *r, enum rule_family family) {
	static const uint8_t masks[] = {0, 0, 0, 0xff, 0xfc, 0x01, 0x5a};
	struct match m = {.family = family};

	if (family == RULE_LLC) {
		m.has_ethertype = random_below(r, 8) > 0;
		m.ethertype = (uint16_t)(0x88b0 + random_below(r, 16));
		return m;
	}
	m.source = random_prefix(r, family == RULE_IPV4 ? 4 : 6);
	m.destination = random_prefix(r, family == RULE_IPV4 ? 4 : 6);
	m.has_protocol = random_below(r, 2);
	m.protocol = (uint8_t)(random_below(r, 2) ? 17 : random_below(r, 256));
	if (family == RULE_IPV6 && random_below(r, 4) == 0)
		m.protocol = ipv6_extension(random_below(r, IPV6_EXTENSION_KINDS));
	m.tos_mask = masks[random_below(r, RTE_DIM(masks))];
	m.tos = (uint8_t)random_next(r);
	m.source_ports = random_range(r);
	m.destination_ports = random_range(r);
	return m;
}

static inline struct packet random_packet(struct random *r, enum rule_family family, uint32_t set) {
	struct packet p = {.family = family, .set = set};

	p.tos = (uint8_t)(random_below(r, 2) ? random_next(r) : 0xb8);
	p.ethertype = (uint16_t)(0x88b0 + random_below(r, 16));
	if (family == RULE_LLC)
		return p;
	random_address(r, p.source);
	random_address(r, p.destination);
	p.protocol = (uint8_t)(random_below(r, 4) ? 17 : random_below(r, 256));
	p.has_ports = random_below(r, 4) > 0;
	if (p.has_ports) {
		p.source_port = random_port(r);
		p.destination_port = random_port(r);
	}
	if (family == RULE_IPV6 && random_below(r, 4) == 0)
		p.extensions = (uint16_t)random_below(r, 1 << IPV6_EXTENSION_KINDS);
	return p;
}

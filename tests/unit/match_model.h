/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slow evaluator of rule lists, read from struct match as its header describes it: what is not
 * given matches everything, the first rule of the list that matches wins.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "downstream/rules.h"

/* A packet, and the list that it is matched against. */
struct packet {
	enum rule_family family;
	uint32_t set;
	uint8_t source[16], destination[16];
	uint8_t protocol, tos;
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

static inline bool in_range(const struct port_range *r, uint16_t port) {
	return port >= r->low && port <= r->high;
}

static inline bool matches(const struct match *m, const struct packet *p) {
	if (m->family != p->family)
		return false;
	if (m->family == RULE_LLC)
		return !m->has_ethertype || m->ethertype == p->ethertype;
	if (m->has_protocol && m->protocol != p->protocol)
		return false;
	return (p->tos & m->tos_mask) == (m->tos & m->tos_mask) &&
	       prefix_matches(&m->source, p->source) &&
	       prefix_matches(&m->destination, p->destination) &&
	       in_range(&m->source_ports, p->source_port) &&
	       in_range(&m->destination_ports, p->destination_port);
}

static inline uint32_t evaluate(const struct rule *rules, size_t count, const struct packet *p) {
	for (size_t i = 0; i < count; i++) {
		if (rules[i].set == p->set && matches(rules[i].match, p))
			return rules[i].result;
	}
	return 0;
}

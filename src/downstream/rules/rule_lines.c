/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/rules/rule_lines.h"

#include <assert.h>
#include <string.h>

#include "wire/ip.h"

/* The fields of a match, without padding. */
#define PART(name) {offsetof(struct match, name), sizeof(((struct match *)NULL)->name)}
static const struct {
	size_t at, size;
} parts[] = {
	PART(family),	     PART(source),	 PART(destination),
	PART(has_protocol),  PART(protocol),	 PART(tos),
	PART(tos_mask),	     PART(source_ports), PART(destination_ports),
	PART(has_ethertype), PART(ethertype),
};
static_assert(sizeof(struct match) == 56, "a new part of a match is to be compared too");

static bool match_same(const struct match *a, const struct match *b) {
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
		if (memcmp((const char *)a + parts[p].at, (const char *)b + parts[p].at,
			   parts[p].size) != 0)
			return false;
	}
	return true;
}

bool rule_lines_same(const struct rule_line *a, const struct rule_line *b, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (a[i].result != b[i].result || !match_same(&a[i].match, &b[i].match))
			return false;
	}
	return true;
}

/* FNV-1a with 64 bits. The caller folds the upper half into the lower one. */
static uint64_t hash_mix(uint64_t hash, const void *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return hash;
}

uint64_t rule_lines_hash(const struct rule_line *lines, size_t count) {
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < count; i++) {
		for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
			hash = hash_mix(hash, (const char *)&lines[i].match + parts[p].at,
					parts[p].size);
		hash = hash_mix(hash, &lines[i].result, sizeof(lines[i].result));
	}
	return hash ^ hash >> 32;
}

/* Clears the bits beyond the prefix length, and the family of a prefix that matches everything. */
static void prefix_tidy(struct ip_prefix *p) {
	for (unsigned i = 0; i < sizeof(p->address.bytes); i++) {
		unsigned bits = p->length > 8 * i ? p->length - 8 * i : 0;

		if (bits < 8)
			p->address.bytes[i] &= (uint8_t)(0xff00 >> bits);
	}
	if (p->length == 0)
		p->address.family = 0;
}

/* Clears fields that rules.c ignores, so that equal matches have equal bytes. */
static void match_tidy(struct match *m) {
	const struct ip_prefix everything = {0};
	const struct port_range ports = {0};

	if (!m->has_protocol)
		m->protocol = 0;
	m->tos &= m->tos_mask;
	if (m->family != RULE_LLC)
		m->has_ethertype = false;
	else
		m->source_ports = m->destination_ports = ports;
	if (!m->has_ethertype)
		m->ethertype = 0;
	if (m->family == RULE_LLC)
		m->source = m->destination = everything;
	prefix_tidy(&m->source);
	prefix_tidy(&m->destination);
}

static bool prefix_contains(const struct ip_prefix *p, const struct ip_address *address) {
	uint8_t whole = p->length / 8;
	unsigned difference;

	if (memcmp(p->address.bytes, address->bytes, whole) != 0)
		return false;
	if (p->length % 8 == 0)
		return true;
	difference = p->address.bytes[whole] ^ address->bytes[whole];
	return difference >> (8 - p->length % 8) == 0;
}

/* Narrows the match to packets of this modem. Their destination is always one of the modem's
 * addresses, as IP packets are looked up by it. Returns false if no packet can match. */
static bool match_narrow(struct match *m, const struct modem *modem) {
	uint8_t family = m->family == RULE_IPV4 ? 4 : 6;
	size_t inside = 0, all = 0;

	if (m->family == RULE_LLC)
		return true;
	for (size_t a = 0; a < modem->address_count; a++) {
		const struct ip_address *address = &modem->addresses[a];

		all += address->family == family;
		inside += address->family == family && prefix_contains(&m->destination, address);
	}
	if (inside == all)
		m->destination = (struct ip_prefix){0};
	return inside > 0;
}

/* Turns a match of an IP EtherType into one of all packets of the IP family, as IP frames have
 * no LLC rules. */
static void match_by_family(struct match *m) {
	bool ipv4 = m->ethertype == ETHERTYPE_IPV4;

	if (m->family != RULE_LLC || !m->has_ethertype || (!ipv4 && m->ethertype != ETHERTYPE_IPV6))
		return;
	*m = (struct match){
		.family = ipv4 ? RULE_IPV4 : RULE_IPV6,
		.source_ports = {0, UINT16_MAX},
		.destination_ports = {0, UINT16_MAX},
	};
}

static void line_add(struct rule_line *lines, size_t *count, const struct match *match,
		     uint32_t result) {
	struct rule_line *line = &lines[(*count)++];

	*line = (struct rule_line){*match, result};
	match_by_family(&line->match);
	match_tidy(&line->match);
}

size_t rule_lines_classifiers(const struct modem *m, struct rule_line *lines) {
	size_t count = 0;

	for (size_t i = 0; i < m->classifier_count; i++) {
		struct match match = m->classifiers[i].match;

		if (match_narrow(&match, m))
			line_add(lines, &count, &match, 1 + m->classifiers[i].flow);
	}
	return count;
}

size_t rule_lines_filters(const struct filter_group *g, struct rule_line *lines) {
	size_t count = 0;

	for (size_t i = 0; i < g->rule_count; i++)
		line_add(lines, &count, &g->rules[i].match, 1 + g->rules[i].action);
	return count;
}

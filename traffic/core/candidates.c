/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds packets from the rules' criteria and searches among them. */
#include "core/candidates.h"

#include <string.h>

#include "wire/ip.h"

#define TRIES_PER_RULE 64
#define TRIES_UNMATCHED 512
#define TRIES_PLAIN 8 /* the first tries randomize only the low host bits and the TOS byte */

#define SOURCE_PORT 50000
#define DESTINATION_PORT 40000

/* Sources of packets that match no rule: the documentation prefixes of RFC 5737 and RFC 3849. */
static const struct ip_prefix stranger4 = {{4, {203, 0, 113}}, 24};
static const struct ip_prefix stranger6 = {{6, {0x20, 0x01, 0x0d, 0xb8, 0xff, 0xff}}, 48};

/* Matches every packet; packets are built from it as from any rule. */
static const struct match anything = {
	.source_ports = {0, UINT16_MAX},
	.destination_ports = {0, UINT16_MAX},
};

/* Whether the next header is an IPv6 extension header (RFC 7045, section 4), not an upper-layer
 * protocol. */
static bool is_extension(unsigned family, uint8_t protocol) {
	for (unsigned i = 0; family == 6 && i < IPV6_EXTENSION_KINDS; i++) {
		if (ipv6_extension(i) == protocol)
			return true;
	}
	return false;
}

struct frame_fields packet_fields(const struct packet_address *p) {
	return (struct frame_fields){
		.kind = p->family == 4 ? FRAME_IPV4 : FRAME_IPV6,
		.ethertype = p->family == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6,
		.tos = p->tos,
		.protocol = p->protocol,
		.family = p->family,
		.source = p->source,
		.destination = p->destination,
		.has_ports = p->protocol == IP_PROTOCOL_TCP || p->protocol == IP_PROTOCOL_UDP,
		.source_port = p->source_port,
		.destination_port = p->destination_port,
	};
}

/* Fills in the host part: small numbers first, then random ones. */
static void host_bits(struct candidate_search *s, unsigned attempt, size_t size, uint8_t *out) {
	memset(out, 0, size);
	out[size - 1] = (uint8_t)(1 + attempt);
	if (attempt < TRIES_PLAIN)
		return;
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)random_next(&s->random);
	/* Keep to unicast: IPv4 below 224 and not 0 or 127, IPv6 in 2000::/3. */
	out[0] = size == 4 ? (uint8_t)(1 + random_below(&s->random, 126))
			   : (uint8_t)(0x20 | (out[0] & 0x1f));
}

static void source_fill(struct candidate_search *s, const struct ip_prefix *prefix,
			unsigned attempt, struct packet_address *p) {
	size_t size = ip_address_size(p->family);

	if (prefix->length == 0 && attempt < TRIES_PER_RULE / 2)
		prefix = p->family == 4 ? &stranger4 : &stranger6;
	host_bits(s, attempt, size, p->source);
	for (unsigned bit = 0; bit < prefix->length; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		p->source[bit / 8] = (uint8_t)((p->source[bit / 8] & ~mask) |
					       (prefix->address.bytes[bit / 8] & mask));
	}
}

static const struct match *random_rule(struct candidate_search *s) {
	const struct modem *m = s->modem;
	uint32_t choice = random_below(&s->random, (uint32_t)m->filter_group_count + 1);
	const struct filter_group *group;

	if (choice == m->filter_group_count)
		return m->classifier_count == 0
			       ? &anything
			       : &m->classifiers[random_below(&s->random,
							      (uint32_t)m->classifier_count)]
					  .match;
	group = &s->sg->filter_groups[m->filter_groups[choice]];
	return group->rule_count == 0
		       ? &anything
		       : &group->rules[random_below(&s->random, (uint32_t)group->rule_count)].match;
}

/* A port of the range: a usual one first, then the ends of the range, then ports beside other
 * rules' ranges. */
static uint16_t port_fill(struct candidate_search *s, const struct port_range *range, bool source,
			  unsigned attempt) {
	uint32_t usual = (source ? SOURCE_PORT : DESTINATION_PORT) + attempt;
	uint32_t port = usual;
	const struct match *other;
	const struct port_range *edge;

	if (attempt % 4 == 1)
		port = range->low;
	if (attempt % 4 == 2)
		port = range->high;
	if (attempt >= TRIES_PLAIN && attempt % 4 == 3) {
		other = random_rule(s);
		edge = source ? &other->source_ports : &other->destination_ports;
		port = attempt % 8 == 3 ? edge->low - 1u : edge->high + 1u;
	}
	if (port >= range->low && port <= range->high)
		return (uint16_t)port;
	return (uint16_t)(range->low + random_below(&s->random, range->high - range->low + 1u));
}

static struct packet_address candidates_make_up(struct candidate_search *s, const struct match *m,
						unsigned attempt) {
	struct packet_address p = {.family = s->address->family};
	bool tcp = attempt % 8 == 7;

	memcpy(p.destination, s->address->bytes, sizeof(p.destination));
	source_fill(s, &m->source, attempt, &p);
	p.protocol = m->has_protocol ? m->protocol : tcp ? IP_PROTOCOL_TCP : IP_PROTOCOL_UDP;
	/* Random TOS bits outside the mask test that the pipeline carries the byte unchanged. Every second
	 * early try has none. */
	p.tos = m->tos & m->tos_mask;
	if (attempt >= TRIES_PLAIN || attempt % 2 == 0)
		p.tos |= (uint8_t)(random_next(&s->random) & ~m->tos_mask);
	if (p.protocol == IP_PROTOCOL_UDP || p.protocol == IP_PROTOCOL_TCP) {
		p.source_port = port_fill(s, &m->source_ports, true, attempt);
		p.destination_port = port_fill(s, &m->destination_ports, false, attempt / 2);
	}
	return p;
}

static bool candidates_is_wanted(const struct evaluation *e, enum traffic_class wanted,
				 uint32_t flow) {
	if ((e->action != FILTER_PERMIT) != (wanted == CLASS_DENIED))
		return false;
	switch (wanted) {
	case CLASS_UNMATCHED: return e->group == NO_RULE && e->classifier == NO_RULE;
	case CLASS_PERMIT: return e->group != NO_RULE;
	case CLASS_CLASSIFIED: return e->classifier != NO_RULE && e->flow == flow;
	case CLASS_DENIED: return true;
	}
	return false;
}

/* Whether the packet matches only a rule of the wanted kind, so that each packet tests one rule. */
static bool is_pure(const struct evaluation *e, enum traffic_class wanted) {
	return wanted == CLASS_DENIED || wanted == CLASS_PERMIT ? e->classifier == NO_RULE
								: e->group == NO_RULE;
}

struct search_result {
	bool found;
	bool pure;
	struct packet_address packet;
	struct evaluation evaluation;
};

static void try_match(struct candidate_search *s, const struct match *m, unsigned tries,
		      enum traffic_class wanted, uint32_t flow, struct search_result *best) {
	unsigned family = m->family == RULE_IPV4 ? 4 : 6;

	if (m != &anything) {
		if (m->family == RULE_LLC || family != s->address->family ||
		    !prefix_contains(&m->destination, family, s->address->bytes) ||
		    (m->has_protocol && is_extension(family, m->protocol)))
			return;
	}
	for (unsigned attempt = 0; attempt < tries; attempt++) {
		struct packet_address p = candidates_make_up(s, m, attempt);
		struct frame_fields fields = packet_fields(&p);
		struct evaluation e = evaluate(s->sg, s->modem, &fields);

		if (!candidates_is_wanted(&e, wanted, flow) ||
		    (best->found && !is_pure(&e, wanted)))
			continue;
		*best = (struct search_result){true, is_pure(&e, wanted), p, e};
		if (best->pure)
			return;
	}
}

/* Starts at a random rule, so that the packets of different modems match different rules. */
static void try_rules(struct candidate_search *s, enum traffic_class wanted,
		      struct search_result *best) {
	enum filter_action action = wanted == CLASS_PERMIT ? FILTER_PERMIT : FILTER_DENY;

	for (size_t g = 0; g < s->modem->filter_group_count; g++) {
		const struct filter_group *group =
			&s->sg->filter_groups[s->modem->filter_groups[g]];
		size_t first = random_below(&s->random, (uint32_t)group->rule_count);

		for (size_t r = 0; r < group->rule_count && !best->pure; r++) {
			const struct filter_rule *rule =
				&group->rules[(first + r) % group->rule_count];

			if (rule->action == action)
				try_match(s, &rule->match, TRIES_PER_RULE, wanted, 0, best);
		}
	}
}

static void try_classifiers(struct candidate_search *s, uint32_t flow, struct search_result *best) {
	size_t count = s->modem->classifier_count;
	size_t first = random_below(&s->random, (uint32_t)count);

	for (size_t c = 0; c < count && !best->pure; c++) {
		const struct classifier *classifier = &s->modem->classifiers[(first + c) % count];

		if (classifier->flow == flow)
			try_match(s, &classifier->match, TRIES_PER_RULE, CLASS_CLASSIFIED, flow,
				  best);
	}
}

bool candidate_find(struct candidate_search *s, enum traffic_class wanted, uint32_t flow,
		    struct packet_address *out, struct evaluation *evaluation) {
	struct search_result best = {0};

	switch (wanted) {
	case CLASS_UNMATCHED: try_match(s, &anything, TRIES_UNMATCHED, wanted, flow, &best); break;
	case CLASS_PERMIT: try_rules(s, wanted, &best); break;
	case CLASS_CLASSIFIED: try_classifiers(s, flow, &best); break;
	case CLASS_DENIED:
		try_rules(s, wanted, &best);
		if (!best.found)
			try_match(s, &anything, TRIES_PER_RULE, wanted, 0, &best);
		break;
	}
	*out = best.packet;
	*evaluation = best.evaluation;
	return best.found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluates filters and classifiers in the order of the configuration. */
#include "core/evaluate.h"

bool prefix_contains(const struct ip_prefix *prefix, unsigned family, const uint8_t *address) {
	if (prefix->length == 0)
		return true;
	if (prefix->address.family != family)
		return false;
	for (unsigned bit = 0; bit < prefix->length; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		if ((prefix->address.bytes[bit / 8] & mask) != (address[bit / 8] & mask))
			return false;
	}
	return true;
}

static bool in_range(const struct port_range *range, uint16_t port) {
	return port >= range->low && port <= range->high;
}

static bool family_meets(const struct match *m, const struct frame_fields *packet) {
	switch (m->family) {
	case RULE_IPV4: return packet->kind == FRAME_IPV4;
	case RULE_IPV6: return packet->kind == FRAME_IPV6;
	case RULE_LLC: return true;
	}
	return false;
}

/* A protocol criterion matches the type of any header, extension headers included. */
static bool protocol_meets(const struct match *m, const struct frame_fields *packet) {
	for (unsigned i = 0; i < IPV6_EXTENSION_KINDS; i++) {
		if ((packet->extensions >> i & 1) != 0 && ipv6_extension(i) == m->protocol)
			return true;
	}
	return m->protocol == packet->protocol;
}

static bool is_all(const struct port_range *range) {
	return range->low == 0 && range->high == UINT16_MAX;
}

/* A packet without ports matches only criteria that allow all ports. */
static bool ports_meet(const struct match *m, const struct frame_fields *packet) {
	if (is_all(&m->source_ports) && is_all(&m->destination_ports))
		return true;
	return packet->has_ports && in_range(&m->source_ports, packet->source_port) &&
	       in_range(&m->destination_ports, packet->destination_port);
}

bool match_meets(const struct match *m, const struct frame_fields *packet) {
	if (!family_meets(m, packet))
		return false;
	if (m->family == RULE_LLC)
		return !m->has_ethertype || m->ethertype == packet->ethertype;
	if (!prefix_contains(&m->source, packet->family, packet->source) ||
	    !prefix_contains(&m->destination, packet->family, packet->destination))
		return false;
	if (m->has_protocol && !protocol_meets(m, packet))
		return false;
	if (((packet->tos ^ m->tos) & m->tos_mask) != 0)
		return false;
	return ports_meet(m, packet);
}

static void filter(const struct service_group *sg, const struct modem *modem,
		   const struct frame_fields *packet, struct evaluation *e) {
	for (size_t g = 0; g < modem->filter_group_count; g++) {
		const struct filter_group *group = &sg->filter_groups[modem->filter_groups[g]];

		for (size_t r = 0; r < group->rule_count; r++) {
			if (!match_meets(&group->rules[r].match, packet))
				continue;
			e->action = group->rules[r].action;
			e->group = modem->filter_groups[g];
			e->rule = r;
			return;
		}
	}
}

struct evaluation evaluate(const struct service_group *sg, const struct modem *modem,
			   const struct frame_fields *packet) {
	struct evaluation e = {
		.action = sg->filter_default,
		.group = NO_RULE,
		.rule = NO_RULE,
		.classifier = NO_RULE,
		.flow = 0,
	};

	filter(sg, modem, packet, &e);
	for (size_t c = 0; c < modem->classifier_count; c++) {
		if (match_meets(&modem->classifiers[c].match, packet)) {
			e.classifier = c;
			e.flow = modem->classifiers[c].flow;
			break;
		}
	}
	return e;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the criteria of a filter rule or classifier against its family and protocol. */
#include "model/check/check.h"

#include <string.h>

#include "wire/vlan.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

/* Reports a criterion that the rule must not have. */
static void refuse_part(struct check *check, const struct node *map, const char *key,
			const struct path *up, const char *text) {
	struct path path = {.up = up, .key = key};
	struct node *part = node_present(map, key);

	if (part != NULL)
		errors_say(check->errors, part->line, &path, "%s", text);
}

static void check_llc(struct check *check, const struct node *map, const struct match *match,
		      const struct path *up) {
	static const char *const parts[] = {
		"source", "destination", "protocol", "tos", "source_ports", "destination_ports",
	};
	const struct check_context at = {check, map, up};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		refuse_part(check, map, parts[i], up, "not allowed in a rule of family llc");
	if (!match->has_ethertype)
		check_require(&at, "ethertype", "an Ethernet type such as 0x86dd");
	else if (vlan_is_tag(match->ethertype))
		check_refuse(&at, "ethertype",
			     "another type than that of a VLAN tag, as tagged frames are dropped "
			     "before the rules");
}

static void check_prefix(struct check *check, const struct node *map, const char *key,
			 struct ip_prefix *prefix, uint8_t family, const struct path *up) {
	struct path path = {.up = up, .key = key};
	struct node *part = node_present(map, key);

	if (part == NULL)
		prefix->address.family = family;
	else if (node_field(map, key) != NULL && prefix->address.family != family)
		check_report(check, part, part->line, &path,
			     family == 4 ? "an IPv4 prefix, as the rule's family says"
					 : "an IPv6 prefix, as the rule's family says");
}

/* Multicast and broadcast are dropped before the rules, so such a rule would never match. */
static void match_check_destination(struct check *check, const struct node *map,
				    const struct ip_prefix *p, const struct path *up) {
	static const uint8_t broadcast[4] = {255, 255, 255, 255};
	const struct check_context at = {check, map, up};
	const uint8_t *bytes = p->address.bytes;
	bool never;

	if (node_field(map, "destination") == NULL)
		return;
	if (p->address.family == 4)
		never = (p->length >= 4 && bytes[0] >> 4 == 14) ||
			(p->length == 32 && memcmp(bytes, broadcast, sizeof(broadcast)) == 0);
	else
		never = p->length >= 8 && bytes[0] == 0xff;
	if (never)
		check_refuse(&at, "destination",
			     "unicast addresses, as multicast and broadcast packets are dropped "
			     "before the rules");
}

static void match_check_ports(struct check *check, const struct node *map,
			      const struct match *match, const struct path *up) {
	static const char text[] = "allowed only with protocol tcp or udp, or without a protocol";
	bool protocol_known = node_present(map, "protocol") == NULL || node_field(map, "protocol");

	if (!protocol_known || !match->has_protocol)
		return;
	if (match->protocol == PROTOCOL_TCP || match->protocol == PROTOCOL_UDP)
		return;
	refuse_part(check, map, "source_ports", up, text);
	refuse_part(check, map, "destination_ports", up, text);
}

void check_match(struct check *check, const struct node *map, struct match *match,
		 const struct path *path) {
	uint8_t family = match->family == RULE_IPV4 ? 4 : 6;

	if (node_field(map, "family") == NULL)
		return;
	if (match->family == RULE_LLC) {
		check_llc(check, map, match, path);
		return;
	}
	refuse_part(check, map, "ethertype", path, "allowed only in a rule of family llc");
	check_prefix(check, map, "source", &match->source, family, path);
	check_prefix(check, map, "destination", &match->destination, family, path);
	match_check_destination(check, map, &match->destination, path);
	match_check_ports(check, map, match, path);
}

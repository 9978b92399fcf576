/* SPDX-License-Identifier: BSD-3-Clause */
/* Criteria that filters and classifiers compare packets with (MULPI, annex C.2.1, C.2.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/group/address.h"

#define SG_MAX_RULES 4096 /* per filter group, or per modem's list of classifiers */

enum rule_family {
	RULE_IPV4,
	RULE_IPV6,
	RULE_LLC,
};

enum filter_action {
	FILTER_PERMIT,
	FILTER_DENY,
};

struct port_range {
	uint16_t low;
	uint16_t high;
};

/* Criteria of a filter or classifier (MULPI, annex C.2.1, C.2.2). A criterion that is not given
 * matches everything. */
struct match {
	enum rule_family family;
	struct ip_prefix source; /* IPv4 and IPv6 */
	struct ip_prefix destination;
	bool has_protocol;
	uint8_t protocol; /* IP protocol, or the type of any IPv6 header of the packet */
	uint8_t tos; /* IPv4 TOS or IPv6 traffic class, after the mask */
	uint8_t tos_mask;
	struct port_range source_ports; /* 0..65535 if the file gives no range */
	struct port_range destination_ports;
	bool has_ethertype;
	uint16_t ethertype; /* LLC only */
};

struct filter_rule {
	struct match match;
	enum filter_action action;
};

/* Rules in order: the first that matches decides. */
struct filter_group {
	uint32_t id;
	struct filter_rule *rules;
	size_t rule_count;
};

struct classifier {
	struct match match;
	uint32_t flow; /* index into the modem's service_flows */
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* What modem.* takes and tells. */
#include "methods/modem_methods.h"

/* One row a key, to be read as a table. */
/* clang-format off */

#define MAC_EXAMPLE "02:01:00:00:00:01"
#define RATE_RESULT(key, text)                                                                    \
	{.name = (key), .required = true, INTEGER(0, UINT64_C(1000000000000)), .example = "0",    \
	 HELP(text)}

const struct key modem_list_params[] = {
	GROUP_KEY(struct modem_list_params, group),
	{.name = "first", INTEGER(0, SG_MAX_MODEMS), AT(struct modem_list_params, first),
	 .fallback = "0", HELP("where to begin: 0, or what the answer before told as next")},
	{.name = "count", INTEGER(1, 1000), AT(struct modem_list_params, count),
	 .fallback = "100", HELP("how many modems at the most")},
	{0},
};

static const struct key listed_modem_keys[] = {
	{.name = "mac", .required = true, .kind = KIND_MAC, .example = MAC_EXAMPLE,
	 HELP("MAC address")},
	{.name = "addresses", .required = true, INTEGER(1, SG_MAX_MODEM_ADDRESSES), .example = "2",
	 HELP("how many addresses of CPEs")},
	{.name = "service_flows", .required = true, INTEGER(1, SG_MAX_MODEM_FLOWS), .example = "8",
	 HELP("how many downstream service flows")},
	{.name = "upstream_service_flows", .required = true, INTEGER(0, SG_MAX_MODEM_FLOWS),
	 .example = "1", HELP("how many upstream service flows")},
	{0},
};
static const struct key listed_modem_item = {
	.kind = KIND_MAP, .keys = listed_modem_keys, HELP("a cable modem"),
};

const struct key modem_list_result[] = {
	{.name = "group", .required = true, INTEGER(1, SUBJECT_MAX_GROUP), .example = "1",
	 HELP("number of the service group")},
	{.name = "modems", .required = true, .kind = KIND_LIST, .max = 1000,
	 .item = &listed_modem_item, HELP("the modems")},
	{.name = "next", INTEGER(1, SG_MAX_MODEMS), .example = "100",
	 HELP("where to go on; not there when these were the last")},
	{0},
};

const struct key modem_get_params[] = {
	GROUP_KEY(struct modem_get_params, group),
	{.name = "mac", .required = true, .kind = KIND_MAC, AT(struct modem_get_params, mac),
	 .example = MAC_EXAMPLE, HELP("MAC address of the modem")},
	{0},
};

static const struct choice told_states[] = {{"provisioned", false}, {"active", true}, {NULL, 0}};

static const struct key told_flow_keys[] = {
	{.name = "id", .required = true, INTEGER(1, UINT32_MAX), .example = "1",
	 HELP("service flow ID")},
	{.name = "state", .required = true, ENUM(told_states), .example = "active",
	 HELP("a provisioned flow carries nothing")},
	{.name = "bonding_group", .required = true, INTEGER(1, KEYS_MAX_ID), .example = "1",
	 HELP("number of its bonding group")},
	{.name = "dsid", INTEGER(1, SG_MAX_DSID), .example = "1",
	 HELP("downstream service ID; not there where it has none")},
	{.name = "priority", .required = true, INTEGER(0, 7), .example = "0",
	 HELP("traffic priority; 7 is the highest")},
	{.name = "weight", .required = true, INTEGER(1, 255), .example = "1",
	 HELP("share among the modem's flows of the same priority and bonding group")},
	RATE_RESULT("max_sustained_rate", "bits per second; 0: no limit"),
	RATE_RESULT("peak_rate", "bits per second; 0: none"),
	RATE_RESULT("min_reserved_rate", "bits per second; 0: none"),
	{0},
};
static const struct key told_flow_item = {
	.kind = KIND_MAP, .keys = told_flow_keys, HELP("a downstream service flow"),
};
static const struct key told_upstream_flow_keys[] = {
	{.name = "id", .required = true, INTEGER(1, UINT32_MAX), .example = "9",
	 HELP("service flow ID")},
	{.name = "segment_header", .required = true, BOOL, .example = "true",
	 HELP("whether its segments have headers: continuous concatenation and fragmentation")},
	{.name = "clusters", .required = true, INTEGER(1, SG_MAX_SID_CLUSTERS), .example = "1",
	 HELP("how many SID clusters it has")},
	{0},
};
static const struct key told_upstream_flow_item = {
	.kind = KIND_MAP, .keys = told_upstream_flow_keys, HELP("an upstream service flow"),
};
static const struct key told_address_item = {
	.kind = KIND_ADDRESS, .example = "10.0.0.1", HELP("IPv4 or IPv6 address"),
};
static const struct key told_filter_group_item = {
	INTEGER(1, KEYS_MAX_ID), .example = "1", HELP("number of a filter group"),
};

const struct key modem_get_result[] = {
	{.name = "mac", .required = true, .kind = KIND_MAC, .example = MAC_EXAMPLE,
	 HELP("MAC address")},
	{.name = "group", .required = true, INTEGER(1, SUBJECT_MAX_GROUP), .example = "1",
	 HELP("number of its service group")},
	{.name = "addresses", .required = true, .kind = KIND_LIST, .max = SG_MAX_MODEM_ADDRESSES,
	 .item = &told_address_item, HELP("IP addresses of the CPEs behind it")},
	{.name = "cpe_limit", .required = true, INTEGER(0, 1023), .example = "16",
	 HELP("IPv4 addresses that may be active at a time")},
	{.name = "cpe_limit_ipv6", .required = true, INTEGER(0, 1023), .example = "16",
	 HELP("IPv6 addresses that may be active at a time")},
	{.name = "bonding_group", .required = true, INTEGER(1, KEYS_MAX_ID), .example = "1",
	 HELP("number of the bonding group of its flows, but of those that have another")},
	{.name = "filter_groups", .required = true, .kind = KIND_LIST,
	 .max = SG_MAX_MODEM_FILTER_GROUPS, .item = &told_filter_group_item,
	 HELP("numbers of filter groups, in order of evaluation")},
	{.name = "classifiers", .required = true, INTEGER(0, SG_MAX_RULES), .example = "20",
	 HELP("how many classifiers it has")},
	RATE_RESULT("max_aggregate_rate",
		    "bits per second of all its downstream flows together; 0: no limit"),
	{.name = "said", .required = true, INTEGER(1, SG_MAX_SAID), .example = "1",
	 HELP("security association ID")},
	{.name = "cipher", .required = true, ENUM(cipher_choices), .example = "aes-128",
	 HELP("none: frames go in the clear")},
	{.name = "key_sequence", .required = true, INTEGER(0, 15), .example = "0",
	 HELP("sequence number of the key in use")},
	{.name = "has_next_key", .required = true, BOOL, .example = "false",
	 HELP("whether the following key is there, too")},
	{.name = "service_flows", .required = true, .kind = KIND_LIST, .max = SG_MAX_MODEM_FLOWS,
	 .item = &told_flow_item, HELP("downstream service flows; the first is the primary one")},
	{.name = "upstream_service_flows", .required = true, .kind = KIND_LIST,
	 .max = SG_MAX_MODEM_FLOWS, .item = &told_upstream_flow_item,
	 HELP("upstream service flows")},
	{0},
};
/* clang-format on */

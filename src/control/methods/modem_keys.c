/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters and results of the methods modem.*. */
#include "control/methods/modem_methods.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

#define MAC_EXAMPLE "02:01:00:00:00:01"

const struct key modem_list_params[] = {
	GROUP_KEY(struct modem_list_params, group),
	{.name = "first", INTEGER(0, SG_MAX_MODEMS), AT(struct modem_list_params, first),
	 .fallback = "0", HELP("index of the first modem: 0, or `next` of the previous response")},
	{.name = "count", INTEGER(1, 1000), AT(struct modem_list_params, count),
	 .fallback = "100", HELP("maximum number of modems")},
	{0},
};

static const struct key listed_modem_keys[] = {
	{.name = "mac", .required = true, .kind = KIND_MAC, .example = MAC_EXAMPLE,
	 HELP("MAC address")},
	{.name = "addresses", .required = true, INTEGER(1, SG_MAX_MODEM_ADDRESSES), .example = "2",
	 HELP("number of CPE addresses")},
	{.name = "service_flows", .required = true, INTEGER(1, SG_MAX_MODEM_FLOWS), .example = "8",
	 HELP("number of downstream service flows")},
	{.name = "upstream_service_flows", .required = true, INTEGER(0, SG_MAX_MODEM_FLOWS),
	 .example = "1", HELP("number of upstream service flows")},
	{0},
};
static const struct key listed_modem_item = {
	.kind = KIND_MAP, .keys = listed_modem_keys, HELP("a cable modem"),
};

const struct key modem_list_result[] = {
	{.name = "group", .required = true, INTEGER(1, SUBJECT_MAX_GROUP), .example = "1",
	 HELP("ID of the service group")},
	{.name = "modems", .required = true, .kind = KIND_LIST, .max = 1000,
	 .item = &listed_modem_item, HELP("the modems")},
	{.name = "next", INTEGER(1, SG_MAX_MODEMS), .example = "100",
	 HELP("index of the next modem, for `first` of the next request; absent at the end")},
	{0},
};

const struct key modem_get_params[] = {
	GROUP_KEY(struct modem_get_params, group),
	{.name = "mac", .required = true, .kind = KIND_MAC, AT(struct modem_get_params, mac),
	 .example = MAC_EXAMPLE, HELP("MAC address of the modem")},
	{0},
};

/* Keys of the result besides those of a modem (modem_keys) and of its upstream service flows. */
static const struct key counted_flow_keys[] = {
	{.name = "clusters", .required = true, INTEGER(1, SG_MAX_SID_CLUSTERS), .example = "1",
	 HELP("number of its SID clusters")},
	{0},
};
static const struct key counted_flow_item = {
	.kind = KIND_MAP, .keys = counted_flow_keys, HELP("an upstream service flow"),
};

const struct key modem_get_result[] = {
	{.name = "group", .required = true, INTEGER(1, SUBJECT_MAX_GROUP), .example = "1",
	 HELP("ID of its service group")},
	{.name = "said", .required = true, INTEGER(1, SG_MAX_SAID), .example = "1",
	 HELP("security.said")},
	{.name = "cipher", .required = true, ENUM(cipher_choices), .example = "aes-128",
	 HELP("security.cipher")},
	{.name = "key_sequence", .required = true, INTEGER(0, 15), .example = "0",
	 HELP("security.key_sequence")},
	{.name = "has_next_key", .required = true, BOOL, .example = "false",
	 HELP("whether security.next_key is set; the key itself is never reported")},
	{.name = "upstream_service_flows", .kind = KIND_LIST, .item = &counted_flow_item},
	{0},
};
/* clang-format on */

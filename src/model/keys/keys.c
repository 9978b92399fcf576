/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of a service group: names, kinds, ranges, defaults and help. */
#include "model/keys/keys.h"

#include "model/keys/key_macros.h"
#include "model/service_group.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

_Static_assert(offsetof(struct match, tos_mask) == offsetof(struct match, tos) + 1,
	       "KIND_TOS fills both bytes");

static const struct choice channel_types[] = {
	{"ofdm", CHANNEL_OFDM},
	{"sc-qam", CHANNEL_SC_QAM},
	{NULL, 0},
};
static const struct choice pseudowires[] = {
	{"psp-legacy", PSEUDOWIRE_PSP_LEGACY},
	{"psp-depi", PSEUDOWIRE_PSP_DEPI},
	{NULL, 0},
};
static const struct choice psp_extras[] = {
	{"none", PSP_EXTRA_NONE},
	{"counter", PSP_EXTRA_COUNTER},
	{"static", PSP_EXTRA_STATIC},
	{NULL, 0},
};
const struct choice cipher_choices[] = {
	{"none", CIPHER_NONE},
	{"aes-128", CIPHER_AES_128},
	{"aes-256", CIPHER_AES_256},
	{"des", CIPHER_DES},
	{NULL, 0},
};
const struct choice cipher_key_lengths[] = {
	{"32 (aes-128)", 16},
	{"64 (aes-256)", 32},
	{"16 (des)", 8},
	{NULL, 0},
};
const struct choice cipher_iv_lengths[] = {
	{"32 (aes)", 16},
	{"16 (des)", 8},
	{NULL, 0},
};
static const struct choice families[] = {
	{"ipv4", RULE_IPV4},
	{"ipv6", RULE_IPV6},
	{"llc", RULE_LLC},
	{NULL, 0},
};
static const struct choice actions[] = {
	{"permit", FILTER_PERMIT},
	{"deny", FILTER_DENY},
	{NULL, 0},
};

static const struct key rphy_keys[] = {
	{.name = "core_mac", .kind = KIND_MAC, AT(struct rphy_config, core_mac),
	 .fallback = "02:00:00:00:00:01", HELP("our MAC address towards the R-PHY device")},
	{.name = "rpd_mac", .kind = KIND_MAC, AT(struct rphy_config, rpd_mac),
	 .fallback = "02:00:00:00:00:02",
	 HELP("MAC address of the R-PHY device, or of the router before it")},
	{.name = "core_ip", .kind = KIND_ADDRESS, AT(struct rphy_config, core_ip),
	 .fallback = "192.168.1.1", HELP("our IP address towards the R-PHY device")},
	{.name = "rpd_ip", .kind = KIND_ADDRESS, AT(struct rphy_config, rpd_ip),
	 .fallback = "192.168.1.2",
	 HELP("IP address of the R-PHY device, of the same family as core_ip")},
	{.name = "mtu", SIZE(RPHY_MTU_MIN, 9000), AT(struct rphy_config, mtu), .fallback = "1500",
	 HELP("longest IP packet to the R-PHY device; DEPI frames are filled up to it")},
	{.name = "dscp", INTEGER(0, 63), AT(struct rphy_config, dscp), .fallback = "0",
	 HELP("differentiated services code point of DEPI frames")},
	{.name = "ttl", INTEGER(1, 255), AT(struct rphy_config, ttl), .fallback = "64",
	 HELP("time to live (IPv6: hop limit) of DEPI frames")},
	{.name = "flush", .kind = KIND_DURATION, AT(struct rphy_config, flush_ns), .min = 0,
	 .max = 100 * MILLISECOND, .fallback = "50 us",
	 HELP("a DEPI frame waits no longer than this for more segments")},
	{.name = "max_segments", INTEGER(1, 255), AT(struct rphy_config, max_segments),
	 .fallback = "16", HELP("PSP segments in one DEPI frame")},
	{0},
};

static const struct key channel_keys[] = {
	{.name = "id", .required = true, INTEGER(1, KEYS_MAX_ID), AT(struct channel, id),
	 HELP("unique ID of the channel, to which bonding groups refer")},
	{.name = "type", .required = true, ENUM(channel_types), AT(struct channel, type),
	 HELP("modulation of the channel")},
	{.name = "rate", .required = true, .kind = KIND_RATE, AT(struct channel, rate),
	 .min = 1000, .max = UINT64_C(1000000000000), .example = "1.89 Gbps",
	 HELP("rate of MAC frames on the channel")},
	{.name = "session", .required = true, INTEGER(1, UINT32_MAX),
	 AT(struct channel, session), .example = "0x00010001",
	 HELP("L2TPv3 session ID, unique in the service group")},
	{.name = "pseudowire", ENUM(pseudowires), AT(struct channel, pseudowire),
	 .fallback = "psp-depi", HELP("L2TPv3 pseudowire subtype: 2 psp-legacy, 4 psp-depi")},
	{.name = "psp_extra", ENUM(psp_extras), AT(struct channel, psp_extra),
	 HELP("bytes between the PSP segment table and the first segment: none, two bytes "
	      "with a packet counter and the profile, or two bytes with the profile; default: "
	      "counter for psp-depi, none for psp-legacy")},
	{.name = "profile", INTEGER(0, 15), AT(struct channel, profile), .fallback = "0",
	 HELP("OFDM profile in the extra bytes")},
	{0},
};

static const struct key channel_reference = {
	INTEGER(1, KEYS_MAX_ID), .size = sizeof(uint32_t), HELP("id of a channel"),
};

static const struct key bonding_group_keys[] = {
	{.name = "id", .required = true, INTEGER(1, KEYS_MAX_ID), AT(struct bonding_group, id),
	 HELP("unique ID of the bonding group, to which modems refer")},
	{.name = "channels", .required = true,
	 LIST_OF(struct bonding_group, channels, channel_count, &channel_reference), .min = 1,
	 .max = SG_MAX_CHANNELS, HELP("ids of its channels; groups may share channels")},
	{0},
};

/* The keys of a match, for the struct that contains it. */
#define MATCH_KEYS(type)                                                                           \
	{.name = "family", .required = true, ENUM(families), AT(type, match.family),               \
	 HELP("kind of packets: IPv4, IPv6, or any by the Ethernet type (llc)")},                         \
	{.name = "source", .kind = KIND_PREFIX, AT(type, match.source),                            \
	 HELP("source prefix of the rule's family (default: any)")},                        \
	{.name = "destination", .kind = KIND_PREFIX, AT(type, match.destination),                  \
	 HELP("destination prefix of the rule's family (default: any)")},                   \
	{.name = "protocol", .kind = KIND_PROTOCOL, AT(type, match.protocol),                      \
	 .flag = offsetof(type, match.has_protocol),                                               \
	 HELP("IPv4 protocol, or the type of any header of an IPv6 packet (default: any)")},  \
	{.name = "tos", .kind = KIND_TOS, AT(type, match.tos),                                     \
	 HELP("IPv4 TOS or IPv6 traffic class, and the mask of the bits that count")},             \
	{.name = "source_ports", .kind = KIND_PORTS, AT(type, match.source_ports),                 \
	 .fallback = "0-65535",                                                                    \
	 HELP("source ports of TCP and UDP; packets without ports, such as later fragments, "      \
	      "match 0-65535 only")},                                                              \
	{.name = "destination_ports", .kind = KIND_PORTS, AT(type, match.destination_ports),       \
	 .fallback = "0-65535",                                                                    \
	 HELP("destination ports of TCP and UDP; packets without ports match 0-65535 only")},      \
	{.name = "ethertype", INTEGER(0x600, 0xffff), AT(type, match.ethertype),                   \
	 .flag = offsetof(type, match.has_ethertype), .example = "0x86dd",                         \
	 HELP("Ethernet type, also that of IP; required with family llc, and allowed only "       \
	      "there")}

static const struct key filter_rule_keys[] = {
	MATCH_KEYS(struct filter_rule),
	{.name = "action", .required = true, ENUM(actions), AT(struct filter_rule, action),
	 HELP("action for a packet that matches")},
	{0},
};

static const struct key filter_rule_item = {
	.kind = KIND_MAP, .keys = filter_rule_keys, .size = sizeof(struct filter_rule),
	HELP("a rule; an absent criterion matches everything"),
};

static const struct key filter_group_keys[] = {
	{.name = "id", .required = true, INTEGER(1, KEYS_MAX_ID), AT(struct filter_group, id),
	 HELP("unique ID of the filter group, to which modems refer")},
	{.name = "rules", .required = true,
	 LIST_OF(struct filter_group, rules, rule_count, &filter_rule_item), .min = 1,
	 .max = SG_MAX_RULES, HELP("rules in order: the first that matches decides")},
	{0},
};

#define SECRET(member, lengths)                                                                    \
	.kind = KIND_HEX, .secret = true, AT(struct security_association, member),                 \
	.choices = (lengths)

static const struct key security_keys[] = {
	{.name = "said", .required = true, INTEGER(1, SG_MAX_SAID),
	 AT(struct security_association, said), .example = "0x0001",
	 HELP("security association ID; modems may share one with all of its values")},
	{.name = "cipher", ENUM(cipher_choices), AT(struct security_association, cipher),
	 .fallback = "aes-128",
	 HELP("cipher: none sends frames in the clear; des has 56 bits, for modems before "
	      "DOCSIS 3.0")},
	{.name = "key", SECRET(key, cipher_key_lengths),
	 HELP("traffic encryption key, of the length of the cipher's keys; required unless "
	      "the cipher is none")},
	{.name = "iv", SECRET(iv, cipher_iv_lengths),
	 HELP("initialisation vector, of the length of the cipher's blocks; required unless "
	      "the cipher is none")},
	{.name = "key_sequence", INTEGER(0, 15), AT(struct security_association, key_sequence),
	 .fallback = "0", HELP("sequence number of the key; its lowest bit is the toggle")},
	{.name = "next_key", SECRET(next_key, cipher_key_lengths),
	 .flag = offsetof(struct security_association, has_next_key),
	 HELP("the next key, with sequence number key_sequence + 1 (0 after 15), which the "
	      "modem may already use")},
	{.name = "next_iv", SECRET(next_iv, cipher_iv_lengths),
	 HELP("initialisation vector of next_key; required with next_key, and allowed only "
	      "with it")},
	{.name = "use_next_key", BOOL, AT(struct security_association, use_next_key),
	 .fallback = "false", HELP("whether downstream frames are encrypted with next_key; "
				   "allowed only with next_key")},
	{0},
};

/* The reader stores the service flow's ID; the check replaces it by the index. */
static const struct key classifier_keys[] = {
	MATCH_KEYS(struct classifier),
	{.name = "service_flow", .required = true, INTEGER(1, UINT32_MAX),
	 AT(struct classifier, flow), HELP("id of an active service flow of this modem")},
	{0},
};

static const struct key address_item = {
	.kind = KIND_ADDRESS, .size = sizeof(struct ip_address), HELP("IPv4 or IPv6 address"),
};

static const struct key filter_group_reference = {
	INTEGER(1, KEYS_MAX_ID), .size = sizeof(uint32_t), HELP("id of a filter group"),
};

static const struct key classifier_item = {
	.kind = KIND_MAP, .keys = classifier_keys, .size = sizeof(struct classifier),
	HELP("a classifier; an absent criterion matches everything"),
};

const struct key modem_keys[] = {
	{.name = "mac", .required = true, .kind = KIND_MAC, AT(struct modem, mac),
	 HELP("MAC address of the modem, unique in the service group")},
	{.name = "addresses", .required = true,
	 LIST_OF(struct modem, addresses, address_count, &address_item), .min = 1,
	 .max = SG_MAX_MODEM_ADDRESSES,
	 HELP("IP addresses of the CPEs behind the modem, unique in the service group")},
	{.name = "cpe_limit", INTEGER(0, 1023), AT(struct modem, cpe_limit), .fallback = "16",
	 HELP("IPv4 addresses that may be active at a time")},
	{.name = "cpe_limit_ipv6", INTEGER(0, 1023), AT(struct modem, cpe_limit_ipv6),
	 .derived = true,
	 HELP("IPv6 addresses that may be active at a time (default: cpe_limit)")},
	{.name = "filter_groups", .fixed = true,
	 LIST_OF(struct modem, filter_groups, filter_group_count, &filter_group_reference),
	 .max = SG_MAX_MODEM_FILTER_GROUPS,
	 HELP("ids of filter groups, in order of evaluation")},
	{.name = "bonding_group", .required = true, INTEGER(1, KEYS_MAX_ID),
	 AT(struct modem, bonding_group),
	 HELP("id of the bonding group of its service flows, except those with their own")},
	{.name = "max_aggregate_rate", KBPS_TO_TBPS_OR_NONE, AT(struct modem, aggregate_rate),
	 .fallback = "none", HELP("aggregate rate limit of the modem's downstream service flows")},
	{.name = "max_aggregate_burst", SIZE(64, KEYS_MAX_BURST), AT(struct modem, aggregate_burst),
	 HELP("burst in bytes at max_aggregate_rate, at least max_frame (default: 10 ms at "
	      "the rate, at least 3044 bytes)")},
	{.name = "security", .required = true,
	 MAP_AT(struct modem, security, security_keys), HELP("BPI+ security association")},
	{.name = "service_flows", .required = true,
	 LIST_OF(struct modem, service_flows, service_flow_count, &service_flow_item), .min = 1,
	 .max = SG_MAX_MODEM_FLOWS,
	 HELP("service flows; the first is the primary flow, which is active and carries "
	      "packets that match no classifier")},
	{.name = "classifiers",
	 LIST_OF(struct modem, classifiers, classifier_count, &classifier_item),
	 .max = SG_MAX_RULES, HELP("classifiers in order: the first that matches decides")},
	{.name = "upstream_service_flows",
	 LIST_OF(struct modem, upstream_flows, upstream_flow_count, &upstream_flow_item),
	 .max = SG_MAX_MODEM_FLOWS, HELP("upstream service flows")},
	{0},
};

ITEM(channel_item, struct channel, channel_keys, "a downstream channel");
ITEM(bonding_group_item, struct bonding_group, bonding_group_keys, "a downstream bonding group");
ITEM(filter_group_item, struct filter_group, filter_group_keys, "a group of filter rules");
ITEM(modem_item, struct modem, modem_keys, "a cable modem");

const struct key service_group_keys[] = {
	{.name = "name", .kind = KIND_NAME, AT(struct service_group, name),
	 HELP("name in logs and reports (default: the file's name without extension)")},
	{.name = "service_group", INTEGER(1, 65535), AT(struct service_group, id),
	 .fallback = "1", HELP("ID of the service group")},
	{.name = "ports", .kind = KIND_MAP, .keys = ports_keys, .merged = true,
	 HELP("the ports of the service group; no device is opened twice")},
	{.name = "max_frame", SIZE(64, 2000), AT(struct service_group, max_frame),
	 .fallback = "2000", HELP("longest Ethernet frame with its CRC")},
	{.name = "threads", MAP_AT(struct service_group, threads, threads_keys), .merged = true,
	 HELP("threads and their cores")},
	{.name = "rphy", MAP_AT(struct service_group, rphy, rphy_keys), .merged = true,
	 HELP("the path to the R-PHY device")},
	{.name = "crypto", MAP_AT(struct service_group, crypto, crypto_keys), .merged = true,
	 HELP("crypto provider")},
	{.name = "rate_limit", KBPS_TO_TBPS_OR_NONE, AT(struct service_group, rate_limit),
	 .fallback = "10 Gbps",
	 HELP("rate limit of the whole service group")},
	{.name = "cpe_timeout", .kind = KIND_DURATION,
	 AT(struct service_group, cpe_timeout_ns), .min = MILLISECOND,
	 .max = 24 * 3600 * SECOND, .fallback = "300 s",
	 HELP("an address without packets for one to two times this long is inactive")},
	{.name = "filter_default", ENUM(actions), AT(struct service_group, filter_default),
	 .fallback = "permit", HELP("action for a packet that matches no rule")},
	{.name = "flow_cache", INTEGER(0, SG_MAX_FLOW_CACHE), AT(struct service_group, flow_cache),
	 .flag = offsetof(struct service_group, has_flow_cache), .example = "65536",
	 HELP("entries of the flow cache, of 64 bytes each: packets of cached flows bypass "
	      "lookup, filters and classifiers; 0: no cache (default: up to 128 per modem, at "
	      "least 4096, and half of the part above 32768)")},
	{.name = "max_queued", INTEGER(256, 65536), AT(struct service_group, max_queued),
	 .example = "16384",
	 HELP("limit of packets in all queues of the group together (default: the server "
	      "divides its buffers among its groups)")},
	{.name = "max_modems", INTEGER(1, SG_MAX_MODEMS), AT(struct service_group, max_modems),
	 .example = "400",
	 HELP("capacity for modems while the group is in service (default: a quarter more "
	      "than at the start, plus 16)")},
	{.name = "channels", .required = true,
	 LIST_OF(struct service_group, channels, channel_count, &channel_item), .min = 1,
	 .max = SG_MAX_CHANNELS, HELP("downstream channels")},
	{.name = "bonding_groups", .required = true,
	 LIST_OF(struct service_group, bonding_groups, bonding_group_count,
		 &bonding_group_item), .min = 1, .max = KEYS_MAX_GROUPS,
	 HELP("downstream bonding groups")},
	{.name = "filter_groups",
	 LIST_OF(struct service_group, filter_groups, filter_group_count, &filter_group_item),
	 .max = KEYS_MAX_GROUPS, HELP("filter groups")},
	{.name = "upstream", MAP_AT(struct service_group, upstream, upstream_keys), .merged = true,
	 HELP("settings of the upstream: checks, timers and pending packets")},
	{.name = "upstream_channels",
	 LIST_OF(struct service_group, upstream_channels, upstream_channel_count,
		 &upstream_channel_item), .max = SG_MAX_UPSTREAM_CHANNELS,
	 HELP("upstream channels (none: the group has no upstream)")},
	{.name = "modems", .required = true,
	 LIST_OF(struct service_group, modems, modem_count, &modem_item), .min = 1,
	 .max = SG_MAX_MODEMS, HELP("cable modems")},
	{0},
};
/* clang-format on */

const char *cipher_name(enum cipher cipher) {
	return choice_name(cipher_choices, cipher);
}

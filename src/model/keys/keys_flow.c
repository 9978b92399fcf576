/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of a downstream service flow: identity, channels, quality of service. */
#include "model/keys/key_macros.h"
#include "model/service_group.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

#define LARGEST_BUFFER (64u << 20)

static const struct choice states[] = {
	{"provisioned", false},
	{"active", true},
	{NULL, 0},
};
const struct choice aqm_choices[] = {
	{"tail-drop", AQM_TAIL_DROP},
	{"wred", AQM_WRED},
	{"docsis-pie", AQM_DOCSIS_PIE},
	{NULL, 0},
};

/* The reader stores the denominator of the probability; the check converts it. */
static const struct key wred_keys[] = {
	{.name = "min_threshold", SIZE(0, LARGEST_BUFFER), AT(struct wred, min_threshold),
	 .derived = true,
	 HELP("average queue above which packets are dropped at random (default: a quarter of "
	      "buffer)")},
	{.name = "max_threshold", SIZE(1, LARGEST_BUFFER), AT(struct wred, max_threshold),
	 .derived = true,
	 HELP("average queue above which all packets are dropped; above min_threshold "
	      "(default: three quarters of buffer)")},
	{.name = "max_probability_inverse", INTEGER(1, 255), AT(struct wred, max_probability),
	 .fallback = "10",
	 HELP("drop rate just below max_threshold: one packet in so many")},
	{.name = "weight", INTEGER(1, 15), AT(struct wred, weight), .fallback = "9",
	 HELP("w: each arrival moves the average by 1/2^w of the difference")},
	{0},
};

const struct key tos_masks_keys[] = {
	{.name = "and_mask", INTEGER(0, 255), AT(struct tos_masks, and_mask), .fallback = "0xff",
	 .example = "0x03", HELP("AND mask: bits of the old value that are kept")},
	{.name = "or_mask", INTEGER(0, 255), AT(struct tos_masks, or_mask), .fallback = "0",
	 .example = "0xb8", HELP("OR mask: bits that are set")},
	{0},
};

static const struct key service_flow_keys[] = {
	{.name = "id", .required = true, INTEGER(1, UINT32_MAX), AT(struct service_flow, id),
	 HELP("service flow ID, unique in the service group")},
	{.name = "state", ENUM(states), AT(struct service_flow, active), .fallback = "active",
	 HELP("whether the flow is active; a provisioned flow carries no packets, and no "
	      "classifier may refer to it")},
	{.name = "bonding_group", INTEGER(1, KEYS_MAX_ID), AT(struct service_flow, bonding_group),
	 .derived = true, HELP("id of the flow's bonding group (default: the modem's)")},
	{.name = "dsid", INTEGER(1, SG_MAX_DSID), AT(struct service_flow, dsid),
	 .flag = offsetof(struct service_flow, has_dsid), .example = "0x00001",
	 HELP("downstream service ID, unique in the service group; required for active flows "
	      "on a bonding group of two or more channels")},
	{.name = "priority", INTEGER(0, 7), AT(struct service_flow, priority), .fallback = "0",
	 HELP("traffic priority; 7 is the highest")},
	{.name = "weight", INTEGER(1, 255), AT(struct service_flow, weight), .fallback = "1",
	 HELP("share among the modem's flows of the same priority and bonding group")},
	{.name = "max_sustained_rate", KBPS_TO_TBPS_OR_NONE,
	 AT(struct service_flow, sustained_rate), .fallback = "none",
	 HELP("maximum sustained traffic rate, of Ethernet frames with their CRCs")},
	{.name = "max_traffic_burst", SIZE(64, KEYS_MAX_BURST), AT(struct service_flow, traffic_burst),
	 HELP("maximum traffic burst in bytes, at least max_frame (default: 10 ms at "
	      "max_sustained_rate, at least 3044 bytes)")},
	{.name = "peak_rate", KBPS_TO_TBPS_OR_NONE, AT(struct service_flow, peak_rate),
	 .fallback = "none",
	 HELP("peak traffic rate, also within a burst; at least max_sustained_rate, which it "
	      "requires")},
	{.name = "min_reserved_rate", KBPS_TO_TBPS_OR_NONE,
	 AT(struct service_flow, reserved_rate), .fallback = "none",
	 HELP("minimum reserved traffic rate: below it the flow is served before all "
	      "priorities; at most max_sustained_rate")},
	{.name = "min_reserved_packet", SIZE(64, 2000), AT(struct service_flow, reserved_packet),
	 .fallback = "64", .conditional = true,
	 HELP("assumed minimum packet size for min_reserved_rate: shorter packets count as "
	      "this long; at most max_frame")},
	{.name = "min_buffer", SIZE(1, LARGEST_BUFFER), AT(struct service_flow, min_buffer),
	 .derived = true,
	 HELP("queue limit in bytes while memory is short, at most buffer (default: an eighth "
	      "of buffer, but at least 3044 bytes if buffer has as many)")},
	{.name = "buffer", SIZE(1, LARGEST_BUFFER), AT(struct service_flow, buffer),
	 .fallback = "512 kB", HELP("queue limit of the flow in bytes")},
	{.name = "max_buffer", SIZE(1, LARGEST_BUFFER), AT(struct service_flow, max_buffer),
	 .derived = true,
	 HELP("queue limit in bytes while much memory is free, at least buffer (default: buffer)")},
	{.name = "aqm", ENUM(aqm_choices), AT(struct service_flow, aqm), .fallback = "tail-drop",
	 HELP("active queue management: tail drop, weighted random early detection, or "
	      "DOCSIS-PIE (RFC 8034)")},
	{.name = "latency_target", .kind = KIND_DURATION,
	 AT(struct service_flow, latency_target_ns), .min = MILLISECOND, .max = 256 * MILLISECOND,
	 .fallback = "10 ms", .conditional = true, HELP("latency target of aqm: docsis-pie; "
							"allowed only there")},
	{.name = "wred", MAP_AT(struct service_flow, wred, wred_keys),
	 HELP("settings of aqm: wred; allowed only there")},
	TOS_OVERWRITE(struct service_flow),
	{0},
};

const struct key service_flow_item = {
	.kind = KIND_MAP, .keys = service_flow_keys, .size = sizeof(struct service_flow),
	HELP("a service flow"),
};

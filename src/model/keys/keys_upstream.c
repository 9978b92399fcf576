/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream keys of a service group, and those of a modem's upstream service flows. */
#include "model/keys/key_macros.h"
#include "model/service_group.h"

/* One entry per key, laid out as a table. */
/* clang-format off */

static const struct choice numberings[] = {
	{"flow", PSP_NUMBERING_FLOW},
	{"session", PSP_NUMBERING_SESSION},
	{NULL, 0},
};
static const struct choice types[] = {
	{"sc-qam", UPSTREAM_SC_QAM},
	{"ofdma", UPSTREAM_OFDMA},
	{NULL, 0},
};

static const struct choice schedulings[] = {
	{"best-effort", SCHEDULING_BEST_EFFORT},
	{"non-real-time-polling", SCHEDULING_NON_REAL_TIME_POLLING},
	{"real-time-polling", SCHEDULING_REAL_TIME_POLLING},
	{"unsolicited-grant", SCHEDULING_UNSOLICITED_GRANT},
	{"unsolicited-grant-activity", SCHEDULING_UNSOLICITED_GRANT_ACTIVITY},
	{"proactive-grant", SCHEDULING_PROACTIVE_GRANT},
	{NULL, 0},
};

const struct key upstream_keys[] = {
	{.name = "verify_source", BOOL, AT(struct upstream_config, verify_source),
	 .fallback = "true",
	 HELP("drop packets whose source address does not belong to their modem")},
	{.name = "verify_crc", BOOL, AT(struct upstream_config, verify_crc), .fallback = "false",
	 HELP("drop Ethernet frames whose CRC is wrong after decryption")},
	{.name = "psp_numbering", ENUM(numberings), AT(struct upstream_config, psp_numbering),
	 .fallback = "flow",
	 HELP("scope of PSP sequence numbers: the packets of each PSP flow of a session, or "
	      "all packets of a session")},
	{.name = "reorder_timeout", .kind = KIND_DURATION,
	 AT(struct upstream_config, reorder_timeout_ns), .min = 0, .max = SECOND,
	 .fallback = "5 ms", HELP("reorder timer: how long to wait for a missing PSP packet "
				  "or segment")},
	{.name = "frame_timeout", .kind = KIND_DURATION,
	 AT(struct upstream_config, frame_timeout_ns), .min = MILLISECOND, .max = 60 * SECOND,
	 .fallback = "2 s", HELP("reassembly timer: how long to keep an incomplete frame or "
				 "burst")},
	{.name = "held_by_modem", SIZE(8000, 16000000), AT(struct upstream_config, modem_pending_limit),
	 .fallback = "256 kB",
	 HELP("limit in bytes of buffers of one modem that wait for missing parts; the oldest "
	      "are dropped first")},
	{.name = "held", SIZE(64000, 256000000), AT(struct upstream_config, pending),
	 .flag = offsetof(struct upstream_config, pending_given), .fallback = "4 MB",
	 HELP("limit in bytes of packets that wait for missing parts, of all modems and "
	      "bursts together, and the same for frames; at least held_by_modem (default: the "
	      "groups of a server divide 4 MB plus 500 kB per further group)")},
	{.name = "scheduler", .optional = true, .merged = true,
	 .flag = offsetof(struct upstream_config, scheduled),
	 MAP_AT(struct upstream_config, scheduler, grants_keys),
	 HELP("the upstream scheduler, which answers bandwidth requests by grants in MAPs "
	      "(default: none; requests are only counted)")},
	{0},
};

static const struct key map_channel_reference = {
	INTEGER(1, KEYS_MAX_ID), .size = sizeof(uint32_t), HELP("id of a downstream channel"),
};

static const struct key upstream_channel_keys[] = {
	{.name = "id", .required = true, INTEGER(1, KEYS_MAX_ID), AT(struct upstream_channel, id),
	 HELP("unique ID of the upstream channel, to which SIDs refer")},
	{.name = "type", .required = true, ENUM(types), AT(struct upstream_channel, type),
	 HELP("modulation of the channel, and with it the UEPI format of its bursts")},
	{.name = "rate", .required = true, .kind = KIND_RATE, AT(struct upstream_channel, rate),
	 .min = 1000, .max = UINT64_C(1000000000000), .example = "30.72 Mbps",
	 HELP("rate of the channel")},
	{.name = "session", .required = true, INTEGER(1, UINT32_MAX),
	 AT(struct upstream_channel, session), .example = "0x00020001",
	 HELP("L2TPv3 session ID of its bursts, unique among all sessions of the upstream")},
	{.name = "request_session", INTEGER(1, UINT32_MAX),
	 AT(struct upstream_channel, request_session), .example = "0x00021001",
	 HELP("L2TPv3 session ID of its bandwidth requests (default: requests are read from "
	      "the bursts)")},
	{.name = "ranging_session", INTEGER(1, UINT32_MAX),
	 AT(struct upstream_channel, ranging_session), .example = "0x00022001",
	 HELP("L2TPv3 session ID of its ranging bursts (default: none)")},
	{.name = "map_session", INTEGER(1, UINT32_MAX),
	 AT(struct upstream_channel, grants.map_session), .example = "0x00030001",
	 HELP("L2TPv3 session ID of the channel's MAP pseudowire to the R-PHY device, unique "
	      "among those of downstream channels (default: 0x00030000 + id)")},
	{.name = "map_channels", .fixed = true,
	 LIST_OF(struct upstream_channel, grants.map_channels, grants.map_channel_count,
		 &map_channel_reference), .max = GRANTS_MAP_CHANNELS,
	 HELP("ids of the downstream channels that carry the channel's MAPs and UCDs "
	      "(default: the first one of the group)")},
	{.name = "physical", MAP_AT(struct upstream_channel, grants.physical, physical_keys),
	 HELP("minislots of the channel, for the upstream scheduler and its UCDs")},
	{.name = "contention", MAP_AT(struct upstream_channel, grants.contention, contention_keys),
	 HELP("request opportunities of the channel")},
	{.name = "maintenance", MAP_AT(struct upstream_channel, grants.maintenance, maintenance_keys),
	 HELP("ranging opportunities of the channel")},
	{0},
};

const struct key upstream_channel_item = {
	.kind = KIND_MAP, .keys = upstream_channel_keys, .size = sizeof(struct upstream_channel),
	HELP("an upstream channel"),
};

/* The reader stores the channel's ID; the check replaces it by the index. */
static const struct key sid_keys[] = {
	{.name = "channel", .required = true, INTEGER(1, KEYS_MAX_ID),
	 AT(struct upstream_sid, channel), HELP("id of an upstream channel")},
	{.name = "sid", .required = true, INTEGER(1, SG_MAX_SID), AT(struct upstream_sid, sid),
	 .example = "0x0001", HELP("service ID, unique on its channel")},
	{0},
};

ITEM(sid_item, struct upstream_sid, sid_keys, "a SID on one upstream channel");

static const struct key sid_cluster_keys[] = {
	{.name = "id", .required = true, INTEGER(0, SG_MAX_SID_CLUSTERS - 1),
	 AT(struct sid_cluster, id),
	 HELP("SID cluster ID in segment headers, unique in the service flow")},
	{.name = "sids", .required = true,
	 LIST_OF(struct sid_cluster, sids, sid_count, &sid_item), .min = 1,
	 .max = SG_MAX_UPSTREAM_CHANNELS, HELP("its SIDs, at most one per channel")},
	{0},
};

ITEM(sid_cluster_item, struct sid_cluster, sid_cluster_keys,
     "a SID cluster: SIDs that the service flow uses in the same way");

static const struct key upstream_flow_keys[] = {
	{.name = "id", .required = true, INTEGER(1, UINT32_MAX),
	 AT(struct upstream_service_flow, id),
	 HELP("service flow ID, unique in the service group, also among downstream flows")},
	{.name = "segment_header", BOOL, AT(struct upstream_service_flow, segment_header),
	 .fallback = "true",
	 HELP("continuous concatenation and fragmentation: each grant carries a segment with "
	      "a header")},
	{.name = "sid_clusters", .required = true,
	 LIST_OF(struct upstream_service_flow, clusters, cluster_count, &sid_cluster_item),
	 .min = 1, .max = SG_MAX_SID_CLUSTERS,
	 HELP("SID clusters of the flow; without segment headers exactly one")},
#define OF(member) AT(struct upstream_service_flow, grants.member)
	{.name = "scheduling", ENUM(schedulings), OF(scheduling), .fallback = "best-effort",
	 HELP("upstream scheduling service")},
	{.name = "priority", INTEGER(0, 7), OF(priority), .fallback = "0",
	 HELP("traffic priority of requests; 7 is the highest")},
	{.name = "max_sustained_rate", KBPS_TO_TBPS_OR_NONE, OF(sustained_rate), .fallback = "none",
	 HELP("maximum sustained traffic rate, of Ethernet frames with their CRCs")},
	{.name = "max_traffic_burst", SIZE(1522, KEYS_MAX_BURST), OF(traffic_burst),
	 HELP("maximum traffic burst in bytes (default: 10 ms at max_sustained_rate, at least "
	      "3044 bytes)")},
	{.name = "peak_rate", KBPS_TO_TBPS_OR_NONE, OF(peak_rate), .fallback = "none",
	 HELP("peak traffic rate; at least max_sustained_rate, which it requires")},
	{.name = "min_reserved_rate", KBPS_TO_TBPS_OR_NONE, OF(reserved_rate), .fallback = "none",
	 HELP("minimum reserved traffic rate: below it the flow is served before all "
	      "priorities; at most max_sustained_rate")},
	{.name = "max_concatenated_burst", SIZE(128, 65535), OF(concatenated_burst),
	 .example = "16384", HELP("maximum bytes of one grant (default: no limit)")},
	{.name = "request_multiplier", INTEGER(1, 16), OF(request_multiplier), .fallback = "4",
	 HELP("N: unit in bytes of requests of flows with segment headers: 1, 2, 4, 8 or 16")},
	{.name = "nominal_polling_interval", TIME(MILLISECOND, 10 * SECOND), OF(poll_interval),
	 .example = "20 ms",
	 HELP("time between two unicast request opportunities, for polling and for "
	      "unsolicited-grant-activity while inactive")},
	{.name = "nominal_grant_interval", TIME(500 * MICROSECOND, SECOND), OF(grant_interval),
	 .example = "10 ms", HELP("time between two unsolicited or proactive grants")},
	{.name = "tolerated_grant_jitter", TIME(0, SECOND), OF(grant_jitter), .fallback = "2 ms",
	 HELP("tolerated delay of an unsolicited grant")},
	{.name = "unsolicited_grant_size", SIZE(16, 65535), OF(grant_size), .example = "232",
	 HELP("bytes of an unsolicited grant, with MAC headers")},
	{.name = "grants_per_interval", INTEGER(1, 127), OF(grants_per_interval), .fallback = "1",
	 .conditional = true, HELP("unsolicited grants in each interval")},
	{.name = "active_timeout", TIME(MILLISECOND, 10 * SECOND), OF(active_timeout),
	 .fallback = "500 ms", .conditional = true,
	 HELP("time without data after which unsolicited-grant-activity gets request "
	      "opportunities instead of grants")},
	{.name = "guaranteed_grant_rate", KBPS_TO_TBPS_OR_NONE, OF(guaranteed_rate),
	 .fallback = "none", .conditional = true, HELP("guaranteed rate of proactive grants")},
#undef OF
	TOS_OVERWRITE(struct upstream_service_flow),
	{0},
};

const struct key upstream_flow_item = {
	.kind = KIND_MAP, .keys = upstream_flow_keys, .size = sizeof(struct upstream_service_flow),
	HELP("an upstream service flow"),
};

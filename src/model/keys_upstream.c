/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream's keys of a service group, and those of a modem's upstream service flows. */
#include "model/key_rows.h"
#include "model/service_group.h"

/* One row a key, to be read as a table. */
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

const struct key upstream_keys[] = {
	{.name = "verify_source", BOOL, AT(struct upstream_config, verify_source),
	 .fallback = "true",
	 HELP("drop packets whose source address is none of their modem's")},
	{.name = "verify_crc", BOOL, AT(struct upstream_config, verify_crc), .fallback = "false",
	 HELP("drop Ethernet frames whose CRC is wrong after decryption")},
	{.name = "psp_numbering", ENUM(numberings), AT(struct upstream_config, psp_numbering),
	 .fallback = "flow",
	 HELP("what the sequence numbers of PSP count: the packets of each PSP flow of a session, "
	      "or all packets of a session")},
	{.name = "reorder_timeout", .kind = KIND_DURATION,
	 AT(struct upstream_config, reorder_timeout_ns), .min = 0, .max = SECOND,
	 .fallback = "5 ms", HELP("a missing PSP packet or segment is waited for so long")},
	{.name = "frame_timeout", .kind = KIND_DURATION,
	 AT(struct upstream_config, frame_timeout_ns), .min = MILLISECOND, .max = 60 * SECOND,
	 .fallback = "2 s", HELP("an incomplete frame or burst is kept so long")},
	{.name = "held_by_modem", SIZE(8000, 16000000), AT(struct upstream_config, held_by_modem),
	 .fallback = "256 kB",
	 HELP("memory of buffers that wait for missing parts, of one modem; the oldest is given "
	      "up first")},
	{.name = "held", SIZE(64000, 256000000), AT(struct upstream_config, held),
	 .flag = offsetof(struct upstream_config, held_given), .fallback = "4 MB",
	 HELP("memory of packets that wait for missing parts, of all modems and bursts together, "
	      "and as much again of frames; at least held_by_modem. Where not given, the groups of "
	      "a server divide 4 MB and 500 kB more for each but the first")},
	{0},
};

static const struct key upstream_channel_keys[] = {
	{.name = "id", .required = true, INTEGER(1, KEYS_MAX_ID), AT(struct upstream_channel, id),
	 HELP("unique number of the upstream channel, to be named by SIDs")},
	{.name = "type", .required = true, ENUM(types), AT(struct upstream_channel, type),
	 HELP("modulation of the channel, and with it the UEPI format of its bursts")},
	{.name = "rate", .required = true, .kind = KIND_RATE, AT(struct upstream_channel, rate),
	 .min = 1000, .max = UINT64_C(1000000000000), .example = "30.72 Mbps",
	 HELP("what the channel carries")},
	{.name = "session", .required = true, INTEGER(1, UINT32_MAX),
	 AT(struct upstream_channel, session), .example = "0x00020001",
	 HELP("L2TPv3 session ID of its bursts, unique among all sessions of the upstream")},
	{.name = "request_session", INTEGER(1, UINT32_MAX),
	 AT(struct upstream_channel, request_session), .example = "0x00021001",
	 HELP("L2TPv3 session ID of its bandwidth requests; where not given, they are taken from "
	      "the bursts")},
	{.name = "ranging_session", INTEGER(1, UINT32_MAX),
	 AT(struct upstream_channel, ranging_session), .example = "0x00022001",
	 HELP("L2TPv3 session ID of its ranging bursts; where not given, there is none")},
	{0},
};

const struct key upstream_channel_item = {
	.kind = KIND_MAP, .keys = upstream_channel_keys, .size = sizeof(struct upstream_channel),
	HELP("an upstream channel"),
};

/* The reader puts the channel's id where its index will stand; the check resolves it. */
static const struct key sid_keys[] = {
	{.name = "channel", .required = true, INTEGER(1, KEYS_MAX_ID),
	 AT(struct upstream_sid, channel), HELP("id of an upstream channel")},
	{.name = "sid", .required = true, INTEGER(1, SG_MAX_SID), AT(struct upstream_sid, sid),
	 .example = "0x0001", HELP("service ID that is granted to, unique on its channel")},
	{0},
};

ITEM(sid_item, struct upstream_sid, sid_keys, "a SID on one upstream channel");

static const struct key sid_cluster_keys[] = {
	{.name = "id", .required = true, INTEGER(0, SG_MAX_SID_CLUSTERS - 1),
	 AT(struct sid_cluster, id),
	 HELP("number of the cluster in segment headers, unique in the service flow")},
	{.name = "sids", .required = true,
	 LIST_OF(struct sid_cluster, sids, sid_count, &sid_item), .min = 1,
	 .max = SG_MAX_UPSTREAM_CHANNELS, HELP("its SIDs, at most one a channel")},
	{0},
};

ITEM(sid_cluster_item, struct sid_cluster, sid_cluster_keys,
     "SIDs that the service flow uses alike");

static const struct key upstream_flow_keys[] = {
	{.name = "id", .required = true, INTEGER(1, UINT32_MAX),
	 AT(struct upstream_service_flow, id),
	 HELP("service flow ID, unique in the service group, also among downstream flows")},
	{.name = "segment_header", BOOL, AT(struct upstream_service_flow, segment_header),
	 .fallback = "true",
	 HELP("continuous concatenation and fragmentation: every grant is filled with a segment "
	      "that has a header")},
	{.name = "sid_clusters", .required = true,
	 LIST_OF(struct upstream_service_flow, clusters, cluster_count, &sid_cluster_item),
	 .min = 1, .max = SG_MAX_SID_CLUSTERS,
	 HELP("SID clusters of the flow; without segment headers exactly one")},
	{0},
};

const struct key upstream_flow_item = {
	.kind = KIND_MAP, .keys = upstream_flow_keys, .size = sizeof(struct upstream_service_flow),
	HELP("an upstream service flow"),
};

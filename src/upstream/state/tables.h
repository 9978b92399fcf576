/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the upstream: sessions, SIDs, and the state of each session, flow and stream. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_hash.h>
#include <rte_mbuf.h>

#include "crypto/crypto.h"
#include "model/live/live_group.h"
#include "model/service_group.h"
#include "upstream/state/chain.h"
#include "upstream/state/order.h"
#include "upstream/state/pending.h"
#include "upstream/state/slots.h"
#include "wire/psp.h"
#include "wire/uepi.h"

#define US_PSP_FLOWS (PSP_FLOW_MAX + 1)
#define US_PSP_WINDOW 32
#define US_SEGMENT_WINDOW 63
#define US_SEQUENCE_MASK 0x1fff /* of segment headers */

enum us_session_kind {
	US_DATA,
	US_REQUESTS,
	US_RANGING,
	US_SESSION_KINDS,
};

/* A burst without its trailer. */
struct us_burst {
	struct us_chain payload;
	uint32_t bytes;
	uint32_t burst_id; /* OFDMA */
	uint16_t pieces;
	uint16_t sid;
	bool open; /* its header was received */
	bool request; /* in a request opportunity */
	bool skipping; /* the burst was dropped: skip segments up to the next header */
	struct pending pending;
};

/* One PSP flow of a session. */
struct us_psp_flow {
	struct order order;
	struct pending pending; /* packets behind a gap */
	struct us_burst burst;
};

struct us_session {
	uint32_t id; /* L2TPv3 session ID */
	uint16_t channel; /* index */
	enum us_session_kind kind;
	enum uepi_format format;
	struct us_psp_flow flows[US_PSP_FLOWS];
};

/* The sessions of an upstream channel, by kind; US_NONE: no such session. */
struct us_channel {
	uint32_t sessions[US_SESSION_KINDS]; /* index */
};

/* The part of a frame that the stream expects next. */
enum us_phase {
	US_BOUNDARY, /* the first byte of a frame */
	US_HEADER, /* the rest of an incomplete header */
	US_BODY, /* `missing` bytes of its PDU */
	US_SKIP, /* `missing` bytes of a dropped frame */
};

/* The frames of a service flow and SID cluster, in order. */
struct us_stream {
	struct order order; /* of segments */
	struct rte_mbuf *frame; /* incomplete; its header in US_HEADER, its PDU in US_BODY */
	uint32_t missing;
	uint32_t flow; /* index */
	uint32_t modem; /* index */
	enum us_phase phase;
	uint8_t cluster; /* SID cluster ID */
	bool lost; /* the next frame boundary is unknown until the next pointer */
	bool gap; /* segments before the next one are missing */
	struct pending segments_pending;
	struct pending frame_pending;
} __rte_cache_aligned;

#define US_GENERATIONS 2 /* of a modem's key; one without a schedule does not exist */

/* Fragments of one frame of a pre-3.0 modem, decrypted. */
struct us_fragments {
	struct us_chain chain;
	uint32_t bytes;
	uint16_t count;
	uint8_t sequence; /* expected next */
	struct pending pending;
};

struct us_flow {
	uint32_t modem; /* index; PENDING_NO_MODEM: of the ranging sessions */
	uint16_t sid_count;
	uint8_t stream_count; /* one per SID cluster */
	bool segment_header : 1;
	bool has_key : 1; /* frames must be encrypted */
	bool overwrites_tos : 1;
	const uint32_t
		*sids; /* us_sid_key() of all channels and clusters; in its struct us_modem_data */
	struct crypto_key keys[US_GENERATIONS]; /* the current one and the next */
	uint32_t streams[SG_MAX_SID_CLUSTERS]; /* index */
	struct us_fragments fragments;
} __rte_cache_aligned;

/* The source addresses of a modem, in memory of its struct us_modem_data (slots.h). */
struct us_modem {
	const uint32_t *ipv4; /* in network order */
	const uint8_t (*ipv6)[16];
	uint16_t ipv4_count;
	uint16_t ipv6_count;
	uint32_t change; /* number of the last one */
	/* ns, when the token bucket for frames without an address of the modem will be full
	 * (verify_source.c) */
	uint64_t control_at;
	/* US_GENERATIONS replaced keys, while pending frames may need them; else NULL */
	const struct crypto_key *retired;
};

struct us_tables {
	struct us_session *sessions;
	uint32_t session_count;
	struct us_channel *channels;
	uint32_t channel_count;
	struct us_flow *flows; /* the last one belongs to the ranging sessions */
	struct tos_masks *tos; /* by flow, of those that overwrite it */
	uint32_t flow_count;
	struct us_stream *streams; /* the last one belongs to the ranging sessions */
	uint32_t stream_count;
	struct us_modem *modems;
	uint32_t modem_count;
	struct rte_hash *by_session; /* session ID -> index */
	struct rte_hash *by_sid; /* us_sid_key() -> stream */
	struct us_slots slots;
};

static inline uint32_t us_ranging_stream(const struct us_tables *t) {
	return t->stream_count - 1;
}

/* Whether the SID belongs to the flow, on any channel. */
bool us_flow_has_sid(const struct us_flow *f, uint16_t sid);

/* The stream of a SID on a channel; NULL if no modem has it. */
struct us_stream *us_stream_of_sid(struct us_tables *t, uint32_t channel, uint16_t sid);

/* The flow's stream by the SID cluster ID of a segment header; NULL if the flow has no such
 * cluster. */
struct us_stream *us_cluster_stream(struct us_tables *t, const struct us_flow *f, uint8_t cluster);

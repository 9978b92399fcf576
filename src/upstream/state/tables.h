/* SPDX-License-Identifier: BSD-3-Clause */
/* What the upstream stages look up: sessions, SIDs, and the state of each session, flow and stream. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_hash.h>
#include <rte_mbuf.h>

#include "crypto/crypto.h"
#include "model/live/live_group.h"
#include "model/service_group.h"
#include "upstream/state/chain.h"
#include "upstream/state/hold.h"
#include "upstream/state/order.h"
#include "upstream/state/places.h"
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

/* A burst of which the trailer has not come. */
struct us_burst {
	struct us_chain payload;
	uint32_t bytes;
	uint32_t burst_id; /* OFDMA */
	uint16_t pieces;
	uint16_t sid;
	bool open; /* its header has come */
	bool request; /* in an opportunity for requests */
	bool passing; /* it was dropped: segments up to the next header are passed over */
	struct hold hold;
};

/* One PSP flow of a session. */
struct us_psp_flow {
	struct order order;
	struct hold hold; /* of packets that wait */
	struct us_burst burst;
};

struct us_session {
	uint32_t id; /* of L2TPv3 */
	uint16_t channel; /* index */
	enum us_session_kind kind;
	enum uepi_format format;
	struct us_psp_flow flows[US_PSP_FLOWS];
};

/* The sessions of an upstream channel, by kind; US_NONE where it has none. */
struct us_channel {
	uint32_t sessions[US_SESSION_KINDS]; /* index */
};

/* What of a frame is still to come. */
enum us_phase {
	US_BOUNDARY, /* a frame begins next */
	US_HEADER, /* its header is not complete */
	US_BODY, /* `missing` bytes of its PDU */
	US_PASS, /* `missing` bytes of a frame that was dropped */
};

/* The frames of a service flow and SID cluster, in their order. */
struct us_stream {
	struct order order; /* of segments */
	struct rte_mbuf *frame; /* incomplete: in US_HEADER its header, in US_BODY its PDU */
	uint32_t missing;
	uint32_t flow; /* index */
	uint32_t modem; /* index */
	enum us_phase phase;
	uint8_t cluster; /* SID cluster ID */
	bool lost; /* where the next frame begins is known at the next pointer only */
	bool gap; /* segments before the next one are missing */
	struct hold segments_hold;
	struct hold frame_hold;
} __rte_cache_aligned;

#define US_GENERATIONS 2 /* of a modem's key; one without a schedule is not there */

/* Fragments of one frame of a pre-3.0 modem, decrypted. */
struct us_fragments {
	struct us_chain chain;
	uint32_t bytes;
	uint16_t count;
	uint8_t sequence; /* of the next one */
	struct hold hold;
};

struct us_flow {
	uint32_t modem; /* index; HOLD_NOBODY: of the ranging sessions */
	uint16_t sid_count;
	uint8_t stream_count; /* one a SID cluster */
	bool segment_header : 1;
	bool has_key : 1; /* frames must be encrypted */
	const uint32_t
		*sids; /* us_sid_key() on all channels and in all clusters; its modem's own */
	struct crypto_key keys[US_GENERATIONS]; /* the present one and the next */
	uint32_t streams[SG_MAX_SID_CLUSTERS]; /* index */
	struct us_fragments fragments;
} __rte_cache_aligned;

/* The source addresses of a modem, which are its own (places.h). */
struct us_modem {
	const uint32_t *ipv4; /* in network order */
	const uint8_t (*ipv6)[16];
	uint16_t ipv4_count;
	uint16_t ipv6_count;
	uint32_t change; /* the number of the last one */
	/* ns: when the token bucket of frames that need no address of the modem will be full (verify_source.c) */
	uint64_t control_at;
	/* US_GENERATIONS that were replaced, while frames may be on their way that need them; else NULL */
	const struct crypto_key *retired;
};

struct us_tables {
	struct us_session *sessions;
	uint32_t session_count;
	struct us_channel *channels;
	uint32_t channel_count;
	struct us_flow *flows; /* the last one is that of the ranging sessions */
	uint32_t flow_count;
	struct us_stream *streams; /* the last one, too */
	uint32_t stream_count;
	struct us_modem *modems;
	uint32_t modem_count;
	struct rte_hash *by_session; /* session ID -> index */
	struct rte_hash *by_sid; /* us_sid_key() -> stream */
	struct us_places places;
};

static inline uint32_t us_ranging_stream(const struct us_tables *t) {
	return t->stream_count - 1;
}

/* Whether the SID is one of the flow's, on any channel. */
bool us_flow_has_sid(const struct us_flow *f, uint16_t sid);

/* The stream that a SID on a channel belongs to; NULL where no modem has it. */
struct us_stream *us_stream_of_sid(struct us_tables *t, uint32_t channel, uint16_t sid);

/* The stream of the flow's SID cluster, by the ID in a segment header; NULL where it has none. */
struct us_stream *us_cluster_stream(struct us_tables *t, const struct us_flow *f, uint8_t cluster);

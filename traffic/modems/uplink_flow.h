/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service flows and their transmissions. A stream is one SID cluster of a flow, with its own frames and
 * sequence numbers, as frames never span clusters. Packets of a stream stay in order.
 *
 *     frames      | 1      | 2                 | 3   | 4                | 5 ..
 *     grants      | segment header, 1, 2 ..    | segment header, .. 2, 3, 4 .. |
 *                                            ^ rest: bytes of an unfinished frame, for the next grant
 *
 * Flows without segment headers (before DOCSIS 3.0) alternate: they send whole frames after a concatenation
 * header, or one concatenation in fragments over several grants.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/service_group.h"
#include "modems/uplink_frames.h"
#include "proof/expected_rewrite.h"
#include "random/random.h"
#include "rphy/uplink_slot.h"
#include "wire/uepi.h"

#define UPLINK_REMEMBERED 256 /* packets of a stream whose time of sending is kept */
#define UPLINK_REQUEST_UNIT 4 /* N, bytes (MULPI, multiplier to number of bytes requested) */
#define UPLINK_FLIPS 64 /* capacity of wrong bits per grant */
#define UPLINK_MINISLOT 16 /* bytes, the unit of requests of pre-3.0 modems */

/* A wrong bit, set by an impairment. */
struct uplink_flip {
	uint16_t at; /* offset in the buffer */
	uint8_t mask;
};

struct uplink_stream {
	const struct sid_cluster *cluster;
	struct uplink_modem *modem;
	uint32_t owner; /* index of the modem in the service group */
	uint32_t index;
	bool segment_header;
	bool planned; /* is part of the current plan */
	uint8_t next_sid;
	uint16_t sequence; /* of the next segment, modulo 8,192; pre-3.0: of the next fragment */
	uint32_t made; /* number of packets made */
	uint32_t ended; /* of these, packets whose last byte is in a filled grant */
	uint32_t left; /* bytes of unfinished frames */
	uint32_t left_packets; /* packets that end with the last of these bytes */
	uint32_t left_at; /* pre-3.0: offset of these bytes in `leftover` */
	uint32_t units; /* pre-3.0: number of bursts and fragmented units begun */
	uint32_t rekeyed; /* value of `made` when the modem's current key was set */
	uint8_t *leftover;
	/* For scheduled modems (grants/): ring of arrival times by packet number. */
	uint64_t *arrivals;
	uint32_t arrivals_mask;
	uint32_t arrived; /* packets in total, of which `made` are made */
	bool scheduled;
	uint64_t sent_at[UPLINK_REMEMBERED]; /* by sequence number; 0: not yet */
};

struct uplink_flow {
	uint32_t first; /* index of its first SID cluster in `clusters` */
	uint32_t count;
	uint32_t next; /* of these, the one that gets the flow's next grant */
};

/* A SID cluster and the number of its stream. */
struct uplink_cluster {
	struct sid_cluster cluster;
	uint32_t stream;
	uint32_t modem; /* index in the plan */
	bool segment_header;
	struct rewrite rewrite;
};

/* The upstream flows of a configuration. Has copies of all that it needs from it. */
struct uplink_plan {
	struct uplink_modem *modems; /* in the order of the service group */
	struct uplink_flow *all;
	struct uplink_cluster *clusters;
	struct upstream_sid *sids;
	struct key_store *store;
	uint32_t modem_count;
	uint32_t count;
	uint32_t cluster_count;
	uint32_t sid_count;
};

/* Inputs of a plan for a service group that changes. */
struct uplink_plan_follow {
	/* stream numbers by index in `clusters`; NULL: numbered in sequence */
	const uint32_t *streams;
	const bool *silent; /* by modem: it sends nothing; NULL: all may send */
};

struct uplink_flows {
	struct uplink_plan plan;
	struct uplink_stream *streams;
	uint8_t *leftovers;
	uint32_t stream_count; /* capacity */
	uint32_t next; /* index of the flow that gets the next grant */
	uint32_t unfinished; /* number of streams with an unfinished frame */
	uint64_t sent; /* packets */
	uint64_t sent_bytes; /* Ethernet frames without CRC */
};

/* A grant of a SID and its contents. */
struct uplink_grant {
	struct uplink_slot slot;
	struct rte_mbuf *buffer; /* UPLINK_GRANT_SLACK bytes longer than the grant */
	struct uplink_stream *stream;
	const struct upstream_sid *sid;
	uint32_t size; /* bytes of burst payload */
	bool whole; /* for one packet with its overhead; leaves no unfinished frame */
	bool management; /* must include a RNG-REQ and a request frame */
	uint32_t front; /* bytes at the front that continue the previous grant */
	uint32_t filled; /* bytes of frames in the buffer, including those beyond the grant */
	struct uplink_ended ended;
	struct uepi_request request; /* request of the burst; size 0: none */
	const uint8_t *payload; /* set by uplink_grant_finish() */
	uint32_t payload_size;
	unsigned flip_count;
	struct uplink_flip flips[UPLINK_FLIPS]; /* applied to the encrypted frames */
};

/* The size of a grant for a whole packet with all overhead before it. */
#define UPLINK_GRANT_WHOLE (UPLINK_FRAME_MAX + UPLINK_FRAME_SLACK + 64)
#define UPLINK_GRANT_SLACK (2 * UPLINK_FRAME_MAX + UPLINK_FRAME_SLACK + 64)

/*
 * Finds the flows of the modems that have an address, and gets their keys. Modems with `newest` use the
 * newer of two key generations, others both in alternation. Returns 0, or -1 after a message if memory or
 * crypto sessions are short. The caller frees it with uplink_plan_free() in either case.
 */
int uplink_plan_create(struct uplink_plan *p, const struct service_group *sg,
		       const struct uplink_plan_follow *follow, bool newest,
		       struct key_store *store);

void uplink_plan_free(struct uplink_plan *p);

/* Finds the rewrites of the plan's streams; `streams` is the capacity of stream numbers. Returns
 * false after a message if memory is short. */
bool uplink_plan_rewrites(const struct uplink_plan *p, uint32_t streams, uint32_t magic,
			  struct rewrites *r);

/* Whether the modem has an address and an upstream flow. */
bool uplink_modem_sends(const struct modem *m);

/*
 * Creates the streams of a plan, which the flows then own. `capacity` is the capacity of streams; 0: those of
 * the plan. `grant` is the size of the largest grants. Returns 0, or -1 after a message. The caller frees
 * it with uplink_flows_free() in either case.
 */
int uplink_flows_create(struct uplink_flows *f, const struct uplink_plan *plan, uint32_t grant,
			uint32_t capacity);

void uplink_flows_free(struct uplink_flows *f);

/* Replaces the plan; `next` then holds the previous one. No grant may be in use. Streams in `fresh`
 * restart; streams that are not in the plan any more discard unfinished frames. */
void uplink_flows_apply(struct uplink_flows *f, struct uplink_plan *next, const uint32_t *fresh,
			uint32_t fresh_count);

/* Exchanges the keys of a modem with those of `next`, which has the same index in the group. No
 * grant may be in use. */
void uplink_flows_rekey(struct uplink_flows *f, struct uplink_modem *next);

/* A random modem that sends, by its index in the service group, other than `modem`; there must be one. */
uint32_t uplink_flows_other_modem(const struct uplink_flows *f, struct random *random,
				  uint32_t modem);

/* Restarts packet numbers at 0; segment and fragment numbers continue. No stream may have an
 * unfinished frame. */
void uplink_flows_restart(struct uplink_flows *f);

/* Assigns the next grant to a SID in round robin over flows, their clusters and the SIDs of these.
 * With `rest_only`, only to streams with an unfinished frame, of which there must be one. */
void uplink_flows_grant(struct uplink_flows *f, bool rest_only, struct uplink_grant *g);

/* The next stream in round robin over flows and their clusters. */
struct uplink_stream *uplink_flows_next(struct uplink_flows *f);

/* Counts packets that were handed at `tsc` to the port, or to an impairment before it. */
void uplink_flows_ended(struct uplink_flows *f, const struct uplink_ended *ended, uint64_t tsc);

/* Packets made in one round. The caller sets `tsc`, and the counts to 0; filling grants adds to these. */
struct uplink_made {
	uint64_t tsc; /* time at which they are made */
	unsigned packets;
	uint64_t bytes; /* Ethernet frames without CRC */
};

/* Counts a stream's next packet as made, also in `made`. Returns its tag. */
struct packet_tag uplink_stream_tag(struct uplink_stream *s, const struct uplink_frames *frames,
				    struct uplink_made *made);

/* Counts that the next `packets` packets of the stream end in this grant. */
void uplink_grant_end(struct uplink_grant *g, const struct uplink_frames *frames, uint32_t packets);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service flows and what they send. A stream is what keeps its order: each SID cluster of a flow has
 * one of its own, with its own frames and sequence numbers, as frames never span clusters.
 *
 *     frames      | 1      | 2                 | 3   | 4                | 5 ..
 *     grants      | segment header, 1, 2 ..    | segment header, .. 2, 3, 4 .. |
 *                                            ^ rest: what of a frame begun is left for the next grant
 *
 * Flows without segment headers (before DOCSIS 3.0) put whole frames behind a concatenation header,
 * or cut one concatenation into fragments over several grants, in turn.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/service_group.h"
#include "modems/uplink_frames.h"
#include "random/random.h"
#include "rphy/uplink_slot.h"
#include "wire/uepi.h"

#define UPLINK_REMEMBERED 256 /* packets of a stream whose time of sending is known */
#define UPLINK_REQUEST_UNIT 4 /* N, bytes (MULPI, multiplier to number of bytes requested) */
#define UPLINK_FLIPS 64 /* wrong bits in the frames of a grant */
#define UPLINK_MINISLOT 16 /* bytes, as pre-3.0 modems ask for them */

/* A wrong bit, asked for as an impairment. */
struct uplink_flip {
	uint16_t at; /* in the buffer */
	uint8_t mask;
};

struct uplink_stream {
	const struct sid_cluster *cluster;
	struct uplink_modem *modem;
	uint32_t owner; /* the modem's place in the group */
	uint32_t index;
	bool segment_header;
	bool placed; /* in the plan */
	uint8_t next_sid;
	uint16_t sequence; /* of the next segment, modulo 8,192; pre-3.0: of the next fragment */
	uint32_t made; /* packets */
	uint32_t ended; /* of these, in grants with their last byte */
	uint32_t left; /* bytes of what was begun and not granted */
	uint32_t left_packets; /* that end with the last of these bytes */
	uint32_t left_at; /* pre-3.0: where in `rest` they are */
	uint32_t units; /* pre-3.0: bursts and fragmented units begun */
	uint32_t rekeyed; /* packets that were made when the modem took the key that it uses now */
	uint8_t *rest;
	/* Where packets wait for grants (grants/): by their numbers the times at which they came. */
	uint64_t *arrivals;
	uint32_t arrivals_mask;
	uint32_t arrived; /* packets, of which `made` are made */
	bool waits;
	uint64_t sent_at[UPLINK_REMEMBERED]; /* by sequence number; 0: not yet */
};

struct uplink_flow {
	uint32_t first; /* its first place */
	uint32_t count;
	uint32_t next;
};

/* A SID cluster, and the stream that it has. */
struct uplink_place {
	struct sid_cluster cluster;
	uint32_t stream;
	uint32_t modem; /* index in the plan */
	bool segment_header;
};

/* What follows from the configuration; it has copies of what it needs of it. */
struct uplink_plan {
	struct uplink_modem *modems; /* by their place in the group */
	struct uplink_flow *all;
	struct uplink_place *places;
	struct upstream_sid *sids;
	struct key_store *store;
	uint32_t modem_count;
	uint32_t count;
	uint32_t place_count;
	uint32_t sid_count;
};

/* What a plan is made with for a group that changes. */
struct uplink_plan_follow {
	const uint32_t *streams; /* by place: their numbers; NULL: as they come */
	const bool *silent; /* by modem: it sends nothing; NULL: all may send */
};

struct uplink_flows {
	struct uplink_plan plan;
	struct uplink_stream *streams;
	uint8_t *rests;
	uint32_t stream_count; /* that there can be */
	uint32_t next;
	uint32_t unfinished; /* streams with something left */
	uint64_t sent; /* packets */
	uint64_t sent_bytes; /* Ethernet frames without CRC */
};

/* What a SID may send, and what it does. */
struct uplink_grant {
	struct uplink_slot slot;
	struct rte_mbuf *buffer; /* UPLINK_GRANT_SLACK bytes longer than the grant */
	struct uplink_stream *stream;
	const struct upstream_sid *sid;
	uint32_t size; /* bytes of burst payload granted */
	bool whole; /* for one packet and what goes with it, which leaves nothing over */
	bool management; /* a RNG-REQ and a request frame are due */
	uint32_t front; /* of these, bytes left over from the grant before */
	uint32_t filled; /* bytes of frames in the buffer, beyond the grant too */
	struct uplink_ended ended;
	struct uepi_request request; /* what the burst asks for; size 0: nothing */
	const uint8_t *payload; /* when cut */
	uint32_t payload_size;
	unsigned flip_count;
	struct uplink_flip flips[UPLINK_FLIPS]; /* once the frames are encrypted */
};

/* The size of a grant for a whole packet, with everything that may stand before it. */
#define UPLINK_GRANT_WHOLE (UPLINK_FRAME_MAX + UPLINK_FRAME_SLACK + 64)
#define UPLINK_GRANT_SLACK (2 * UPLINK_FRAME_MAX + UPLINK_FRAME_SLACK + 64)

/*
 * Finds the flows of the modems that have an address, and takes their keys. Where modems have `newest`, they
 * use the newer of two generations, else both in turn. Returns 0, or -1 when memory or sessions are
 * short. To be freed by uplink_plan_free() in either case.
 */
int uplink_plan_create(struct uplink_plan *p, const struct service_group *sg,
		       const struct uplink_plan_follow *follow, bool newest,
		       struct key_store *store);

void uplink_plan_free(struct uplink_plan *p);

/* Whether the modem has what it takes to send. */
bool uplink_modem_sends(const struct modem *m);

/*
 * Streams for a plan, which the flows then have, with room for `room` of them, 0: as many as it has. Returns
 * 0, or -1 after a message. To be freed by uplink_flows_free() in either case. `grant` is the size of the
 * largest grants.
 */
int uplink_flows_create(struct uplink_flows *f, const struct uplink_plan *plan, uint32_t grant,
			uint32_t room);

void uplink_flows_free(struct uplink_flows *f);

/* The flows of another plan from now on, when no grant is under way; `next` then has what was before.
 * Streams that `fresh` names begin, those that are in no place any more give up what they have begun. */
void uplink_flows_take(struct uplink_flows *f, struct uplink_plan *next, const uint32_t *fresh,
		       uint32_t fresh_count);

/* A modem takes the keys of `next`, of the same place, when no grant is under way; `next` then has those of
 * before. */
void uplink_flows_rekey(struct uplink_flows *f, struct uplink_modem *next);

/* Any modem that sends, by its place in the group, but `modem`; there must be another. */
uint32_t uplink_flows_other_modem(const struct uplink_flows *f, struct random *random,
				  uint32_t modem);

/* When nothing is left of what was begun: packets count from 0; segments and fragments go on. */
void uplink_flows_restart(struct uplink_flows *f);

/* Gives the next grant to a SID: flow by flow, in each its clusters and their SIDs in turn. With
 * `finish` only to streams that have something left, of which there is one. */
void uplink_flows_grant(struct uplink_flows *f, bool finish, struct uplink_grant *g);

/* The next stream in turn: flow by flow, in each its clusters. */
struct uplink_stream *uplink_flows_next(struct uplink_flows *f);

/* Packets were handed to the port at `tsc`, or to what is in between as an impairment. */
void uplink_flows_ended(struct uplink_flows *f, const struct uplink_ended *ended, uint64_t tsc);

/* Packets that one round makes. */
struct uplink_made {
	uint64_t tsc;
	unsigned packets;
	uint64_t bytes; /* Ethernet frames without CRC */
};

/* The tag of the next packet of a stream. */
struct packet_tag uplink_stream_tag(struct uplink_stream *s, const struct uplink_frames *frames,
				    struct uplink_made *made);

/* Notes that the next `packets` packets of the stream end in this grant. */
void uplink_grant_end(struct uplink_grant *g, const struct uplink_frames *frames, uint32_t packets);

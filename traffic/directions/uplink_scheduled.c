/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends the upstream of scheduled modems. Packets arrive at the modems' queues at the configured
 * rate, independent of grants. Transmissions are sent when their minislots are over, in that
 * order. A burst takes the packets that are then at the head of its queue.
 */
#include "directions/uplink_scheduled.h"

#include <rte_cycles.h>

#include "directions/uplink_parts.h"
#include "grants/grants.h"
#include "modems/uplink_fill.h"
#include "pipeline/first_number.h"
#include "wire/segment.h"

#define ARRIVALS 128 /* maximum packets that arrive per round */
#define REQUEST_IUC 1
#define DRAIN_S 20 /* after the end, for modems that still wait for grants */
#define SHORTEST_FRAME 74 /* bytes: 64 plus MAC header and CRC */
#define BUFFERS_EXTRA \
	4 /* buffers per burst beside full packets: packets begun, request record or ranging */

/* Size of the frame that uplink_segment.c will make of the stream's next packet. */
static uint32_t next_size(const struct uplink *u, const struct uplink_stream *s, uint32_t number) {
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET,
		.privacy = s->modem->key_count > 0 ? PRIVACY_BP_UP2 : PRIVACY_NONE,
	};

	return uplink_frame_size(&u->frames, &h, s->index, number);
}

static void packets_arrive(struct uplink *u, uint64_t now) {
	unsigned count = pacing_round(&u->pacing, now, u->stopping ? 0 : ARRIVALS);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++) {
		struct uplink_stream *s = uplink_flows_next(&u->flows);
		uint32_t size = next_size(u, s, s->arrived);

		bytes += uplink_packet_size(&u->frames.packets, s->index, s->arrived);
		grants_arrive(u->scheduled, s, size, now);
	}
	pacing_spend(&u->pacing, bytes);
}

static const struct upstream_sid *sid_of(const struct uplink_stream *s,
					 const struct access_event *e) {
	for (size_t i = 0; i < s->cluster->sid_count; i++) {
		if (s->cluster->sids[i].channel == e->channel && s->cluster->sids[i].sid == e->sid)
			return &s->cluster->sids[i];
	}
	return &s->cluster->sids[0]; /* access uses no other SIDs */
}

/* Whether grants, frames to encrypt and buffers suffice for another burst of `size` bytes. */
static bool burst_reserve(struct uplink *u, uint32_t size) {
	const struct uplink_output *o = &u->rphy.output;
	unsigned buffers = size / (o->capacity / 2) + BUFFERS_EXTRA;

	return u->grant_count < UPLINK_GRANTS &&
	       u->frames.encryptor.count + size / SHORTEST_FRAME + 2 <= UPLINK_PIECES_MAX &&
	       u->stock_used + buffers <= o->stock_count;
}

static void burst_fill(struct uplink *u, const struct access_event *e, uint32_t bytes, bool last,
		       uint64_t now) {
	struct uplink_stream *s = &u->flows.streams[e->flow];
	struct uplink_grant *g = &u->grants[u->grant_count++];
	struct uplink_made made = {.tsc = now};

	g->stream = s;
	g->sid = sid_of(s, e);
	g->whole = g->management = false;
	g->size = SEGMENT_HEADER_SIZE + bytes;
	g->slot = (struct uplink_slot){
		.from_map = true,
		.iuc = e->iuc,
		.minislot = e->minislot,
		.size = SEGMENT_HEADER_SIZE + e->granted,
		.request = last ? e->request : 0,
		.request_unit = grants_unit(u->scheduled, e->flow),
	};
	u->scheduled->result.heard_bytes += last ? e->request : 0;
	u->stock_used += g->size / (u->rphy.output.capacity / 2) + BUFFERS_EXTRA;
	uplink_grant_fill(g, &u->flows, &u->frames, false, &made);
}

/* Sends a burst without bytes, as the R-PHY device reports an unused grant. */
static void unused_send(struct uplink *u, const struct access_event *e, uint64_t now) {
	struct uplink_burst burst = {
		.sid = e->sid,
		.segment_header = true,
		.unused = true,
		.slot = {.from_map = true,
			 .iuc = e->iuc,
			 .minislot = e->minislot,
			 .size = SEGMENT_HEADER_SIZE + e->granted},
	};

	u->scheduled->result.unused_bursts++;
	uplink_rphy_data(&u->rphy, e->channel, &burst, now);
}

static void request_send(struct uplink *u, const struct access_event *e, uint64_t now) {
	const struct uplink_stream *s = &u->flows.streams[e->flow];
	uint16_t units = (uint16_t)(e->request / grants_unit(u->scheduled, e->flow));
	uint8_t frame[DOCSIS_QUEUE_REQUEST_SIZE];
	struct uplink_burst burst = {
		.sid = e->sid,
		.slot = {.from_map = true,
			 .iuc = REQUEST_IUC,
			 .minislot = e->minislot,
			 .size = DOCSIS_QUEUE_REQUEST_SIZE},
		.request = {.size = units,
			    .n_bytes = true,
			    .cluster_valid = true,
			    .sid_cluster = s->cluster->id},
		.payload = frame,
	};

	if (grants_draw_request_loss(u->scheduled))
		return;
	burst.size = (uint32_t)docsis_queue_request_write(units, e->sid, frame);
	u->frames.requests++;
	u->scheduled->result.heard_bytes += e->request;
	if (u->rphy.channels[e->channel].has_requests)
		u->scheduled->result.records++;
	else
		u->scheduled->result.frames++;
	uplink_rphy_request(&u->rphy, e->channel, &burst, now);
}

static void station_send(struct uplink *u, const struct access_event *e, uint64_t now) {
	const struct uplink_stream *s = &u->flows.streams[e->flow];
	uint8_t message[UPLINK_RANGING_SIZE];
	struct uplink_burst burst = {.sid = e->sid, .payload = message};

	burst.slot = (struct uplink_slot){
		.from_map = true,
		.iuc = e->iuc,
		.minislot = e->minislot,
		.size = UPLINK_RANGING_SIZE,
	};
	if (!u->rphy.channels[e->channel].has_ranging)
		return;
	burst.size = uplink_frame_ranging(&u->frames, s->modem, e->sid, message);
	uplink_rphy_ranging(&u->rphy, e->channel, &burst, now);
}

/* Discards a packet after 16 unanswered requests, unless a part of it is already sent. */
static void give_up(struct uplink *u, const struct access_event *e) {
	struct uplink_stream *s = &u->flows.streams[e->flow];

	if (s->left > 0 || s->made == s->arrived ||
	    !grants_give_up(u->scheduled, e->flow, next_size(u, s, s->made)))
		return;
	s->made++;
	s->ended++;
}

static void filled_send(struct uplink *u, uint64_t now) {
	if (u->grant_count > 0)
		uplink_encrypt(&u->frames.encryptor);
	for (unsigned i = 0; i < u->grant_count; i++)
		uplink_grant_send(u, &u->grants[i], now);
	u->grant_count = 0;
	u->stock_used = 0;
}

/* Bytes of the next burst of a grant, which has `left` bytes. The CMTS accepts no longer bursts. */
static uint32_t part_of(uint32_t left) {
	return left < UPLINK_GRANT_LONGEST ? left : UPLINK_GRANT_LONGEST;
}

/* The CMTS takes the first segment that it receives of a stream as start of its sequence. Sends
 * that segment alone, as the second one on another channel could overtake it. */
static void first_sent(struct uplink *u, const struct uplink_stream *s, uint64_t now) {
	if ((uint16_t)(s->sequence - first_number()) > 1)
		return;
	filled_send(u, now);
	uplink_sessions_flush(&u->rphy.output, now, true);
}

/* Sends a grant in one or more bursts. Returns false if space is short; the next call continues. */
static bool data_send(struct uplink *u, const struct access_event *e, uint64_t now) {
	while (u->part_sent < e->bytes || u->part_sent == 0) {
		uint32_t part = part_of(e->bytes - u->part_sent);
		bool last = u->part_sent + part == e->bytes;

		first_sent(u, &u->flows.streams[e->flow], now);
		if (!burst_reserve(u, part)) {
			filled_send(u, now);
			if (!burst_reserve(u, part))
				return false;
		}
		u->scheduled->result.oversized += u->part_sent == 0 && !last;
		burst_fill(u, e, part, last, now);
		u->part_sent += part;
		if (last)
			break;
	}
	u->part_sent = 0;
	return true;
}

/* Sends a burst or request whose minislots are over. Returns false if the port accepts no more. */
static bool event_send(struct uplink *u, const struct access_event *e, uint64_t now) {
	if (e->kind == ACCESS_GIVEN_UP) {
		give_up(u, e);
		return true;
	}
	if (e->kind == ACCESS_BURST && (e->bytes > 0 || e->request > 0))
		return data_send(u, e, now);
	if (!burst_reserve(u, 0)) {
		filled_send(u, now);
		if (!burst_reserve(u, 0))
			return false;
	}
	u->stock_used += BUFFERS_EXTRA;
	if (e->kind == ACCESS_BURST)
		unused_send(u, e, now);
	else if (e->kind == ACCESS_REQUEST)
		request_send(u, e, now);
	else if (e->kind == ACCESS_STATION)
		station_send(u, e, now);
	return true;
}

static void events_send(struct uplink *u, uint64_t now) {
	const struct access_event *e;

	while ((e = grants_next(u->scheduled)) != NULL && event_send(u, e, now))
		grants_done(u->scheduled);
	filled_send(u, now);
	uplink_sessions_flush(&u->rphy.output, now, true);
}

unsigned uplink_scheduled_send(struct uplink *u, uint64_t now) {
	grants_round(u->scheduled);
	packets_arrive(u, now);
	if (u->stopping && u->drain_until == 0)
		u->drain_until = now + DRAIN_S * rte_get_tsc_hz();
	u->drain_is_over = u->stopping && now > u->drain_until;
	if (uplink_output_ready(&u->rphy.output))
		events_send(u, now);
	return uplink_transmit(u);
}

bool uplink_scheduled_empty(const struct uplink *u) {
	const struct uplink_output *o = &u->rphy.output;

	if (o->open_count > 0 || o->pending_count > 0 || !u->stopping)
		return false;
	return grants_idle(u->scheduled) || u->drain_is_over;
}

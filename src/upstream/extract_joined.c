/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extract joined: what fragments made is one or more frames again, in the clear; they are taken out as
 * those of a segment are. One unit is taken apart at a time: what came behind it waits until all of its
 * frames have gone on.
 */
#include "upstream/extract_joined.h"

#include "upstream/decrypt.h"
#include "upstream/stream.h"
#include "upstream/upstream.h"

#define STEPS (4 * PIPELINE_BURST) /* in what was joined, in one call */

/* Its buffers wait for nothing, but are in use. */
void us_joined_add(struct upstream *u, struct rte_mbuf *unit) {
	us_meta(unit)->frame.joined = true;
	u->extract_joined.units++;
	holds_use(&u->holds, HOLD_POOL_FRAMES, unit->nb_segs);
	queue_add(us_queue(u, US_JOINED), unit);
}

bool us_joined_waits(const struct upstream *u) {
	return u->extract_joined.cut.segment != NULL || u->list.queues[US_JOINED].count > 0;
}

static void unit_free(struct upstream *u, struct rte_mbuf *unit) {
	holds_used(&u->holds, HOLD_POOL_FRAMES, unit->nb_segs);
	rte_pktmbuf_free(unit);
}

static void unit_begin(struct upstream *u, struct rte_mbuf *unit) {
	const struct us_flow *flow = &u->tables.flows[us_meta(unit)->frame.flow];
	const struct us_stream *s = &u->tables.streams[flow->streams[0]];

	u->extract_joined.units--;
	/* one of its own: the flow's may have an incomplete frame, or be in work */
	u->extract_joined.stream =
		(struct us_stream){.flow = s->flow, .modem = s->modem, .cluster = s->cluster};
	u->extract_joined.cut = (struct us_cut){
		.segment = unit,
		.m = unit,
		.stream = &u->extract_joined.stream,
		.left = unit->pkt_len,
		.to_pointer = US_NO_POINTER,
		.channel = us_meta(unit)->frame.channel,
		.joined = true,
		.begun = true,
	};
}

/* Privacy of a frame that was decrypted as fragments: it must be in the clear now. Returns whether it
 * goes on. */
static bool joined_is_good(struct upstream *u, struct rte_mbuf *m) {
	const struct us_meta *meta = us_meta(m);

	if (meta->frame.privacy &&
	    !us_flow_has_sid(&u->tables.flows[meta->frame.flow], meta->frame.sid)) {
		drop(&u->counters, m, DROP_PRIVACY_SID);
		return false;
	}
	if (meta->frame.encrypted) {
		drop(&u->counters, m, DROP_KEY_UNKNOWN);
		return false;
	}
	return us_clear(u, m);
}

/* The next frame of the unit, or NULL where this step gave none. */
static struct rte_mbuf *unit_step(struct upstream *u) {
	struct us_cut *c = &u->extract_joined.cut;
	struct rte_mbuf *frame = NULL;
	struct us_output out = {.pkts = &frame};

	if (c->left > 0)
		us_stream_step(u, c, &out);
	if (c->left == 0) {
		holds_used(&u->holds, HOLD_POOL_FRAMES, c->segment->nb_segs);
		us_stream_end(u, c);
		u->extract_joined.done++;
	}
	return frame != NULL && joined_is_good(u, frame) ? frame : NULL;
}

/* Whether one more frame may go on: those out of fragments are more than went in, and must find room
 * in the line to the network port beside those that are in the crypto provider. */
static bool joined_has_room(const struct upstream *u, uint16_t kept) {
	return kept < 2 * PIPELINE_BURST &&
	       u->transmit.count + u->r.crypto->held + kept < u->transmit.most;
}

/* Behind what came in the burst, from the queue: what is not a unit goes on as it is. */
uint16_t us_extract_joined(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;

	for (unsigned steps = STEPS; steps > 0 && us_joined_waits(u) && joined_has_room(u, n);
	     steps--) {
		struct rte_mbuf *m;

		if (u->extract_joined.cut.segment != NULL) {
			m = unit_step(u);
			if (m != NULL)
				pkts[n++] = m;
			continue;
		}
		m = queue_take(us_queue(u, US_JOINED));
		if (us_meta(m)->frame.joined) {
			unit_begin(u, m);
		} else {
			pkts[n++] = m;
			u->extract_joined.done++;
		}
	}
	return n;
}

uint64_t us_extract_joined_held(const void *upstream, enum unit unit) {
	const struct upstream *u = upstream;

	if (unit != UNIT_FRAME)
		return 0;
	return (uint64_t)u->list.queues[US_JOINED].count - u->extract_joined.units;
}

void us_extract_joined_stop(void *upstream) {
	struct upstream *u = upstream;
	struct rte_mbuf *m;

	us_frame_drop(u, &u->extract_joined.stream, DROP_STOPPED);
	if (u->extract_joined.cut.segment != NULL)
		unit_free(u, u->extract_joined.cut.segment); /* counted as fragments */
	u->extract_joined.cut.segment = NULL;
	while ((m = queue_take(us_queue(u, US_JOINED))) != NULL) {
		if (us_meta(m)->frame.joined)
			unit_free(u, m);
		else
			drop(&u->counters, m, DROP_STOPPED);
	}
	u->extract_joined.units = 0;
}

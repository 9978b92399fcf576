/* SPDX-License-Identifier: BSD-3-Clause */
/* Impairs L2TPv3 packets between R-PHY device and CMTS: loss, duplication, reordering, delay. */
#include <rte_cycles.h>

#include "impairments/impair.h"

#define SESSION_BEGINS 8 /* packets spared */
#define BEHIND_MAX 8 /* maximum later packets of the session that overtake a reordered one */
/* distance in numbers at which it is sent at once; the CMTS' window is 32 */
#define BEHIND_NUMBERS 24
#define LATE_NUMBERS 40 /* distance in numbers at which the CMTS has given it up */

static bool may_hit(const struct impair_session *x) {
	const struct shadow *shadow = &x->impair->shadow;

	if (!x->data || x->closed < SESSION_BEGINS)
		return false;
	for (unsigned i = 0; i < x->shadow.count; i++) {
		const struct shadow_burst *b = x->shadow.pieces[i].burst;

		if (b == NULL || !impair_may_hit(&shadow->streams[b->stream], b->number))
			return false;
	}
	return true;
}

/* Draws the impairment of the packet that is closed; pre-3.0 bursts may forbid it. */
static enum impairment impaired_choose(struct impair_session *x, const struct uplink_output *o) {
	uint32_t allowed = impair_bit(IMPAIR_PSP_LOSS);
	enum impairment kind;

	if (o->pending_count < UPLINK_PENDING / 2)
		allowed |= impair_bit(IMPAIR_PSP_DUPLICATE);
	if (x->delayed_count < IMPAIR_DELAYED)
		allowed |= impair_bit(IMPAIR_PSP_REORDER) | impair_bit(IMPAIR_PSP_LATE);
	kind = impair_draw(x->impair, IMPAIR_PACKET, allowed);
	return kind != IMPAIRMENTS && may_hit(x) ? kind : IMPAIRMENTS;
}

static void hit(struct impair_session *x, enum impairment kind) {
	struct shadow *shadow = &x->impair->shadow;

	x->impair->hits[kind]++;
	for (unsigned i = 0; i < x->shadow.count; i++) {
		const struct shadow_burst *b = x->shadow.pieces[i].burst;

		shadow->streams[b->stream].hit_at = b->number;
		shadow->streams[b->stream].hit = true;
	}
}

static bool is_due(const struct impair_session *x, const struct impair_delayed *h) {
	int behind = (int16_t)(x->highest - h->number);

	if (h->late)
		return behind >= LATE_NUMBERS;
	return x->put >= h->release || behind >= BEHIND_NUMBERS;
}

static struct impair_delayed delayed_remove(struct impair_session *x, unsigned i) {
	struct impair_delayed h = x->delayed[i];

	x->delayed[i] = x->delayed[--x->delayed_count];
	x->impair->delayed--;
	return h;
}

static void put_one(struct impair_session *x, struct rte_mbuf *m, uint16_t number, bool late,
		    const struct uplink_ended *ended, unsigned ended_count) {
	struct impair *im = x->impair;

	uplink_output_put(im->output, m, ended, ended_count);
	shadow_count(&im->shadow, COUNTER_RECEIVED, 1);
	if (late)
		shadow_drop(&im->shadow, DROP_PSP_LATE);
	else if (x->begun && (int16_t)(x->highest - number) > 0)
		shadow_count(&im->shadow, COUNTER_PSP_REORDERED, 1);
	if (!x->begun || (int16_t)(number - x->highest) > 0)
		x->highest = number;
	x->begun = true;
	x->put++;
}

static void put_due(struct impair_session *x) {
	for (unsigned i = 0; i < x->delayed_count;) {
		struct impair_delayed h;

		if (!is_due(x, &x->delayed[i])) {
			i++;
			continue;
		}
		h = delayed_remove(x, i);
		put_one(x, h.m, h.number, h.late, NULL, 0);
		i = 0; /* one more packet was sent */
	}
}

static void impaired_delay(struct impair_session *x, struct rte_mbuf *m, uint16_t number,
			   bool late) {
	x->delayed[x->delayed_count++] = (struct impair_delayed){
		.m = m,
		.since = rte_rdtsc(),
		.release = x->put + 1 + random_below(&x->impair->random, BEHIND_MAX),
		.number = number,
		.late = late,
	};
	x->impair->delayed++;
}

/* Counts the packets in it as sent, even if the L2TPv3 packet is lost. */
static void note_ended(struct impair *im, const struct uplink_session *s) {
	for (unsigned i = 0; i < s->ended_count; i++)
		uplink_flows_ended(im->flows, &s->ended[i], rte_rdtsc());
}

static void put_twice(struct impair_session *x, struct uplink_session *s, struct rte_mbuf *m,
		      struct rte_mbuf *copy, uint16_t number) {
	put_one(x, m, number, false, s->ended, s->ended_count);
	uplink_output_put(x->impair->output, copy, NULL, 0);
	shadow_count(&x->impair->shadow, COUNTER_RECEIVED, 1);
	shadow_drop(&x->impair->shadow, DROP_PSP_DUPLICATE);
}

static void session_packet(struct uplink_session *s, struct rte_mbuf *m, uint16_t number) {
	struct impair_session *x = s->impair;
	struct impair *im = x->impair;
	enum impairment kind = impaired_choose(x, im->output);
	struct rte_mbuf *copy = NULL;

	if (kind == IMPAIR_PSP_DUPLICATE) {
		copy = rte_pktmbuf_copy(m, im->output->pool, 0, UINT32_MAX);
		if (copy == NULL)
			kind = IMPAIRMENTS;
	}
	if (kind != IMPAIRMENTS)
		hit(x, kind);
	x->closed++;
	shadow_packet(&im->shadow, &x->shadow, kind != IMPAIR_PSP_LOSS && kind != IMPAIR_PSP_LATE);
	switch (kind) {
	case IMPAIR_PSP_LOSS:
		rte_pktmbuf_free(m);
		note_ended(im, s);
		return;
	case IMPAIR_PSP_REORDER:
	case IMPAIR_PSP_LATE:
		impaired_delay(x, m, number, kind == IMPAIR_PSP_LATE);
		note_ended(im, s);
		return;
	case IMPAIR_PSP_DUPLICATE: put_twice(x, s, m, copy, number); break;
	default: put_one(x, m, number, false, s->ended, s->ended_count); break;
	}
	put_due(x);
}

static void session_segment(struct uplink_session *s, bool begin, bool end) {
	shadow_piece(&s->impair->shadow, s->shadow, begin, end);
}

const struct session_impairer impair_sessions = {
	.segment = session_segment,
	.packet = session_packet,
};

/* Sends packets delayed for too long. Drops late packets at the end, when `all` is set. */
static void expire(struct impair_session *x, uint64_t now, bool all) {
	for (unsigned i = 0; i < x->delayed_count;) {
		const struct impair_delayed *h = &x->delayed[i];
		struct impair_delayed removed;

		if (!all && (h->late || h->since > now || now - h->since < x->impair->max_delay)) {
			i++;
			continue;
		}
		removed = delayed_remove(x, i);
		if (removed.late)
			rte_pktmbuf_free(removed.m); /* unknown whether the CMTS has given it up */
		else
			put_one(x, removed.m, removed.number, false, NULL, 0);
		i = 0;
	}
	put_due(x);
}

void impair_release(struct impair *im, uint64_t now, bool all) {
	for (unsigned s = 0; s < im->session_count && im->delayed > 0; s++)
		expire(&im->sessions[s], now, all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Charges a sent packet to its channel and rates, and counts it. */
#pragma once

#include "scheduler/channels.h"
#include "scheduler/internal.h"
#include "scheduler/queue.h"

static inline void delay_count(struct scheduler *s, unsigned priority, uint32_t units) {
	struct delays *d = &s->delays[priority];
	unsigned shift = 28u - (unsigned)__builtin_clz(units | 15);

	d->units += units;
	d->buckets[shift * 8 + (units >> shift)]++;
}

/* Counts how long a receiver keeps a packet that arrives at `sent` before packets of lower
 * numbers. */
static inline void skew_count(struct scheduler_group_report *r, struct flow *f, int64_t sent) {
	uint64_t skew = (uint64_t)more(f->last_sent - sent, 0) / TICKS_PER_NS;

	f->last_sent = more(f->last_sent, sent);
	r->early_packets += skew > 0;
	r->skew_ns += skew;
	r->max_skew_ns = skew > r->max_skew_ns ? skew : r->max_skew_ns;
}

/* Reserved traffic ignores the aggregate rate. Its debt is limited to one bucket, so that it
 * does not block the modem for long. */
static inline void aggregate_charge(struct class *c, struct modem *m, uint32_t bytes, int64_t now) {
	bucket_spend(&m->aggregate, bytes, now);
	m->aggregate.full_at = less(m->aggregate.full_at, now + 2 * m->aggregate.depth);
	c->served = true;
}

/* Limits the credit and the debt of the reserved rate to RESERVED_SAVED. */
static inline void reserve_charge(struct scheduler *s, uint32_t flow, uint32_t bytes, int64_t now) {
	struct reserve *r = &s->reserves[flow];
	const bool forgiven = r->due > now + RESERVED_SAVED;

	r->due = less(more(r->due, now - RESERVED_SAVED), now + RESERVED_SAVED) +
		 cost_ticks(r->cost, bytes > r->packet ? bytes : r->packet);
	if (forgiven && wheel_is_set(&s->wheel, reserve_timer(s, flow)))
		wheel_set(&s->wheel, reserve_timer(s, flow), r->due);
}

/* Charges the packet to all rates of its flow. */
static inline void flow_charge(struct scheduler *s, uint32_t flow, uint32_t bytes, int64_t now) {
	struct flow *f = &s->flows[flow];

	if ((f->rates & FLOW_SUSTAINED) != 0)
		bucket_spend(&f->sustained, bytes, now);
	if ((f->rates & FLOW_PEAK) != 0)
		bucket_spend(&f->peak, bytes, now);
	if ((f->rates & FLOW_AGGREGATE) != 0)
		aggregate_charge(&s->classes[f->class], &s->modems[s->classes[f->class].modem],
				 bytes, now);
	if ((f->rates & FLOW_RESERVATION) != 0)
		reserve_charge(s, flow, bytes, now);
}

/* Sends the flow's first packet on the channel. Returns its bytes. */
static inline uint32_t flow_grant(struct scheduler *s, struct group *g, uint32_t flow,
				  uint32_t channel, int64_t now, struct scheduler_grant *out) {
	struct flow *f = &s->flows[flow];
	const struct queued_packet *w;
	uint32_t charged;
	int64_t sent;

	if (f->rates != 0) /* first, as flow_may_send() has just read them */
		flow_charge(s, flow, queue_head(s, f)->bytes, now);
	w = queue_pop(s, f);
	charged = channel_bytes(&s->channels[channel], w->bytes + f->header_bytes, now);
	sent = channel_charge(s, channel, charged, now);
	bucket_spend(&s->limit, charged, now);
	delay_count(s, s->classes[f->class].priority, (uint32_t)(now >> DELAY_SHIFT) - w->arrived);
	if (g->channel_count > 1)
		skew_count(&g->report, f, sent);
	f->granted_packets++;
	f->granted_bytes += w->bytes;
	out->packet = w->packet;
	out->flow = flow;
	out->channel = (uint16_t)channel;
	out->sequence = f->sequence++;
	return w->bytes;
}

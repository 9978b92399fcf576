/* SPDX-License-Identifier: BSD-3-Clause */
/* Enqueue: congestion control, and the activation of a flow by its first packet. */
#include "scheduler/internal.h"
#include "scheduler/queue.h"
#include "scheduler/round_robin.h"

/* Distance, in arrivals, at which flows and their data are prefetched. */
#define FAR 12
#define NEAR 6

/* The limit of queued bytes depends on how full the scheduler is. */
static uint32_t flow_buffer(const struct scheduler *s, const struct flow *f) {
	return f->buffers[(s->queued < s->nearly_full) + (s->queued < s->half_full)];
}

static bool flow_aqm_drops(struct scheduler *s, uint32_t flow, const struct flow *f, uint32_t bytes,
			   int64_t now) {
	struct aqm_state *a = &s->aqm[flow];
	struct aqm_queue q = {.bytes = f->bytes};

	if (f->aqm == SCHEDULER_WRED)
		return wred_drops(&a->wred, &q, now, &s->random);
	if (f->packets > 0) {
		uint32_t age = (uint32_t)(now >> DELAY_SHIFT) - queue_head(s, f)->arrived;

		q.head_age = (int64_t)age << DELAY_SHIFT;
	}
	return pie_drops(&a->pie, &q, bytes, now, &s->random);
}

static enum scheduler_verdict arrival_check(struct scheduler *s, const struct scheduler_arrival *a,
					    int64_t now) {
	const struct flow *f = &s->flows[a->flow];

	if (f->state == FLOW_UNUSED)
		return SCHEDULER_NO_FLOW;
	if (a->bytes == 0 || a->bytes > f->max_packet)
		return SCHEDULER_TOO_LONG;
	if (s->queued == s->packet_limit)
		return SCHEDULER_FULL;
	if ((uint64_t)f->bytes + a->bytes > flow_buffer(s, f))
		return SCHEDULER_FLOW_FULL;
	if (f->aqm == SCHEDULER_TAIL_DROP || !flow_aqm_drops(s, a->flow, f, a->bytes, now))
		return SCHEDULER_QUEUED;
	return f->aqm == SCHEDULER_WRED ? SCHEDULER_WRED_DROP : SCHEDULER_PIE_DROP;
}

static enum scheduler_verdict arrival_enqueue(struct scheduler *s,
					      const struct scheduler_arrival *a, int64_t now) {
	struct flow *f = &s->flows[a->flow];
	enum scheduler_verdict v = arrival_check(s, a, now);

	if (v != SCHEDULER_QUEUED) {
		s->drops[a->flow][v]++;
		return v;
	}
	queue_append(s, f, a, now);
	if (f->state != FLOW_IDLE)
		return v;
	if ((f->rates & FLOW_RESERVATION) != 0 && s->reserves[a->flow].due < now)
		s->reserves[a->flow].due = now;
	rr_enter(s, a->flow, now);
	if ((f->rates & FLOW_AGGREGATE) != 0)
		fetch(&s->modems[s->classes[f->class].modem]);
	return v;
}

/* Prefetches what an arrival will touch: the last chunk or the drop counters of a flow with
 * packets, or the class of one without. */
static void arrival_prefetch(const struct scheduler *s, const struct scheduler_arrival *a) {
	const struct flow *f = &s->flows[a->flow];

	if (f->packets > 0) {
		if ((uint64_t)f->bytes + a->bytes > flow_buffer(s, f))
			fetch(&s->drops[a->flow]);
		else
			fetch(&s->chunks[f->last]);
		return;
	}
	fetch(&s->classes[f->class]);
	fetch(&f->sustained); /* it may be served before rr_prefetch() reaches it */
}

unsigned scheduler_enqueue(struct scheduler *s, uint64_t time, const struct scheduler_arrival *in,
			   unsigned n, enum scheduler_verdict *verdicts) {
	int64_t now = scheduler_ticks(s, time);
	unsigned queued = 0;

	for (unsigned i = 0; i < n && i < FAR; i++)
		fetch(&s->flows[in[i].flow]);
	for (unsigned i = 0; i < n; i++) {
		if (i + FAR < n)
			fetch(&s->flows[in[i + FAR].flow]);
		if (i + NEAR < n)
			arrival_prefetch(s, &in[i + NEAR]);
		verdicts[i] = arrival_enqueue(s, &in[i], now);
		queued += verdicts[i] == SCHEDULER_QUEUED;
	}
	return queued;
}

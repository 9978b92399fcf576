/* SPDX-License-Identifier: BSD-3-Clause */
/* Dequeue: from the flow queues to the channels. */
#include "scheduler/choose.h"
#include "scheduler/clusters.h"
#include "scheduler/grant.h"
#include "scheduler/leads.h"

#define BATCH 16 /* packets of a cluster before the next cluster is served */
#define RECENT 512 /* packets; with fewer queued, their data is still in a near cache */

/* Called after the last queued packet of the flow was sent: the flow becomes idle. */
static inline void flow_end(struct scheduler *s, uint32_t flow, int64_t now) {
	struct flow *f = &s->flows[flow];

	f->state = FLOW_IDLE;
	if (f->aqm == SCHEDULER_WRED)
		wred_empty(&s->aqm[flow].wred, now);
}

/* Charges a sent packet to the flow and its class, the first of its class queue, and requeues
 * them. */
static inline void flow_sent(struct scheduler *s, uint32_t flow, uint32_t bytes, int64_t now) {
	struct flow *f = &s->flows[flow];
	uint32_t class = f->class;
	struct class *c = &s->classes[class];

	f->credit -= (int32_t)bytes;
	c->credit -= (int32_t)bytes;
	if (f->packets == 0) {
		class_leave(s, flow);
		if ((f->rates & FLOW_RESERVATION) != 0)
			wheel_clear(&s->wheel, reserve_timer(s, flow));
		flow_end(s, flow, now);
	} else if (f->credit <= 0) { /* while it is in the cache */
		flow_rotate(c, f);
	}
	if (c->flows != NONE && c->credit > 0)
		return;
	if (s->queued > RECENT)
		rr_prefetch(s, class);
	if (c->flows == NONE)
		class_end(s, class);
	else
		class_rotate(s, c);
}

/* The same for a packet of the reserved rate. It does not use the flow's credit. */
static void reserve_sent(struct scheduler *s, uint32_t group, uint32_t flow, int64_t now) {
	reserve_leave(s, group);
	if (s->flows[flow].packets > 0) {
		reserve_enter(s, flow, now);
	} else {
		rr_leave(s, flow);
		flow_end(s, flow, now);
	}
}

/* Whether the limit of the whole scheduler permits another packet at `now`. */
static bool limit_open(const struct scheduler *s, int64_t now) {
	return s->limit.full_at <= now + LEAD_TICKS;
}

/* Sends one packet of a class queue on the channel that is free first. Returns its bytes, or 0
 * if no packet may be sent. */
static inline uint32_t pick_send(struct scheduler *s, const struct cluster *c, struct pick pick,
				 int64_t now, struct scheduler_grant *out) {
	struct group *g = &s->groups[pick.group];
	int64_t free = first_free(s, g, now);
	uint32_t flow, bytes;

	if (free > c->horizon) {
		s->steps -= s->steps > 0;
		group_sleep(s, pick.group, free);
		return 0;
	}
	flow = class_queue_flow(s, pick, now);
	if (flow == NONE)
		return 0;
	bytes = flow_grant(s, g, flow, free & CHANNEL_MASK, now, out);
	if (pick.class_queue == RESERVED)
		reserve_sent(s, pick.group, flow, now);
	else
		flow_sent(s, flow, bytes, now);
	return bytes;
}

/* Whether the class queue still precedes all others of its cluster. */
static inline bool pick_still_first(const struct cluster *c, const struct group *g,
				    uint32_t class_queue, uint64_t round) {
	return g->waiting >> class_queue == 1 &&
	       (c->awake_count == 1 || g->queues[class_queue].round == round);
}

/* Whether other groups, or lower class queues of this group, wait while this one is served. */
static inline bool pick_counts(const struct scheduler *s, const struct cluster *c,
			       struct pick pick) {
	return c->awake_count > 1 ||
	       (s->groups[pick.group].waiting & ((1u << pick.class_queue) - 1)) != 0;
}

/* Serves a class queue while it precedes all others of the cluster. Returns the number of
 * packets and stores their bytes. */
static inline unsigned pick_send_all(struct scheduler *s, struct cluster *c, struct pick pick,
				     int64_t now, struct scheduler_grant *grants, unsigned n,
				     uint32_t *bytes) {
	struct group *g = &s->groups[pick.group];
	const uint64_t round = g->queues[pick.class_queue].round;
	unsigned done = 0;

	c->served[pick.class_queue] = round;
	*bytes = 0;
	do {
		uint32_t size = pick_send(s, c, pick, now, &grants[done]);

		if (size == 0)
			break;
		*bytes += size;
		done++;
	} while (done < n && limit_open(s, now) && pick_still_first(c, g, pick.class_queue, round));
	g->report.packets += done;
	return done;
}

/* Serves the first class queue of the cluster, or one packet of a lower priority if that is due. */
static inline unsigned cluster_serve(struct scheduler *s, struct cluster *c, int64_t now,
				     struct scheduler_grant *grants, unsigned n) {
	struct pick top = cluster_pick(s, c), pick = top;
	bool counts = pick_counts(s, c, top), lower;
	uint32_t bytes;
	unsigned done;

	if (c->lower_bytes >= LOWER_SHARE)
		pick = cluster_lower_pick(s, c, top);
	lower = pick.class_queue != top.class_queue;
	if (s->reducing)
		leads_apply(s, pick.group, pick.class_queue);
	done = pick_send_all(s, c, pick, now, grants, lower ? 1 : n, &bytes);
	if (lower)
		c->lower_bytes -= (uint32_t)less(c->lower_bytes, bytes * LOWER_COST);
	else if (counts && c->lower_bytes < LOWER_SHARE)
		c->lower_bytes += bytes;
	return done;
}

/* Handles timers that have expired. */
static void timers_expire(struct scheduler *s, int64_t now) {
	uint32_t timer;

	s->steps = TIMER_STEPS;
	while ((timer = wheel_pop(&s->wheel, now, &s->steps)) != NONE)
		rr_timer(s, timer, now);
}

unsigned scheduler_dequeue(struct scheduler *s, uint64_t time, struct scheduler_grant *grants,
			   unsigned n) {
	int64_t now = scheduler_ticks(s, time);
	unsigned done = 0;

	if (s->changing)
		clusters_continue(s);
	if (s->reducing)
		leads_continue(s);
	timers_expire(s, now);
	s->unfinished = s->steps == 0;
	s->steps = RR_STEPS;
	while (done < n && s->working != NONE && s->steps > 0 && limit_open(s, now)) {
		uint32_t cluster = s->working;

		if (now >=
		    s->clusters[cluster].horizon - WAKE_TICKS) /* most of the lead is used up */
			cluster_wake(s, cluster, now);
		ring_rotate(cluster_links(s), &s->working);
		done += cluster_serve(s, &s->clusters[cluster], now, grants + done,
				      n - done < BATCH ? n - done : BATCH);
	}
	s->unfinished |= s->steps == 0;
	return done;
}

bool scheduler_is_changing(const struct scheduler *s) {
	return s->changing;
}

bool scheduler_has_more(const struct scheduler *s) {
	return s->unfinished || s->changing;
}

uint64_t scheduler_next(const struct scheduler *s) {
	int64_t next = s->working != NONE || s->changing ? s->now : wheel_next(&s->wheel);

	if (s->queued == 0 || next == INT64_MAX)
		return UINT64_MAX;
	if (next < s->limit.full_at - LEAD_TICKS)
		next = s->limit.full_at - LEAD_TICKS;
	return scheduler_time(s, next);
}

uint64_t scheduler_due(const struct scheduler *s) {
	int64_t next = wheel_next(&s->wheel);

	if (scheduler_has_more(s) || s->reducing)
		next = less(next, s->now);
	if (s->working != NONE)
		next = less(next, more(s->now, s->limit.full_at - LEAD_TICKS));
	return next == INT64_MAX ? UINT64_MAX : scheduler_time(s, next);
}

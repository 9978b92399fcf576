/* SPDX-License-Identifier: BSD-3-Clause */
/* From the queues to the channels. */
#include "scheduler/choose.h"
#include "scheduler/grant.h"

#define BATCH 16 /* packets of a cluster before another one has its turn */

/* The last packet of the flow went. */
static inline void flow_end(struct scheduler *s, uint32_t flow, int64_t now) {
	struct flow *f = &s->flows[flow];

	f->state = FLOW_IDLE;
	if (f->aqm == SCHEDULER_WRED)
		wred_empty(&s->aqm[flow].wred, now);
}

/* Where the flow and its class, the first of its column, stand after one of their packets went. */
static inline void go_on(struct scheduler *s, uint32_t flow, uint32_t bytes, int64_t now) {
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
		if (c->flows == NONE) {
			class_end(s, class);
			return;
		}
	} else if (f->credit <= 0) { /* now that it is in the cache, not at its next turn */
		flow_pass(c, f);
	}
	if (c->credit <= 0)
		class_pass(s, c);
}

/* The same for a packet that its flow's reserved rate let go: the flow's own turn is not
 * touched. */
static void go_on_reserved(struct scheduler *s, uint32_t group, uint32_t flow, int64_t now) {
	reserve_leave(s, group);
	if (s->flows[flow].packets > 0) {
		reserve_enter(s, flow, now);
	} else {
		turns_leave(s, flow);
		flow_end(s, flow, now);
	}
}

static bool limit_open(const struct scheduler *s, int64_t now) {
	return s->limit.full_at <= now + LEAD_TICKS;
}

/* One packet of the group's column on the channel that is free first. Returns its bytes, 0 where
 * none may go. */
static inline uint32_t send(struct scheduler *s, struct turn turn, int64_t now,
			    struct scheduler_grant *out) {
	struct group *g = &s->groups[turn.group];
	int64_t free = first_free(s, g, now);
	uint32_t flow, bytes;

	if (free > s->clusters[g->cluster].horizon) {
		group_sleep(s, turn.group, free);
		return 0;
	}
	flow = next_flow(s, turn, now);
	if (flow == NONE)
		return 0;
	if (turn.column != RESERVED)
		prefetch_turns(s, s->flows[flow].class);
	bytes = grant(s, g, flow, free & CHANNEL_MASK, now, out);
	if (turn.column == RESERVED)
		go_on_reserved(s, turn.group, flow, now);
	else
		go_on(s, flow, bytes, now);
	return bytes;
}

/* Whether the column still comes before everything else of its cluster. */
static inline bool still_first(const struct cluster *c, const struct group *g, uint32_t column,
			       uint64_t round) {
	return g->waiting >> column == 1 &&
	       (c->awake_count == 1 || g->columns[column].round == round);
}

/* Whether something of the cluster waits that comes after the turn. */
static inline bool lower_waits(const struct scheduler *s, const struct cluster *c,
			       struct turn turn) {
	return c->awake_count > 1 ||
	       (s->groups[turn.group].waiting & ((1u << turn.column) - 1)) != 0;
}

/* Turns of a column, as long as nothing else of the cluster comes before it. Returns the number
 * of packets; `bytes` are theirs. */
static inline unsigned send_turns(struct scheduler *s, struct cluster *c, struct turn turn,
				  int64_t now, struct scheduler_grant *grants, unsigned n,
				  uint32_t *bytes) {
	const struct group *g = &s->groups[turn.group];
	const uint64_t round = g->columns[turn.column].round;
	unsigned done = 0;

	c->served[turn.column] = round;
	*bytes = 0;
	do {
		uint32_t size = send(s, turn, now, &grants[done]);

		if (size == 0)
			break;
		*bytes += size;
		done++;
	} while (done < n && limit_open(s, now) && still_first(c, g, turn.column, round));
	return done;
}

/* Turns of what comes first in the cluster, or a packet of something lower when that is due. */
static inline unsigned serve(struct scheduler *s, struct cluster *c, int64_t now,
			     struct scheduler_grant *grants, unsigned n) {
	struct turn top = next_turn(s, c), turn = top;
	bool counts = lower_waits(s, c, top), lower;
	uint32_t bytes;
	unsigned done;

	if (c->lower_bytes >= LOWER_SHARE)
		turn = lower_turn(s, c, top);
	lower = turn.column != top.column;
	done = send_turns(s, c, turn, now, grants, lower ? 1 : n, &bytes);
	if (lower)
		c->lower_bytes -= (uint32_t)less(c->lower_bytes, bytes * LOWER_COST);
	else if (counts && c->lower_bytes < LOWER_SHARE)
		c->lower_bytes += bytes;
	return done;
}

unsigned scheduler_dequeue(struct scheduler *s, uint64_t time, struct scheduler_grant *grants,
			   unsigned n) {
	int64_t now = scheduler_ticks(s, time);
	unsigned done = 0;
	uint32_t timer;

	while ((timer = wheel_pop(&s->wheel, now)) != NONE)
		turns_timer(s, timer, now);
	while (done < n && s->working != NONE && limit_open(s, now)) {
		uint32_t cluster = s->working;

		if (now >=
		    s->clusters[cluster].horizon - REST_TICKS) /* a pass that takes long is none */
			cluster_wake(s, cluster, now);
		ring_rotate(cluster_links(s), &s->working);
		done += serve(s, &s->clusters[cluster], now, grants + done,
			      n - done < BATCH ? n - done : BATCH);
	}
	return done;
}

uint64_t scheduler_next(const struct scheduler *s) {
	int64_t next = s->working != NONE ? s->now : wheel_next(&s->wheel);

	if (s->held == 0 || next == INT64_MAX)
		return UINT64_MAX;
	if (next < s->limit.full_at - LEAD_TICKS)
		next = s->limit.full_at - LEAD_TICKS;
	return scheduler_time(s, next);
}

uint64_t scheduler_due(const struct scheduler *s) {
	int64_t next = wheel_next(&s->wheel);

	if (s->working != NONE)
		next = less(next, more(s->now, s->limit.full_at - LEAD_TICKS));
	return next == INT64_MAX ? UINT64_MAX : scheduler_time(s, next);
}

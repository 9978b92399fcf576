/* SPDX-License-Identifier: BSD-3-Clause */
/* From the queues to the channels: whose turn it is, whether it may go, and what it takes. */
#include "scheduler/channels.h"
#include "scheduler/internal.h"
#include "scheduler/queue.h"
#include "scheduler/turns.h"

#define BATCH 16 /* packets of a cluster before another one has its turn */

/* A group and its column that have the turn. */
struct turn {
	uint32_t group;
	uint32_t column;
};

/* Of the cluster's awake groups the one with the highest column, of these the one that is behind. */
static inline struct turn next_turn(const struct scheduler *s, const struct cluster *c) {
	int64_t first = run_free(c->ranks, c->awake_count, INT64_MIN);
	uint32_t group = c->present[first & (MAX_GROUPS - 1)];

	return (struct turn){group, highest(s->groups[group].waiting)};
}

/* Something below `top`, in rotation, where the cluster has sent enough above it; else `top`. */
static struct turn lower_turn(const struct scheduler *s, struct cluster *c, struct turn top) {
	const uint32_t places = s->group_count * COLUMNS;
	uint32_t nearest = places;
	struct turn turn = top;

	for (uint32_t i = 0; i < c->awake_count; i++) {
		for (uint32_t column = 0; column < top.column; column++) {
			uint32_t place = c->present[i] * COLUMNS + column;
			uint32_t distance = (place + places - c->lower_turn - 1) % places;

			if ((s->groups[c->present[i]].waiting >> column & 1) == 0 ||
			    distance >= nearest)
				continue;
			nearest = distance;
			turn = (struct turn){c->present[i], column};
		}
	}
	if (nearest < places)
		c->lower_turn = turn.group * COLUMNS + turn.column;
	return turn;
}

/*
 * What the next turns will touch comes into the cache: slots two turns ahead, flows four, classes six, as each is
 * found through the one before.
 */
static inline void prefetch_turns(const struct scheduler *s, uint32_t class) {
	const struct class *classes = s->classes;
	uint32_t second = classes[classes[class].link.next].link.next;
	uint32_t fourth = classes[classes[second].link.next].link.next;

	if (classes[second].flows != NONE)
		__builtin_prefetch(&s->chunks[s->flows[classes[second].flows].first], 1);
	__builtin_prefetch(&s->flows[classes[fourth].flows], 1);
	__builtin_prefetch(&s->flows[classes[fourth].flows].sustained, 1);
	__builtin_prefetch(&classes[classes[classes[fourth].link.next].link.next], 1);
}

/* The flow of the class, the first of its column, that goes next: the first that has not used up its own
 * turn. NONE where the class gives way to others: it is empty, or still pays for its last packet. */
static inline uint32_t class_flow(struct scheduler *s, uint32_t class) {
	struct class *c = &s->classes[class];
	struct flow *f;

	if (c->flows == NONE) {
		class_end(s, class);
		return NONE;
	}
	if (c->credit <= 0) {
		c->credit += QUANTUM;
		column_pass(s, class_links(s), c->group, c->priority);
		return NONE;
	}
	f = &s->flows[c->flows];
	while (f->credit <= 0) {
		f->credit += f->weight * QUANTUM;
		c->flows = f->link.next;
		f = &s->flows[c->flows];
	}
	return c->flows;
}

/* When the flow's own rates let a packet of `bytes` go. */
static inline int64_t flow_opens(const struct flow *f, uint32_t bytes) {
	int64_t opens = INT64_MIN;

	if ((f->rates & FLOW_SUSTAINED) != 0)
		opens = bucket_opens(&f->sustained, bytes);
	if ((f->rates & FLOW_PEAK) != 0)
		opens = more(opens, bucket_opens(&f->peak, bytes));
	return opens;
}

/* Whether the flow's rates let its first packet go; if not, it or its class gives way to the others. */
static inline bool may_go(struct scheduler *s, uint32_t flow, bool reserved, int64_t now) {
	const struct flow *f = &s->flows[flow];
	uint32_t bytes = queue_head(s, f)->bytes;
	int64_t opens = flow_opens(f, bytes);
	const struct modem *m;

	if (opens > now) {
		turns_park(s, flow, opens);
		return false;
	}
	if (reserved || (f->rates & FLOW_AGGREGATE) == 0)
		return true;
	m = &s->modems[s->classes[f->class].modem];
	if (modem_is_open(m) && bucket_opens(&m->aggregate, bytes) <= now)
		return true;
	turns_block(s, f->class, bytes);
	return false;
}

/* The flow that is first in the reserved column; NONE where it has no reason to be there. */
static uint32_t reserved_flow(struct scheduler *s, uint32_t group, uint32_t flow, int64_t now) {
	bool ready = s->flows[flow].state == FLOW_READY;

	if (ready && s->reserves[flow].due <= now &&
	    s->classes[s->flows[flow].class].group == group)
		return flow;
	reserve_leave(s, group);
	if (ready)
		reserve_enter(s, flow, now);
	return NONE;
}

/* The flow of the column that goes next; NONE where none is left that may. */
static inline uint32_t next_flow(struct scheduler *s, struct turn turn, int64_t now) {
	const struct group *g = &s->groups[turn.group];
	const bool reserved = turn.column == RESERVED;

	while ((g->waiting >> turn.column & 1) != 0) {
		uint32_t first = g->columns[turn.column].line.first;
		uint32_t flow =
			reserved ? reserved_flow(s, turn.group, first, now) : class_flow(s, first);

		if (flow == NONE)
			continue;
		if (s->flows[flow].rates == 0 || may_go(s, flow, reserved, now))
			return flow;
	}
	return NONE;
}

static void count_delay(struct scheduler *s, unsigned priority, uint32_t units) {
	struct delays *d = &s->delays[priority];
	unsigned bucket = units;

	if (units >= 16) {
		unsigned shift = 28u - (unsigned)__builtin_clz(units);

		bucket = shift * 8 + (units >> shift);
	}
	d->packets++;
	d->units += units;
	d->buckets[bucket]++;
}

/* The receiver has a packet at `sent` and waits for those of lower numbers that come later. */
static void count_skew(struct scheduler_group_report *r, struct flow *f, int64_t sent) {
	uint64_t skew;

	r->packets++;
	if (sent >= f->last_sent) {
		f->last_sent = sent;
		return;
	}
	skew = (uint64_t)(f->last_sent - sent) / TICKS_PER_NS;
	r->early_packets++;
	r->skew_ns += skew;
	r->max_skew_ns = skew > r->max_skew_ns ? skew : r->max_skew_ns;
}

/* What is reserved is not held back by the modem's limit: its debt is not to outlast what the bucket holds. */
static inline void aggregate_take(struct class *c, struct modem *m, uint32_t bytes, int64_t now) {
	bucket_take(&m->aggregate, bytes, now);
	m->aggregate.full_at = less(m->aggregate.full_at, now + 2 * m->aggregate.depth);
	c->served = true;
}

/* What the packet takes of the rates that hold for its flow. */
static inline void charge(struct scheduler *s, uint32_t flow, uint32_t bytes, int64_t now) {
	struct flow *f = &s->flows[flow];

	if ((f->rates & FLOW_SUSTAINED) != 0)
		bucket_take(&f->sustained, bytes, now);
	if ((f->rates & FLOW_PEAK) != 0)
		bucket_take(&f->peak, bytes, now);
	if ((f->rates & FLOW_AGGREGATE) != 0)
		aggregate_take(&s->classes[f->class], &s->modems[s->classes[f->class].modem], bytes,
			       now);
	if ((f->rates & FLOW_RESERVATION) != 0) {
		struct reserve *r = &s->reserves[flow];

		/* what it had beyond the rate is not held against it for long */
		r->due = less(more(r->due, now - RESERVED_SAVED), now + RESERVED_SAVED) +
			 cost_ticks(r->cost, bytes > r->packet ? bytes : r->packet);
	}
}

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
		f->credit += f->weight * QUANTUM;
		c->flows = f->link.next;
	}
	if (c->credit > 0)
		return;
	c->credit += QUANTUM;
	column_pass(s, class_links(s), c->group, c->priority);
}

/* The same for a packet that its flow's reserved rate let go: the flow's own turn is not touched. */
static void go_on_reserved(struct scheduler *s, uint32_t group, uint32_t flow, int64_t now) {
	reserve_leave(s, group);
	if (s->flows[flow].packets > 0) {
		reserve_enter(s, flow, now);
	} else {
		turns_leave(s, flow);
		flow_end(s, flow, now);
	}
}

/* The flow's first packet goes on the channel. Returns its bytes. */
static inline uint32_t grant(struct scheduler *s, struct group *g, uint32_t flow, uint32_t channel,
			     int64_t now, struct scheduler_grant *out) {
	struct flow *f = &s->flows[flow];
	const struct waiting w = queue_take(s, f);
	uint32_t taken = channel_bytes(&s->channels[channel], w.bytes + f->header_bytes, now);
	int64_t sent = channel_take(s, channel, taken, now);

	bucket_take(&s->limit, taken, now);
	if (f->rates != 0)
		charge(s, flow, w.bytes, now);
	count_delay(s, s->classes[f->class].priority, (uint32_t)(now >> DELAY_SHIFT) - w.arrived);
	if (f->bonded)
		count_skew(&g->report, f, sent);
	else
		g->report.packets++;
	f->granted_packets++;
	f->granted_bytes += w.bytes;
	*out = (struct scheduler_grant){w.packet, flow, (uint16_t)channel, f->sequence++};
	return w.bytes;
}

static bool limit_open(const struct scheduler *s, int64_t now) {
	return s->limit.full_at <= now + LEAD_TICKS;
}

/* One packet of the group's column on the channel that is free first. Returns its bytes, 0 where none may
 * go. */
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

/* Turns of a column, as long as nothing else of the cluster comes before it. Returns the number of packets;
 * `bytes` are theirs. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler_watch.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static fine_time since_epoch(const struct watch *w) {
	return (fine_time)(w->now - w->epoch) * FINE_PER_NS;
}

void watch_time(struct watch *w, uint64_t now) {
	if (!w->started)
		w->epoch = w->now = now;
	w->started = true;
	if (now <= w->now)
		return;
	if (now - w->now > LONGEST_JUMP)
		w->epoch += now - w->now - LONGEST_JUMP;
	w->now = now;
}

static uint64_t peak_burst(uint64_t rate) {
	uint64_t burst = rate / (8 * (1000000000 / SCHEDULER_PEAK_NS));

	return burst > SCHEDULER_PEAK_BURST ? burst : SCHEDULER_PEAK_BURST;
}

void watch_set_channel(struct watch *w, uint32_t i, const struct scheduler_channel *set) {
	struct watch_channel *c = &w->channels[i];

	c->set = *set;
	line_set(&c->line, set->rate, since_epoch(w));
	c->space = 0;
}

void watch_set_limit(struct watch *w, uint64_t rate) {
	line_set(&w->limit, rate, since_epoch(w));
}

void watch_set_group(struct watch *w, uint32_t i, const struct scheduler_group *set) {
	struct watch_group *g = &w->groups[i];

	if (g->set.channel_count == 0) /* it comes anew, and counts anew */
		g->packets = 0;
	memcpy(g->channels, set->channels, set->channel_count * sizeof(*g->channels));
	g->set = (struct scheduler_group){g->channels, set->channel_count};
}

void watch_set_modem(struct watch *w, uint32_t i, const struct scheduler_modem *set) {
	bucket_set(&w->modems[i], set->aggregate.rate, set->aggregate.burst, since_epoch(w));
}

void watch_set_flow(struct watch *w, uint32_t i, const struct scheduler_flow *set) {
	struct watch_flow *f = &w->flows[i];

	if (f->set.group ==
	    SCHEDULER_NONE) { /* one that comes anew has full buckets, and counts anew */
		f->sustained.rate = f->peak.rate = f->reserved.rate = 0;
		f->counts = (struct scheduler_flow_report){0};
		f->sequence = 0;
	}
	f->set = *set;
	if (set->group == SCHEDULER_NONE)
		return;
	bucket_set(&f->sustained, set->sustained.rate, set->sustained.burst, since_epoch(w));
	bucket_set(&f->peak, set->peak, peak_burst(set->peak), since_epoch(w));
	meter_set(&f->reserved, set->reserved, since_epoch(w));
}

static uint64_t longest(const struct watch *w, const struct watch_flow *f) {
	const struct watch_bucket *of[] = {&f->sustained, &f->peak, &w->modems[f->set.modem]};
	uint64_t most = SCHEDULER_PACKET_MAX;

	for (int i = 0; i < 3; i++) {
		if (of[i]->rate != 0 && of[i]->burst < most)
			most = of[i]->burst;
	}
	return most;
}

static uint32_t buffer(const struct watch *w, const struct watch_flow *f) {
	if ((uint64_t)w->held * 2 < w->packet_limit)
		return f->set.max_buffer;
	return (uint64_t)w->held * 8 < (uint64_t)w->packet_limit * 7 ? f->set.buffer
								     : f->set.min_buffer;
}

/* Whether the packet goes in but for the flow's drop probability. */
static enum scheduler_verdict expected(const struct watch *w, const struct scheduler_arrival *a) {
	const struct watch_flow *f = &w->flows[a->flow];

	if (f->set.group == SCHEDULER_NONE)
		return SCHEDULER_NO_FLOW;
	if (a->bytes == 0 || a->bytes > longest(w, f))
		return SCHEDULER_TOO_LONG;
	if (w->held >= w->packet_limit)
		return SCHEDULER_FULL;
	if ((uint64_t)f->counts.waiting_bytes + a->bytes > buffer(w, f))
		return SCHEDULER_FLOW_FULL;
	return SCHEDULER_QUEUED;
}

void watch_verdict(struct watch *w, const struct scheduler_arrival *a, enum scheduler_verdict v) {
	struct watch_flow *f = &w->flows[a->flow];
	struct watch_packet *p = a->packet;
	enum scheduler_verdict plain = expected(w, a);

	CHECK((unsigned)v < SCHEDULER_VERDICTS);
	if (plain == SCHEDULER_QUEUED && f->set.aqm == SCHEDULER_WRED)
		CHECK(v == SCHEDULER_QUEUED || v == SCHEDULER_WRED_DROP);
	else if (plain == SCHEDULER_QUEUED && f->set.aqm == SCHEDULER_DOCSIS_PIE)
		CHECK(v == SCHEDULER_QUEUED || v == SCHEDULER_PIE_DROP);
	else
		CHECK(v == plain);
	if (v != SCHEDULER_QUEUED) {
		f->counts.drops[v]++;
		free(p);
		return;
	}
	if (f->first == NULL)
		meter_begin(&f->reserved, since_epoch(w));
	*f->last = p;
	f->last = &p->next;
	f->counts.waiting_packets++;
	f->counts.waiting_bytes += p->bytes;
	w->held++;
}

/* The packet comes out: it is the one of its flow that has waited longest. */
static void take_out(struct watch *w, struct watch_flow *f, struct watch_packet *p) {
	CHECK(f->first == p);
	f->first = p->next;
	if (f->first == NULL)
		f->last = &f->first;
	f->counts.waiting_packets--;
	f->counts.waiting_bytes -= p->bytes;
	w->held--;
	free(p);
}

void watch_drained(struct watch *w, struct watch_packet *p) {
	CHECK(p->flow < w->flow_count);
	take_out(w, &w->flows[p->flow], p);
}

/* The channel is one of the group's, and the first of them to be free. */
static void judge_channel(const struct watch *w, const struct watch_group *g, uint32_t channel) {
	const struct watch_line *chosen = &w->channels[channel].line;
	fine_time now = since_epoch(w);
	bool member = false;

	for (size_t i = 0; i < g->set.channel_count; i++) {
		const struct watch_line *l = &w->channels[g->channels[i]].line;
		fine_time slack = NEAR + l->slack + chosen->slack;

		member = member || g->channels[i] == channel;
		CHECK(later(chosen->free_at, now) <= later(l->free_at, now) + slack);
		CHECK(l->free_at + slack > now || g->channels[i] >= channel);
	}
	CHECK(member);
}

/* What a DOCSIS frame takes on the channel, with what DEPI puts around and into it. */
static uint64_t depi_bytes(struct watch_channel *c, uint64_t now, uint32_t left) {
	const struct scheduler_depi *d = &c->set.depi;
	uint64_t all = left;

	if (d->capacity == 0)
		return all;
	if (now - c->opened >= d->flush_ns)
		c->space = 0;
	while (left > 0) {
		uint32_t part;

		if (c->space == 0) {
			c->space = d->capacity;
			c->segments = 0;
			c->opened = now;
			all += d->frame_bytes;
		}
		part = c->space - d->entry_bytes;
		if (part >= left) {
			part = left;
		} else if (part < d->min_fragment) {
			c->space = 0;
			continue;
		}
		left -= part;
		all += d->entry_bytes;
		c->space -= part + d->entry_bytes;
		if (c->space <= d->entry_bytes || ++c->segments == d->max_segments)
			c->space = 0;
	}
	return all;
}

/*
 * The rates of the flow and its modem. Those of the modem do not hold back what is reserved, which
 * is what goes while the meter is behind. For whom a modem's flows wait is not judged: a caller
 * does not see which packet came first to the limit.
 */
static void judge_rates(struct watch *w, struct watch_flow *f, uint32_t bytes) {
	struct watch_bucket *modem = &w->modems[f->set.modem];
	fine_time now = since_epoch(w);

	CHECK(bucket_holds(&f->sustained, bytes, now) && bucket_holds(&f->peak, bytes, now));
	CHECK(meter_behind(&f->reserved, now) || bucket_holds(modem, bytes, now));
	bucket_take(&f->sustained, bytes, now);
	bucket_take(&f->peak, bytes, now);
	bucket_take(modem, bytes, now);
	debt_limit(modem, now);
	meter_take(&f->reserved, later(bytes, f->set.reserved_packet), now);
}

void watch_grant(struct watch *w, const struct scheduler_grant *g) {
	struct watch_packet *p = g->packet;
	struct watch_channel *c = &w->channels[g->channel];
	struct watch_flow *f = &w->flows[p->flow];
	struct watch_group *group = &w->groups[f->set.group];
	uint64_t bytes;

	CHECK(p->flow == g->flow && g->channel < w->channel_count);
	CHECK(g->sequence == f->sequence++);
	judge_channel(w, group, g->channel);
	judge_rates(w, f, p->bytes);
	bytes = depi_bytes(c, w->now - w->epoch, p->bytes + f->set.header_bytes);
	c->vague = c->vague || bytes == 0;
	line_take(&c->line, bytes, since_epoch(w));
	line_take(&w->limit, bytes, since_epoch(w));
	c->packets++;
	c->bytes += bytes;
	group->packets++;
	w->delays[f->set.priority]++;
	f->counts.packets++;
	f->counts.bytes += p->bytes;
	take_out(w, f, p);
}

static void judge_channel_report(const struct watch *w, uint32_t i) {
	const struct watch_channel *c = &w->channels[i];
	struct scheduler_channel_report r;
	fine_time off;

	scheduler_report_channel(w->s, i, &r);
	CHECK(r.packets == c->packets);
	if (c->vague || !w->started)
		return;
	CHECK(r.bytes == c->bytes);
	off = later((fine_time)(r.busy_until - w->epoch) * FINE_PER_NS, since_epoch(w)) -
	      later(c->line.free_at, since_epoch(w));
	CHECK(off <= c->line.slack);
	/* the clock's last moment stands for all that lies behind it */
	CHECK(-off <= c->line.slack + FINE_PER_NS || r.busy_until == UINT64_MAX);
}

void watch_reports(const struct watch *w) {
	for (uint32_t i = 0; i < w->flow_count; i++) {
		const struct scheduler_flow_report *c = &w->flows[i].counts;
		struct scheduler_flow_report r;

		scheduler_report_flow(w->s, i, &r);
		CHECK(r.packets == c->packets && r.bytes == c->bytes);
		CHECK(memcmp(r.drops, c->drops, sizeof(r.drops)) == 0);
		CHECK(r.waiting_packets == c->waiting_packets);
		CHECK(r.waiting_bytes == c->waiting_bytes);
	}
	for (uint32_t i = 0; i < w->channel_count; i++)
		judge_channel_report(w, i);
	for (uint32_t i = 0; i < w->group_count; i++) {
		struct scheduler_group_report r;

		scheduler_report_group(w->s, i, &r);
		CHECK(r.packets == w->groups[i].packets && r.early_packets <= r.packets);
		CHECK(r.max_skew_ns <= r.skew_ns);
	}
	CHECK(scheduler_queued(w->s) == w->held);
}

void watch_delays(const struct watch *w) {
	for (unsigned p = 0; p < SCHEDULER_PRIORITIES; p++) {
		struct scheduler_delay_report r;
		uint64_t sum = 0;

		scheduler_report_delay(w->s, p, &r);
		for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
			sum += r.buckets[b];
		CHECK(r.packets == w->delays[p] && sum == r.packets);
		CHECK(scheduler_delay_quantile(&r, 500) <= scheduler_delay_quantile(&r, 1000));
	}
}

/* What the packet takes on the slowest channel of its group and of each rate that holds for it. */
static fine_time packet_time(const struct watch *w, const struct watch_packet *p, uint64_t waited) {
	const struct watch_flow *f = &w->flows[p->flow];
	const struct watch_group *g = &w->groups[f->set.group];
	uint64_t most = 0;
	fine_time slowest = 0;

	for (size_t i = 0; i < g->set.channel_count; i++) {
		struct watch_channel empty = w->channels[g->channels[i]];
		uint64_t bytes;

		empty.space = 0;
		bytes = depi_bytes(&empty, 0, p->bytes + f->set.header_bytes);
		most = bytes > most ? bytes : most;
		slowest = later(slowest, cost(empty.set.rate, bytes));
	}
	return slowest + cost(w->limit.rate, most) + cost(f->sustained.rate, p->bytes) +
	       cost(f->peak.rate, p->bytes) +
	       cost(w->modems[f->set.modem].rate, waited > 0 ? waited : p->bytes);
}

/*
 * The bytes that a modem's bucket may be waited for at each packet's turn: 0 where those are the
 * packet's own. All of the modem's flows may wait for its longest packet, and others go first when
 * that is due. Where it is longer than a burst that was lowered, the full bucket gains nothing
 * meanwhile, so that each packet may take that long.
 */
static uint64_t waited_for(const struct watch *w, uint32_t modem) {
	uint64_t longest_one = 0;

	for (uint32_t i = 0; i < w->flow_count; i++) {
		const struct watch_packet *p = w->flows[i].first;

		for (; w->flows[i].set.modem == modem && p != NULL; p = p->next)
			longest_one = p->bytes > longest_one ? p->bytes : longest_one;
	}
	return longest_one > w->modems[modem].burst ? longest_one : 0;
}

/*
 * All packets one behind the other, and each as if all buckets had been empty when its turn came; a
 * millisecond more for each, since timers are rounded, and all of that twice.
 */
fine_time watch_patience(const struct watch *w) {
	fine_time now = since_epoch(w), all = later(w->limit.free_at - now, 0);
	uint64_t waited[WATCH_MODEMS];

	for (uint32_t i = 0; i < w->channel_count; i++)
		all += later(w->channels[i].line.free_at - now, 0);
	for (uint32_t i = 0; i < w->modem_count; i++) {
		all += later(w->modems[i].full_at - now, 0);
		waited[i] = waited_for(w, i);
	}
	for (uint32_t i = 0; i < w->flow_count; i++) {
		all += debt(&w->flows[i].sustained, now) + debt(&w->flows[i].peak, now);
		for (const struct watch_packet *p = w->flows[i].first; p != NULL; p = p->next)
			all += packet_time(w, p, waited[w->flows[i].set.modem]) +
			       (fine_time)1000000 * FINE_PER_NS;
	}
	return 2 * all / FINE_PER_NS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows the calls of a scheduler, and checks their results. */
#include "scheduler_monitor.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static fine_time since_epoch(const struct monitor *w) {
	return (fine_time)(w->now - w->epoch) * FINE_PER_NS;
}

void monitor_time(struct monitor *w, uint64_t now) {
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

void monitor_set_channel(struct monitor *w, uint32_t i, const struct scheduler_channel *set) {
	struct monitor_channel *c = &w->channels[i];

	c->set = *set;
	line_set(&c->line, set->rate, since_epoch(w));
	c->space = 0;
}

void monitor_set_limit(struct monitor *w, uint64_t rate) {
	line_set(&w->limit, rate, since_epoch(w));
}

void monitor_set_group(struct monitor *w, uint32_t i, const struct scheduler_group *set) {
	struct monitor_group *g = &w->groups[i];

	if (g->set.channel_count == 0) /* a new group starts at 0 */
		g->packets = 0;
	memcpy(g->channels, set->channels, set->channel_count * sizeof(*g->channels));
	g->set = (struct scheduler_group){g->channels, set->channel_count};
}

void monitor_set_modem(struct monitor *w, uint32_t i, const struct scheduler_modem *set) {
	bucket_set(&w->modems[i], set->aggregate.rate, set->aggregate.burst, since_epoch(w));
}

void monitor_set_flow(struct monitor *w, uint32_t i, const struct scheduler_flow *set) {
	struct monitor_flow *f = &w->flows[i];

	if (f->set.group == SCHEDULER_NONE) { /* a new flow has full buckets */
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

static uint64_t longest_packet(const struct monitor *w, const struct monitor_flow *f) {
	const struct monitor_bucket *buckets[] = {&f->sustained, &f->peak,
						  &w->modems[f->set.modem]};
	uint64_t limit = SCHEDULER_PACKET_MAX;

	for (int i = 0; i < 3; i++) {
		if (buckets[i]->rate != 0 && buckets[i]->burst < limit)
			limit = buckets[i]->burst;
	}
	return limit;
}

static uint32_t buffer_limit(const struct monitor *w, const struct monitor_flow *f) {
	if ((uint64_t)w->queued * 2 < w->packet_limit)
		return f->set.max_buffer;
	return (uint64_t)w->queued * 8 < (uint64_t)w->packet_limit * 7 ? f->set.buffer
								       : f->set.min_buffer;
}

/* The verdict without random drops. */
static enum scheduler_verdict expected_verdict(const struct monitor *w,
					       const struct scheduler_arrival *a) {
	const struct monitor_flow *f = &w->flows[a->flow];

	if (f->set.group == SCHEDULER_NONE)
		return SCHEDULER_NO_FLOW;
	if (a->bytes == 0 || a->bytes > longest_packet(w, f))
		return SCHEDULER_TOO_LONG;
	if (w->queued >= w->packet_limit)
		return SCHEDULER_FULL;
	if ((uint64_t)f->counts.waiting_bytes + a->bytes > buffer_limit(w, f))
		return SCHEDULER_FLOW_FULL;
	return SCHEDULER_QUEUED;
}

void monitor_verdict(struct monitor *w, const struct scheduler_arrival *a,
		     enum scheduler_verdict v) {
	struct monitor_flow *f = &w->flows[a->flow];
	struct monitor_packet *p = a->packet;
	enum scheduler_verdict plain = expected_verdict(w, a);

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
	w->queued++;
}

/* The packet must be the oldest of its flow. Frees it. */
static void remove_packet(struct monitor *w, struct monitor_flow *f, struct monitor_packet *p) {
	CHECK(f->first == p);
	f->first = p->next;
	if (f->first == NULL)
		f->last = &f->first;
	f->counts.waiting_packets--;
	f->counts.waiting_bytes -= p->bytes;
	w->queued--;
	free(p);
}

void monitor_drained(struct monitor *w, struct monitor_packet *p) {
	CHECK(p->flow < w->flow_count);
	remove_packet(w, &w->flows[p->flow], p);
}

/* The channel must be one of the group's, and of these the first to be free. */
static void check_channel(const struct monitor *w, const struct monitor_group *g,
			  uint32_t channel) {
	const struct monitor_line *chosen = &w->channels[channel].line;
	fine_time now = since_epoch(w);
	bool member = false;

	for (size_t i = 0; i < g->set.channel_count; i++) {
		const struct monitor_line *l = &w->channels[g->channels[i]].line;
		fine_time slack = NEAR + l->slack + chosen->slack;

		member = member || g->channels[i] == channel;
		CHECK(later(chosen->free_at, now) <= later(l->free_at, now) + slack);
		CHECK(l->free_at + slack > now || g->channels[i] >= channel);
	}
	CHECK(member);
}

/* The bytes that a DOCSIS frame costs the channel, with DEPI. */
static uint64_t depi_bytes(struct monitor_channel *c, uint64_t now, uint32_t left) {
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

/* Checks and charges the rates of the flow and its modem. The modem's rate does not limit reserved
 * packets, which are sent while the meter is behind. For which packet a modem's flows wait is not
 * checked: a caller cannot see it. */
static void check_rates(struct monitor *w, struct monitor_flow *f, uint32_t bytes) {
	struct monitor_bucket *modem = &w->modems[f->set.modem];
	fine_time now = since_epoch(w);

	CHECK(bucket_admits(&f->sustained, bytes, now) && bucket_admits(&f->peak, bytes, now));
	CHECK(meter_behind(&f->reserved, now) || bucket_admits(modem, bytes, now));
	bucket_charge(&f->sustained, bytes, now);
	bucket_charge(&f->peak, bytes, now);
	bucket_charge(modem, bytes, now);
	debt_limit(modem, now);
	meter_charge(&f->reserved, later(bytes, f->set.reserved_packet), now);
}

void monitor_grant(struct monitor *w, const struct scheduler_grant *g) {
	struct monitor_packet *p = g->packet;
	struct monitor_channel *c = &w->channels[g->channel];
	struct monitor_flow *f = &w->flows[p->flow];
	struct monitor_group *group = &w->groups[f->set.group];
	uint64_t bytes;

	CHECK(p->flow == g->flow && g->channel < w->channel_count);
	CHECK(g->sequence == f->sequence++);
	check_channel(w, group, g->channel);
	check_rates(w, f, p->bytes);
	bytes = depi_bytes(c, w->now - w->epoch, p->bytes + f->set.header_bytes);
	c->unknown_bytes = c->unknown_bytes || bytes == 0;
	line_charge(&c->line, bytes, since_epoch(w));
	line_charge(&w->limit, bytes, since_epoch(w));
	c->packets++;
	c->bytes += bytes;
	group->packets++;
	w->delays[f->set.priority]++;
	f->counts.packets++;
	f->counts.bytes += p->bytes;
	remove_packet(w, f, p);
}

static void check_channel_report(const struct monitor *w, uint32_t i) {
	const struct monitor_channel *c = &w->channels[i];
	struct scheduler_channel_report r;
	fine_time off;

	scheduler_report_channel(w->s, i, &r);
	CHECK(r.packets == c->packets);
	if (c->unknown_bytes || !w->started)
		return;
	CHECK(r.bytes == c->bytes);
	off = later((fine_time)(r.busy_until - w->epoch) * FINE_PER_NS, since_epoch(w)) -
	      later(c->line.free_at, since_epoch(w));
	CHECK(off <= c->line.slack);
	/* the end of the clock stands for all later times */
	CHECK(-off <= c->line.slack + FINE_PER_NS || r.busy_until == UINT64_MAX);
}

void monitor_reports(const struct monitor *w) {
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
		check_channel_report(w, i);
	for (uint32_t i = 0; i < w->group_count; i++) {
		struct scheduler_group_report r;

		scheduler_report_group(w->s, i, &r);
		CHECK(r.packets == w->groups[i].packets && r.early_packets <= r.packets);
		CHECK(r.max_skew_ns <= r.skew_ns);
	}
	CHECK(scheduler_queued(w->s) == w->queued);
}

void monitor_delays(const struct monitor *w) {
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

/* The time of the packet on the slowest channel of its group, and by each of its rates. */
static fine_time packet_time(const struct monitor *w, const struct monitor_packet *p,
			     uint64_t waited) {
	const struct monitor_flow *f = &w->flows[p->flow];
	const struct monitor_group *g = &w->groups[f->set.group];
	uint64_t limit = 0;
	fine_time slowest = 0;

	for (size_t i = 0; i < g->set.channel_count; i++) {
		struct monitor_channel empty = w->channels[g->channels[i]];
		uint64_t bytes;

		empty.space = 0;
		bytes = depi_bytes(&empty, 0, p->bytes + f->set.header_bytes);
		limit = bytes > limit ? bytes : limit;
		slowest = later(slowest, cost(empty.set.rate, bytes));
	}
	return slowest + cost(w->limit.rate, limit) + cost(f->sustained.rate, p->bytes) +
	       cost(f->peak.rate, p->bytes) +
	       cost(w->modems[f->set.modem].rate, waited > 0 ? waited : p->bytes);
}

/* The bytes for which each packet of a modem may wait at the modem's bucket. 0: its own. All flows
 * may wait for the modem's longest packet, and others are sent first when that is due. If it is
 * longer than a burst that was lowered, the full bucket gains nothing meanwhile, so each may wait
 * for so long. */
static uint64_t modem_wait_bytes(const struct monitor *w, uint32_t modem) {
	uint64_t longest = 0;

	for (uint32_t i = 0; i < w->flow_count; i++) {
		const struct monitor_packet *p = w->flows[i].first;

		for (; w->flows[i].set.modem == modem && p != NULL; p = p->next)
			longest = p->bytes > longest ? p->bytes : longest;
	}
	return longest > w->modems[modem].burst ? longest : 0;
}

/* All packets one after the other, each as if all buckets were empty, and a millisecond more for
 * each, as timers are rounded; and all of it twice. */
fine_time monitor_deadline(const struct monitor *w) {
	fine_time now = since_epoch(w), all = later(w->limit.free_at - now, 0);
	uint64_t waited[MONITOR_MODEMS];

	for (uint32_t i = 0; i < w->channel_count; i++)
		all += later(w->channels[i].line.free_at - now, 0);
	for (uint32_t i = 0; i < w->modem_count; i++) {
		all += later(w->modems[i].full_at - now, 0);
		waited[i] = modem_wait_bytes(w, i);
	}
	for (uint32_t i = 0; i < w->flow_count; i++) {
		all += debt(&w->flows[i].sustained, now) + debt(&w->flows[i].peak, now);
		for (const struct monitor_packet *p = w->flows[i].first; p != NULL; p = p->next)
			all += packet_time(w, p, waited[w->flows[i].set.modem]) +
			       (fine_time)1000000 * FINE_PER_NS;
	}
	return 2 * all / FINE_PER_NS;
}

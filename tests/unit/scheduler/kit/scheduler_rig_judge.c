/* SPDX-License-Identifier: BSD-3-Clause */
/* What is expected of each grant, and of the reports at the end. */
#include "test.h"

#include <math.h>

#include "scheduler_rig.h"

#define ROUNDING_NS 4.0 /* so near, the lower index may be taken */
#define DRIFT_NS 0.01 /* of each packet */
#define ROUNDING_BYTES 1.0

static void expect_in_order(struct rig *r, const struct scheduler_grant *g) {
	struct rig_packet *p = g->packet;
	struct rig_flow *f = &r->flows[g->flow];

	if (!p->inside || p->flow != g->flow)
		fail_msg("flow %u: packet %llu of flow %u is given (again)", g->flow,
			 (unsigned long long)p->serial, p->flow);
	if (p->serial <= f->last_serial)
		fail_msg("flow %u: packet %llu behind %llu", g->flow, (unsigned long long)p->serial,
			 (unsigned long long)f->last_serial);
	if (g->sequence != f->sequence)
		fail_msg("flow %u: number %u instead of %u", g->flow, g->sequence, f->sequence);
	f->last_serial = p->serial;
	f->sequence++;
}

/* A channel of the group, and none of the others will have sent its work earlier. */
static void expect_right_channel(const struct rig *r, const struct scheduler_grant *g) {
	const struct scheduler_flow *f = &r->flow_configs[g->flow];
	const struct scheduler_group *group = &r->group_configs[f->group];
	double earliest = INFINITY, own = -1, now = (double)r->now;
	double slack = ROUNDING_NS + r->channels[g->channel].drift_ns, drift = 0;

	for (size_t i = 0; i < group->channel_count; i++) {
		double free_at = r->channels[group->channels[i]].free_at;

		if (free_at < now)
			free_at = now;
		if (free_at < earliest) {
			earliest = free_at;
			drift = r->channels[group->channels[i]].drift_ns;
		}
		if (group->channels[i] == g->channel)
			own = free_at;
	}
	if (own < 0)
		fail_msg("flow %u: channel %u is none of its group's", g->flow, g->channel);
	if (own > earliest + slack + drift)
		fail_msg("flow %u: channel %u is free %.1f ns later than another", g->flow,
			 g->channel, own - earliest);
}

static void expect_under(struct rig_envelope *e, uint64_t now, uint32_t bytes, const char *what,
			 uint32_t index) {
	if (e->rate == 0)
		return;
	e->level -= e->rate * (double)(now - e->at);
	if (e->level < 0)
		e->level = e->drift_ns = 0;
	e->at = now;
	e->drift_ns += DRIFT_NS;
	e->level += bytes;
	if (e->level > e->worst)
		e->worst = e->level;
	if (e->level > e->burst + ROUNDING_BYTES + e->drift_ns * e->rate)
		fail_msg("%s %u: a burst of %.3f bytes where %.0f may be", what, index, e->level,
			 e->burst);
}

/* The bytes on the channel: the frame and what DEPI puts around and into it. */
static uint32_t depi_bytes(struct rig_channel *ch, const struct scheduler_depi *d, uint64_t now,
			   uint32_t frame) {
	uint32_t total = frame;

	if (d->room == 0)
		return total;
	if (ch->open && now - ch->opened_at > d->flush_ns)
		ch->open = false;
	while (frame > 0) {
		uint32_t piece;

		if (!ch->open) {
			ch->open = true;
			ch->opened_at = now;
			ch->space = d->room;
			ch->segments = 0;
			total += d->frame_bytes;
		}
		piece = ch->space - d->entry_bytes;
		if (piece > frame)
			piece = frame;
		if (piece < frame && piece < d->min_fragment) {
			ch->open = false;
			continue;
		}
		total += d->entry_bytes;
		ch->space -= d->entry_bytes + piece;
		frame -= piece;
		if (++ch->segments == d->max_segments || ch->space <= d->entry_bytes)
			ch->open = false;
	}
	return total;
}

static void expect_free(struct rig_channel *ch, struct rig *r, uint32_t bytes, const char *what,
			uint32_t index) {
	double now = (double)r->now, mark = (double)r->mark;

	if (ch->free_at > now + SCHEDULER_LEAD_NS + ROUNDING_NS + ch->drift_ns)
		fail_msg("%s %u has work for %.0f ns before one more packet", what, index,
			 ch->free_at - now);
	if (ch->free_at < now) {
		ch->idle_ns += now - (ch->free_at > mark ? ch->free_at : mark);
		ch->free_at = now;
		ch->drift_ns = 0;
	}
	ch->drift_ns += DRIFT_NS;
	if (ch->drift_ns > r->drift_ns)
		r->drift_ns = ch->drift_ns;
	ch->free_at += ch->ns_per_byte * bytes;
	ch->bytes += bytes;
	ch->packets++;
}

/* How long the receiver waits with this packet for one of a lower number. */
static void follow_skew(const struct rig *r, struct rig_flow *f, struct rig_group *g,
			double sent_at) {
	double skew = f->latest_ns - sent_at, slack = 1 + 2 * r->drift_ns;

	g->packets++;
	g->early_least += skew > slack;
	g->early_most += skew > -slack;
	if (skew > g->max_skew_ns)
		g->max_skew_ns = skew;
	if (skew > 0)
		g->skew_ns += skew;
	else
		f->latest_ns = sent_at;
}

static void follow_delay(struct rig_delays *d, uint64_t ns) {
	unsigned low = 0, high = SCHEDULER_DELAY_BUCKETS;

	while (high - low > 1) {
		unsigned middle = (low + high) / 2;

		if (scheduler_delay_floor(middle) <= ns)
			low = middle;
		else
			high = middle;
	}
	d->buckets[low]++;
	d->packets++;
	d->sum_ns += ns;
}

static void book(struct rig *r, struct rig_flow *f, const struct rig_packet *p) {
	if (f->packets == 0)
		f->first_at = r->now;
	if (f->first_at == r->now)
		f->first_bytes += p->bytes;
	f->last_at = r->now;
	f->packets++;
	f->bytes += p->bytes;
}

void rig_judge(struct rig *r, const struct scheduler_grant *g) {
	const struct scheduler_flow *config = &r->flow_configs[g->flow];
	struct rig_packet *p = g->packet;
	struct rig_flow *f = &r->flows[g->flow];
	struct rig_channel *ch = &r->channels[g->channel];
	uint32_t bytes;

	expect_in_order(r, g);
	expect_right_channel(r, g);
	expect_under(&f->sustained, r->now, p->bytes, "sustained rate of flow", g->flow);
	expect_under(&f->peak, r->now, p->bytes, "peak rate of flow", g->flow);
	expect_under(&r->modems[config->modem], r->now, p->bytes, "rate of modem", config->modem);
	bytes = depi_bytes(ch, &r->channel_configs[g->channel].depi, r->now,
			   p->bytes + config->header_bytes);
	if (bytes > r->longest)
		r->longest = bytes;
	expect_free(ch, r, bytes, "channel", g->channel);
	if (r->limit.ns_per_byte > 0)
		expect_free(&r->limit, r, bytes, "limit", 0);
	follow_skew(r, f, &r->groups[config->group], ch->free_at);
	if (r->follow_delays)
		follow_delay(&r->delays[config->priority], r->now - p->arrived);
	book(r, f, p);
	p->inside = false;
	p->next = r->free_packets;
	r->free_packets = p;
	r->inside--;
}

static void judge_flow(const struct rig *r, uint32_t flow) {
	const struct rig_flow *f = &r->flows[flow];
	struct scheduler_flow_report report;

	scheduler_report_flow(r->s, flow, &report);
	assert_int_equal(report.drops[SCHEDULER_QUEUED], 0);
	for (int v = SCHEDULER_QUEUED + 1; v < SCHEDULER_VERDICTS; v++)
		assert_int_equal(report.drops[v], f->verdicts[v]);
	assert_int_equal(report.packets + report.waiting_packets, f->verdicts[SCHEDULER_QUEUED]);
}

/* The lead, and the slowest channel's time for the longest packet. */
static double skew_bound(const struct rig *r, const struct scheduler_group *group) {
	double slowest = 0;

	for (size_t i = 0; i < group->channel_count; i++) {
		double ns_per_byte = r->channels[group->channels[i]].ns_per_byte;

		if (ns_per_byte > slowest)
			slowest = ns_per_byte;
	}
	return SCHEDULER_LEAD_NS + r->longest * slowest + 1000;
}

static void judge_group(const struct rig *r, uint32_t group) {
	const struct rig_group *g = &r->groups[group];
	struct scheduler_group_report report;

	scheduler_report_group(r->s, group, &report);
	assert_int_equal(report.packets, g->packets);
	rig_expect("max. skew of group", group, (double)report.max_skew_ns + 100,
		   g->max_skew_ns + 100, 0.04);
	rig_expect("skew of group", group, (double)report.skew_ns + (double)g->packets,
		   g->skew_ns + (double)g->packets, 0.01);
	assert_in_range(report.early_packets, g->early_least, g->early_most);
	assert_true(g->max_skew_ns <= skew_bound(r, &r->group_configs[group]));
}

void rig_judge_reports(const struct rig *r) {
	for (uint32_t i = 0; i < r->config.flow_count; i++)
		judge_flow(r, i);
	for (uint32_t i = 0; i < r->config.group_count; i++)
		judge_group(r, i);
	for (uint32_t i = 0; i < r->config.channel_count; i++) {
		struct scheduler_channel_report report;

		scheduler_report_channel(r->s, i, &report);
		assert_int_equal(report.packets, r->channels[i].packets);
		assert_int_equal(report.bytes, r->channels[i].bytes);
		if (report.packets > 0) {
			double free_at = (double)(report.busy_until - r->epoch);

			rig_expect("busy_until of channel", i, free_at, r->channels[i].free_at,
				   (ROUNDING_NS + r->channels[i].drift_ns) /
					   r->channels[i].free_at);
		}
	}
}

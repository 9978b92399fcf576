/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler_lockstep.h"

#include <inttypes.h>

#include "test.h"

#define LONGEST (SCHEDULER_PACKET_MAX + 1)

void lockstep_fail(const struct lockstep *l, const char *what, uint64_t a, uint64_t b) {
	fail_msg("SCHEDULER_SEED=%" PRIu64 ", step %" PRIu64 ", time %" PRIu64 ": %s (%" PRIu64
		 ", %" PRIu64 ")",
		 l->seed, l->step, l->now, what, a, b);
}

static void expect(const struct lockstep *l, const char *what, uint64_t is, uint64_t should) {
	if (is != should)
		lockstep_fail(l, what, is, should);
}

static void expect_near(const struct lockstep *l, const char *what, uint64_t is, uint64_t should,
			uint64_t within) {
	uint64_t off = is > should ? is - should : should - is;

	if (off > within)
		lockstep_fail(l, what, is, should);
}

struct lockstep *lockstep_open(uint64_t seed, unsigned features) {
	struct lockstep *l = test_calloc(1, sizeof(*l));
	struct random r = lockstep_random(~seed);
	const char *why = NULL;

	l->seed = seed;
	l->r = lockstep_random(seed);
	lockstep_random_config(&l->c, &l->r, random_next(&r) & features);
	l->m = test_malloc(sizeof(*l->m));
	model_init(l->m, &l->c.config);
	l->s = scheduler_create(&l->c.config, &why);
	if (l->s == NULL) {
		print_error("%s\n", why);
		lockstep_fail(l, "a good configuration was refused", 0, 0);
	}
	return l;
}

void lockstep_close(struct lockstep *l) {
	scheduler_free(l->s);
	test_free(l->m);
	test_free(l);
}

void lockstep_arrive(struct lockstep *l, struct scheduler_arrival *in, unsigned n) {
	enum scheduler_verdict verdicts[MODEL_WAITING];
	unsigned queued = 0, got;

	for (unsigned i = 0; i < n; i++)
		in[i].packet = (void *)++l->packets;
	model_clock(l->m, l->now);
	got = scheduler_enqueue(l->s, l->now, in, n, verdicts);
	for (unsigned i = 0; i < n; i++) {
		expect(l, "verdict of an arrival", verdicts[i], model_verdict(l->m, &in[i]));
		queued += verdicts[i] == SCHEDULER_QUEUED;
		if (verdicts[i] == SCHEDULER_QUEUED)
			model_queue(l->m, &in[i]);
		else
			l->drops[in[i].flow][verdicts[i]]++;
	}
	expect(l, "arrivals queued", got, queued);
	expect(l, "packets held", scheduler_queued(l->s), model_held(l->m));
}

/* Who is served while both could go is ahead of the other by his bytes. */
static void pair_served(struct lockstep *l, struct lockstep_pair *p, bool both, int64_t bytes) {
	const int64_t bound = 3 * MODEL_TURN + 2 * LONGEST;

	if (!both || !p->both)
		p->ahead = 0;
	p->both = both;
	p->ahead += both ? bytes : 0;
	if (p->ahead > bound || p->ahead < -bound)
		lockstep_fail(l, "one of two equals was ahead by so many bytes, bound",
			      (uint64_t)llabs(p->ahead), (uint64_t)bound);
}

static bool same_class(const struct scheduler_flow *a, const struct scheduler_flow *b) {
	return a->group == b->group && a->priority == b->priority && a->modem == b->modem;
}

/* Flows of one class, by weight. Who has a reserved rate also goes for that, and is not compared. */
static void judge_flow_turns(struct lockstep *l, int flow, uint32_t bytes, const bool *ready) {
	const struct model *m = l->m;

	for (uint32_t a = 0; a < m->flow_count; a++) {
		for (uint32_t b = a + 1; b < m->flow_count; b++) {
			const struct scheduler_flow *fa = &m->flows[a].is, *fb = &m->flows[b].is;
			bool both = ready[a] && ready[b] && same_class(fa, fb) &&
				    fa->reserved == 0 && fb->reserved == 0;
			int64_t had = flow == (int)a ? bytes / fa->weight : 0;

			had -= flow == (int)b ? bytes / fb->weight : 0;
			pair_served(l, &l->flows[a][b], both, had);
		}
	}
}

struct class_state {
	bool waits, reserves;
};

/* The classes of one group and priority. */
static void judge_column_turns(struct lockstep *l, struct lockstep_pair pairs[][MODEL_MODEMS],
			       const struct class_state *c, int served, uint32_t bytes) {
	for (int a = 0; a < (int)l->m->modem_count; a++) {
		for (int b = a + 1; b < (int)l->m->modem_count; b++) {
			bool both = c[a].waits && c[b].waits && !c[a].reserves && !c[b].reserves;
			int64_t had = served == a ? bytes : 0;

			had -= served == b ? bytes : 0;
			pair_served(l, &pairs[a][b], both, had);
		}
	}
}

static void judge_class_turns(struct lockstep *l, int flow, uint32_t bytes, const bool *ready) {
	const struct model *m = l->m;
	struct class_state states[MODEL_GROUPS][SCHEDULER_PRIORITIES][MODEL_MODEMS];

	memset(states, 0, sizeof(states));
	for (uint32_t i = 0; i < m->flow_count; i++) {
		const struct scheduler_flow *f = &m->flows[i].is;

		if (f->group == SCHEDULER_NONE)
			continue;
		states[f->group][f->priority][f->modem].waits |= ready[i];
		states[f->group][f->priority][f->modem].reserves |= f->reserved > 0;
	}
	for (uint32_t g = 0; g < m->group_count; g++) {
		for (uint32_t p = 0; p < SCHEDULER_PRIORITIES; p++) {
			const struct scheduler_flow *f = flow < 0 ? NULL : &m->flows[flow].is;
			bool here = f != NULL && f->group == g && f->priority == p;

			judge_column_turns(l, l->modems[g][p], states[g][p],
					   here ? (int)f->modem : -1, bytes);
		}
	}
}

/* With no flow: who cannot go any more begins anew when he can again. */
static void judge_turns(struct lockstep *l, int flow, uint32_t bytes) {
	bool ready[MODEL_FLOWS] = {0};

	for (uint32_t f = 0; f < l->m->flow_count; f++)
		ready[f] = judge_ready(l->m, f);
	judge_flow_turns(l, flow, bytes, ready);
	judge_class_turns(l, flow, bytes, ready);
}

static void judge(struct lockstep *l, const struct scheduler_grant *grant) {
	const char *why = judge_grant(l->m, grant);
	uint32_t bytes;

	if (why != NULL)
		lockstep_fail(l, why, grant->flow, grant->channel);
	bytes = l->m->flows[grant->flow].list[0].bytes;
	judge_turns(l, (int)grant->flow, bytes);
	judge_columns(l, grant->flow, grant->channel, bytes);
}

/* One call. */
static unsigned call(struct lockstep *l, unsigned wanted) {
	struct scheduler_grant grants[MODEL_WAITING];
	bool moving = scheduler_is_changing(l->s);
	unsigned n = scheduler_dequeue(l->s, l->now, grants, wanted);

	if (n > wanted)
		lockstep_fail(l, "more than wanted", n, wanted);
	if (moving)
		lockstep_changed(l);
	for (unsigned i = 0; i < n; i++) {
		judge(l, &grants[i]);
		model_take(l->m, grants[i].flow, grants[i].channel);
		if (moving)
			lockstep_changed(l);
	}
	judge_turns(l, -1, 0);
	expect(l, "packets held", scheduler_queued(l->s), model_held(l->m));
	return n;
}

unsigned lockstep_dequeue(struct lockstep *l, unsigned wanted) {
	const uint64_t next = scheduler_next(l->s);
	unsigned n = 0, calls = 0;
	int left = -1;

	model_clock(l->m, l->now);
	do {
		n += call(l, wanted - n);
		if (n > 0 && next > l->m->now + l->m->skipped)
			lockstep_fail(l, "went before its time", next, n);
		if (++calls > LOCKSTEP_CALLS)
			lockstep_fail(l, "there is more, without end", calls, n);
		if (l->hasty && random_below(&l->r, 4) == 0)
			break;
	} while (n < wanted && scheduler_has_more(l->s));
	if (n < wanted && !scheduler_has_more(l->s))
		left = judge_left(l->m);
	if (left >= 0)
		lockstep_fail(l, "a flow could go, and was left", (uint64_t)left, n);
	return n;
}

void lockstep_changed(struct lockstep *l) {
	l->changed = true;
	memset(l->flows, 0, sizeof(l->flows));
	memset(l->modems, 0, sizeof(l->modems));
	memset(l->starved, 0, sizeof(l->starved));
	for (size_t g = 0; g < MODEL_GROUPS; g++)
		l->account[g] = MODEL_GUARD + LOCKSTEP_BATCHES * l->c.longest;
}

static void report_flows(struct lockstep *l) {
	for (uint32_t i = 0; i < l->m->flow_count; i++) {
		const struct model_flow *f = &l->m->flows[i];
		struct scheduler_flow_report r;

		scheduler_report_flow(l->s, i, &r);
		expect(l, "packets of a flow", r.packets, f->packets);
		expect(l, "bytes of a flow", r.bytes, f->bytes);
		expect(l, "waiting packets", r.waiting_packets, f->count);
		expect(l, "waiting bytes", r.waiting_bytes, model_waiting_bytes(l->m, i));
		for (unsigned v = 0; v < SCHEDULER_VERDICTS; v++)
			expect(l, "drops of a flow", r.drops[v], l->drops[i][v]);
	}
}

static void report_channels(struct lockstep *l) {
	for (uint32_t i = 0; i < l->m->channel_count; i++) {
		const struct model_channel *c = &l->m->channels[i];
		model_work ahead = model_ahead(&c->line, l->m->now);
		uint64_t tie = judge_tie(l->m, &c->line);
		struct scheduler_channel_report r;

		scheduler_report_channel(l->s, i, &r);
		expect(l, "packets of a channel", r.packets, c->packets);
		expect(l, "bytes of a channel", r.bytes, c->bytes);
		if (ahead > (model_work)tie * c->line.rate)
			expect_near(l, "end of a channel's work", r.busy_until,
				    l->m->skipped + l->m->now + (uint64_t)(ahead / c->line.rate),
				    tie);
	}
}

/* The longest that a packet may wait for another of its flow: docs/scheduler.md, channels. */
static uint64_t skew_bound(const struct lockstep *l, const struct model_group *g) {
	uint64_t longest = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct scheduler_channel *c = &l->m->channels[g->list[i]].is;
		struct model_depi d = {.open = false};
		uint64_t bytes = model_depi_bytes(&d, &c->depi, l->c.longest + 255, 0), ns;

		bytes += c->depi.frame_bytes + c->depi.entry_bytes; /* begun behind others */
		ns = (uint64_t)(bytes * MODEL_BYTE / c->rate);
		longest = ns > longest ? ns : longest;
	}
	return SCHEDULER_LEAD_NS + LOCKSTEP_TIE_NS + longest;
}

static void report_groups(struct lockstep *l) {
	for (uint32_t i = 0; i < l->m->group_count; i++) {
		const struct model_group *g = &l->m->groups[i];
		struct scheduler_group_report r;

		scheduler_report_group(l->s, i, &r);
		expect(l, "packets of a group", r.packets, g->packets);
		expect_near(l, "skew of a group", r.skew_ns, g->skew_ns, g->beside);
		expect_near(l, "longest skew", r.max_skew_ns, g->max_skew_ns, g->max_beside);
		expect_near(l, "early packets", r.early_packets, g->early, g->ties);
		if (!l->changed && r.max_skew_ns > skew_bound(l, g))
			lockstep_fail(l, "skew above its bound", r.max_skew_ns, skew_bound(l, g));
	}
}

static void report_delays(struct lockstep *l) {
	for (unsigned p = 0; p < SCHEDULER_PRIORITIES; p++) {
		struct scheduler_delay_report r;
		uint64_t sum = 0, packets = l->m->delays[p];

		scheduler_report_delay(l->s, p, &r);
		for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
			sum += r.buckets[b];
		expect(l, "packets of a priority", r.packets, packets);
		expect(l, "packets in its delay buckets", sum, packets);
		expect_near(l, "sum of delays", r.sum_ns, l->m->delay_ns[p], packets * 1030);
	}
}

void lockstep_reports(struct lockstep *l) {
	report_flows(l);
	report_channels(l);
	report_groups(l);
	report_delays(l);
}

void lockstep_drain_flow(struct lockstep *l, uint32_t flow, unsigned n) {
	void *packets[MODEL_WAITING];
	const struct model_flow *f = &l->m->flows[flow];
	const unsigned held = f->count, got = n < held ? n : held;

	expect(l, "packets held of a flow", scheduler_flow_queued(l->s, flow), held);
	expect(l, "packets drained", scheduler_drain_flow(l->s, flow, packets, n), got);
	for (unsigned i = 0; i < got; i++)
		expect(l, "order of a drain", model_remove(l->m, flow, packets[i]), true);
	expect(l, "packets left", scheduler_flow_queued(l->s, flow), held - got);
	if (got > 0) /* others of its modem may have waited for what was the first */
		l->m->modems[f->is.modem].changed = l->m->now;
}

void lockstep_drain(struct lockstep *l) {
	void *packets[2];
	unsigned n;

	while ((n = scheduler_drain(l->s, packets, 2)) > 0) {
		for (unsigned i = 0; i < n; i++) {
			bool found = false;

			for (uint32_t f = 0; f < l->m->flow_count && !found; f++)
				found = model_remove(l->m, f, packets[i]);
			if (!found)
				lockstep_fail(l, "drained out of order", i, n);
		}
	}
	expect(l, "packets left after a drain", model_held(l->m), 0);
	expect(l, "packets held after a drain", scheduler_queued(l->s), 0);
	expect(l, "time named after a drain", scheduler_next(l->s), UINT64_MAX);
}

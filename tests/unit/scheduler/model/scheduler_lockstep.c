/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the scheduler and the model in lockstep: compares results, shares over time, and reports. */
#include "scheduler_lockstep.h"

#include <inttypes.h>

#include "test.h"

#define LONGEST (SCHEDULER_PACKET_MAX + 1)

void lockstep_fail(const struct lockstep *l, const char *what, uint64_t a, uint64_t b) {
	fail_msg("SCHEDULER_SEED=%" PRIu64 ", step %" PRIu64 ", time %" PRIu64 ": %s (%" PRIu64
		 ", %" PRIu64 ")",
		 l->seed, l->step, l->now, what, a, b);
}

static void check_equal(const struct lockstep *l, const char *what, uint64_t actual,
			uint64_t expected) {
	if (actual != expected)
		lockstep_fail(l, what, actual, expected);
}

static void check_near(const struct lockstep *l, const char *what, uint64_t actual,
		       uint64_t expected, uint64_t tolerance) {
	uint64_t off = actual > expected ? actual - expected : expected - actual;

	if (off > tolerance)
		lockstep_fail(l, what, actual, expected);
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
		lockstep_fail(l, "a valid configuration was refused", 0, 0);
	}
	return l;
}

void lockstep_close(struct lockstep *l) {
	scheduler_free(l->s);
	test_free(l->m);
	test_free(l);
}

void lockstep_arrive(struct lockstep *l, struct scheduler_arrival *in, unsigned n) {
	enum scheduler_verdict verdicts[MODEL_QUEUED];
	unsigned queued = 0, count;

	for (unsigned i = 0; i < n; i++)
		in[i].packet = (void *)++l->packets;
	model_clock(l->m, l->now);
	count = scheduler_enqueue(l->s, l->now, in, n, verdicts);
	for (unsigned i = 0; i < n; i++) {
		check_equal(l, "verdict of an arrival", verdicts[i], model_verdict(l->m, &in[i]));
		queued += verdicts[i] == SCHEDULER_QUEUED;
		if (verdicts[i] == SCHEDULER_QUEUED)
			model_enqueue(l->m, &in[i]);
		else
			l->drops[in[i].flow][verdicts[i]]++;
	}
	check_equal(l, "arrivals queued", count, queued);
	check_equal(l, "queued packets", scheduler_queued(l->s), model_queued(l->m));
}

/* Charges the bytes of one of two that could both be served. Fails if it is too far ahead. */
static void check_pair(struct lockstep *l, struct lockstep_pair *p, bool both, int64_t bytes) {
	const int64_t bound = 3 * MODEL_QUANTUM + 2 * LONGEST;

	if (!both || !p->both)
		p->ahead = 0;
	p->both = both;
	p->ahead += both ? bytes : 0;
	if (p->ahead > bound || p->ahead < -bound)
		lockstep_fail(l, "bytes that one of two equals was ahead, bound",
			      (uint64_t)llabs(p->ahead), (uint64_t)bound);
}

static bool same_class(const struct scheduler_flow *a, const struct scheduler_flow *b) {
	return a->group == b->group && a->priority == b->priority && a->modem == b->modem;
}

/* Flows of one class, by weight. Those with a reserved rate are not compared. */
static void check_flow_shares(struct lockstep *l, int flow, uint32_t bytes, const bool *ready) {
	const struct model *m = l->m;

	for (uint32_t a = 0; a < m->flow_count; a++) {
		for (uint32_t b = a + 1; b < m->flow_count; b++) {
			const struct scheduler_flow *fa = &m->flows[a].set, *fb = &m->flows[b].set;
			bool both = ready[a] && ready[b] && same_class(fa, fb) &&
				    fa->reserved == 0 && fb->reserved == 0;
			int64_t served_bytes = flow == (int)a ? bytes / fa->weight : 0;

			served_bytes -= flow == (int)b ? bytes / fb->weight : 0;
			check_pair(l, &l->flows[a][b], both, served_bytes);
		}
	}
}

struct class_state {
	bool ready, reserved;
};

/* The classes of one group and priority. */
static void check_group_shares(struct lockstep *l, struct lockstep_pair pairs[][MODEL_MODEMS],
			       const struct class_state *c, int served, uint32_t bytes) {
	for (int a = 0; a < (int)l->m->modem_count; a++) {
		for (int b = a + 1; b < (int)l->m->modem_count; b++) {
			bool both = c[a].ready && c[b].ready && !c[a].reserved && !c[b].reserved;
			int64_t served_bytes = served == a ? bytes : 0;

			served_bytes -= served == b ? bytes : 0;
			check_pair(l, &pairs[a][b], both, served_bytes);
		}
	}
}

static void check_class_shares(struct lockstep *l, int flow, uint32_t bytes, const bool *ready) {
	const struct model *m = l->m;
	struct class_state states[MODEL_GROUPS][SCHEDULER_PRIORITIES][MODEL_MODEMS];

	memset(states, 0, sizeof(states));
	for (uint32_t i = 0; i < m->flow_count; i++) {
		const struct scheduler_flow *f = &m->flows[i].set;

		if (f->group == SCHEDULER_NONE)
			continue;
		states[f->group][f->priority][f->modem].ready |= ready[i];
		states[f->group][f->priority][f->modem].reserved |= f->reserved > 0;
	}
	for (uint32_t g = 0; g < m->group_count; g++) {
		for (uint32_t p = 0; p < SCHEDULER_PRIORITIES; p++) {
			const struct scheduler_flow *f = flow < 0 ? NULL : &m->flows[flow].set;
			bool here = f != NULL && f->group == g && f->priority == p;

			check_group_shares(l, l->modems[g][p], states[g][p],
					   here ? (int)f->modem : -1, bytes);
		}
	}
}

/* Without a flow (-1): restarts the comparison of those that could not be served. */
static void check_shares(struct lockstep *l, int flow, uint32_t bytes) {
	bool ready[MODEL_FLOWS] = {0};

	for (uint32_t f = 0; f < l->m->flow_count; f++)
		ready[f] = surely_ready(l->m, f);
	check_flow_shares(l, flow, bytes, ready);
	check_class_shares(l, flow, bytes, ready);
}

static void check_granted(struct lockstep *l, const struct scheduler_grant *grant) {
	const char *why = check_grant(l->m, grant);
	uint32_t bytes;

	if (why != NULL)
		lockstep_fail(l, why, grant->flow, grant->channel);
	bytes = l->m->flows[grant->flow].list[0].bytes;
	check_shares(l, (int)grant->flow, bytes);
	check_class_queue(l, grant->flow, grant->channel, bytes);
}

/* One call, whose grants are checked. */
static unsigned call(struct lockstep *l, unsigned wanted) {
	struct scheduler_grant grants[MODEL_QUEUED];
	bool changing = scheduler_is_changing(l->s);
	unsigned n = scheduler_dequeue(l->s, l->now, grants, wanted);

	if (n > wanted)
		lockstep_fail(l, "more packets than wanted", n, wanted);
	if (changing)
		lockstep_changed(l);
	for (unsigned i = 0; i < n; i++) {
		check_granted(l, &grants[i]);
		model_dequeue(l->m, grants[i].flow, grants[i].channel);
		if (changing)
			lockstep_changed(l);
	}
	check_shares(l, -1, 0);
	check_equal(l, "queued packets", scheduler_queued(l->s), model_queued(l->m));
	return n;
}

unsigned lockstep_dequeue(struct lockstep *l, unsigned wanted) {
	const uint64_t next = scheduler_next(l->s);
	unsigned n = 0, calls = 0;
	int overlooked = -1;

	model_clock(l->m, l->now);
	do {
		n += call(l, wanted - n);
		if (n > 0 && next > l->m->now + l->m->skipped)
			lockstep_fail(l, "granted before scheduler_next()", next, n);
		if (++calls > LOCKSTEP_CALLS)
			lockstep_fail(l, "scheduler_has_more() stays true", calls, n);
		if (l->skips_calls && random_below(&l->r, 4) == 0)
			break;
	} while (n < wanted && scheduler_has_more(l->s));
	if (n < wanted && !scheduler_has_more(l->s))
		overlooked = find_overlooked_flow(l->m);
	if (overlooked >= 0)
		lockstep_fail(l, "a flow could send, and was not granted", (uint64_t)overlooked, n);
	return n;
}

void lockstep_changed(struct lockstep *l) {
	l->changed = true;
	memset(l->flows, 0, sizeof(l->flows));
	memset(l->modems, 0, sizeof(l->modems));
	memset(l->starved, 0, sizeof(l->starved));
	for (size_t g = 0; g < MODEL_GROUPS; g++)
		l->lower_bytes[g] = MODEL_LOWER_SHARE + LOCKSTEP_BATCHES * l->c.longest;
}

static void report_flows(struct lockstep *l) {
	for (uint32_t i = 0; i < l->m->flow_count; i++) {
		const struct model_flow *f = &l->m->flows[i];
		struct scheduler_flow_report r;

		scheduler_report_flow(l->s, i, &r);
		check_equal(l, "packets of a flow", r.packets, f->packets);
		check_equal(l, "bytes of a flow", r.bytes, f->bytes);
		check_equal(l, "waiting packets", r.waiting_packets, f->count);
		check_equal(l, "waiting bytes", r.waiting_bytes, model_queued_bytes(l->m, i));
		for (unsigned v = 0; v < SCHEDULER_VERDICTS; v++)
			check_equal(l, "drops of a flow", r.drops[v], l->drops[i][v]);
	}
}

static void report_channels(struct lockstep *l) {
	for (uint32_t i = 0; i < l->m->channel_count; i++) {
		const struct model_channel *c = &l->m->channels[i];
		model_work ahead = model_ahead(&c->line, l->m->now);
		uint64_t tie = end_tolerance(l->m, &c->line);
		struct scheduler_channel_report r;

		scheduler_report_channel(l->s, i, &r);
		check_equal(l, "packets of a channel", r.packets, c->packets);
		check_equal(l, "bytes of a channel", r.bytes, c->bytes);
		if (ahead > (model_work)tie * c->line.rate)
			check_near(l, "end of a channel's work", r.busy_until,
				   l->m->skipped + l->m->now + (uint64_t)(ahead / c->line.rate),
				   tie);
	}
}

/* The longest that a packet may wait for another of its flow: docs/scheduler.md, channels. */
static uint64_t skew_bound(const struct lockstep *l, const struct model_group *g) {
	uint64_t longest = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct scheduler_channel *c = &l->m->channels[g->list[i]].set;
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
		check_equal(l, "packets of a group", r.packets, g->packets);
		check_near(l, "skew of a group", r.skew_ns, g->skew_ns, g->tolerance);
		check_near(l, "longest skew", r.max_skew_ns, g->max_skew_ns, g->max_tolerance);
		check_near(l, "early packets", r.early_packets, g->early, g->ties);
		if (!l->changed && r.max_skew_ns > skew_bound(l, g))
			lockstep_fail(l, "skew above its bound", r.max_skew_ns, skew_bound(l, g));
	}
}

static void report_delays(struct lockstep *l) {
	for (unsigned p = 0; p < SCHEDULER_PRIORITIES; p++) {
		struct scheduler_delay_report r;
		uint64_t sum = 0, packets = l->m->delayed_packets[p];

		scheduler_report_delay(l->s, p, &r);
		for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
			sum += r.buckets[b];
		check_equal(l, "packets of a priority", r.packets, packets);
		check_equal(l, "packets in its delay buckets", sum, packets);
		check_near(l, "sum of delays", r.sum_ns, l->m->delay_ns[p], packets * 1030);
	}
}

void lockstep_reports(struct lockstep *l) {
	report_flows(l);
	report_channels(l);
	report_groups(l);
	report_delays(l);
}

void lockstep_drain_flow(struct lockstep *l, uint32_t flow, unsigned n) {
	void *packets[MODEL_QUEUED];
	const struct model_flow *f = &l->m->flows[flow];
	const unsigned queued = f->count, count = n < queued ? n : queued;

	check_equal(l, "queued packets of a flow", scheduler_flow_queued(l->s, flow), queued);
	check_equal(l, "packets drained", scheduler_drain_flow(l->s, flow, packets, n), count);
	for (unsigned i = 0; i < count; i++)
		check_equal(l, "order of a drain", model_remove(l->m, flow, packets[i]), true);
	check_equal(l, "packets left", scheduler_flow_queued(l->s, flow), queued - count);
	/* other flows of its modem may have waited for its first packet, and may now be served */
	if (count > 0)
		l->m->modems[f->set.modem].changed = l->m->now;
}

void lockstep_drain(struct lockstep *l) {
	void *packets[2];
	unsigned n;

	while ((n = scheduler_drain(l->s, packets, 2)) > 0) {
		for (unsigned i = 0; i < n; i++) {
			bool removed = false;

			for (uint32_t f = 0; f < l->m->flow_count && !removed; f++)
				removed = model_remove(l->m, f, packets[i]);
			if (!removed)
				lockstep_fail(l, "drained out of order", i, n);
		}
	}
	check_equal(l, "packets left after a drain", model_queued(l->m), 0);
	check_equal(l, "queued packets after a drain", scheduler_queued(l->s), 0);
	check_equal(l, "scheduler_next() after a drain", scheduler_next(l->s), UINT64_MAX);
}

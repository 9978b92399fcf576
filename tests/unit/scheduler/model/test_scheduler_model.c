/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler against the model, on random configurations, arrivals and times. A failure names the
 * seed; SCHEDULER_SEED=<it> in the environment runs only that again.
 */
#include "test_main.h"

#include <string.h>

#include "scheduler_lockstep.h"

#define NS_PER_S UINT64_C(1000000000)

static struct lockstep *lockstep_make(uint64_t seed, unsigned features) {
	struct lockstep *l = test_calloc(1, sizeof(*l));

	l->seed = seed;
	l->r = lockstep_random(seed);
	lockstep_random_config(&l->c, &l->r, features);
	lockstep_open(l);
	return l;
}

static void lockstep_unmake(struct lockstep *l) {
	lockstep_close(l);
	test_free(l);
}

/* Few arrivals at a time leave queues empty now and then, many fill them. */
static void arrivals(struct lockstep *l, uint32_t at_most) {
	for (uint32_t n = random_below(&l->r, at_most + 1); n > 0; n--) {
		uint32_t flow = random_below(&l->r, (uint32_t)l->m->flow_count);

		lockstep_arrive(l, flow, lockstep_random_bytes(&l->c, &l->r));
	}
}

static void one_lockstep(uint64_t seed) {
	static const uint64_t begins[] = {0, 1, 12345678901, UINT64_C(1) << 62};
	struct random r = lockstep_random(~seed);
	struct lockstep *l = lockstep_make(seed, random_next(&r) & LOCKSTEP_ALL);
	uint32_t busy = random_between(&l->r, 1, 30);

	l->now = begins[random_below(&r, ARRAY_COUNT(begins))];
	for (l->step = 0; l->step < 300; l->step++) {
		arrivals(l, random_below(&l->r, 8) == 0 ? 60 : busy);
		if (random_below(&l->r, 4) > 0)
			lockstep_dequeue(l, random_below(&l->r, MODEL_WAITING + 1));
		if (l->step % 50 == 0)
			lockstep_reports(l);
		l->now = lockstep_random_time(l);
	}
	lockstep_reports(l);
	lockstep_drain(l);
	lockstep_unmake(l);
}

/* Queues that are never empty on few channels, for long: turns, columns and their guard. */
static void one_crowd(uint64_t seed) {
	struct lockstep *l = lockstep_make(seed, seed & LOCKSTEP_ALL);

	for (l->step = 0; l->step < 400; l->step++) {
		for (uint32_t f = 0; f < l->m->flow_count; f++) {
			for (int n = 0; n < 12 && l->m->flows[f].count < 12; n++)
				lockstep_arrive(l, f, lockstep_random_bytes(&l->c, &l->r));
		}
		lockstep_dequeue(l, MODEL_WAITING);
		l->now += random_between(&l->r, 1000, 100000);
	}
	lockstep_reports(l);
	lockstep_drain(l);
	lockstep_unmake(l);
}

/*
 * By scheduler_next() alone everything that waits goes, with few calls in vain, and just before the
 * time that it names nothing can go.
 */
static void one_by_its_own_clock(uint64_t seed) {
	struct lockstep *l = lockstep_make(seed, LOCKSTEP_ALL);
	uint64_t next, vain = 0;

	arrivals(l, 400);
	for (l->step = 0; scheduler_held(l->s) > 0; l->step++) {
		next = scheduler_next(l->s);
		if (next > l->now + 1) {
			if (next == UINT64_MAX)
				lockstep_fail(l, "waits, and no time is named", 0, 0);
			l->now = next - 1;
			if (lockstep_dequeue(l, 64) > 0)
				lockstep_fail(l, "went before its time", next, 0);
			l->now = next;
		}
		vain = lockstep_dequeue(l, 64) > 0 ? 0 : vain + 1;
		l->now += vain > 0; /* the time that is named may be a fraction too early */
		if (vain > 20)
			lockstep_fail(l, "called in vain", scheduler_next(l->s), vain);
	}
	if (scheduler_next(l->s) != UINT64_MAX)
		lockstep_fail(l, "nothing waits, and a time is named", scheduler_next(l->s), 0);
	lockstep_reports(l);
	lockstep_unmake(l);
}

/*
 * Both decide themselves. Flows that are on always have packets, the same ones in both, so that what
 * each of them got shows how the two divide the channels.
 */
struct pair {
	uint64_t seed, now;
	struct lockstep_config c;
	struct scheduler *s;
	struct model *m;
	bool on[MODEL_FLOWS];
	struct random sizes[2][MODEL_FLOWS];
	uint64_t bytes[MODEL_FLOWS];
	uint32_t waiting[MODEL_FLOWS], size_of[MODEL_FLOWS][64];
	uint64_t first[MODEL_FLOWS], last[MODEL_FLOWS];
};

static void feed_fast(struct pair *p, uint32_t flow) {
	while (p->last[flow] - p->first[flow] < 12) {
		struct scheduler_arrival in = {NULL, flow, 0};
		enum scheduler_verdict verdict;

		in.bytes = random_between(&p->sizes[0][flow], 64, 1518);
		p->size_of[flow][p->last[flow]++ % 64] = in.bytes;
		if (scheduler_enqueue(p->s, p->now, &in, 1, &verdict) != 1)
			fail_msg("SCHEDULER_SEED=%llu: not queued: %d", (unsigned long long)p->seed,
				 verdict);
	}
}

static void feed_model(struct pair *p, uint32_t flow) {
	while (p->m->flows[flow].count < 12) {
		struct scheduler_arrival in = {NULL, flow, 0};

		in.bytes = random_between(&p->sizes[1][flow], 64, 1518);
		model_queue(p->m, &in);
	}
}

static void pair_step(struct pair *p) {
	struct scheduler_grant g;

	model_clock(p->m, p->now);
	for (uint32_t f = 0; f < p->m->flow_count; f++) {
		if (!p->on[f])
			continue;
		feed_fast(p, f);
		feed_model(p, f);
	}
	while (lockstep_grant(p->s, p->now, &g)) {
		p->bytes[g.flow] += p->size_of[g.flow][p->first[g.flow]++ % 64];
		feed_fast(p, g.flow);
	}
	while (model_pick(p->m, &g))
		feed_model(p, g.flow);
}

/*
 * How far two may be apart that keep the same rules: a group may lag by eight turns of each of its
 * classes, a flow stands somewhere in its own turn and took up to a packet too much, and one may have
 * filled its channels to the lead just before the other does.
 */
static uint64_t apart(const struct pair *p, const struct scheduler_flow *f) {
	const struct scheduler_group *g = &p->c.groups[f->group];
	model_work rates = 0;

	for (size_t i = 0; i < g->channel_count; i++)
		rates += p->c.channels[g->channels[i]].rate;
	return (MODEL_LAG + 2) * MODEL_TURN * (uint64_t)f->weight + 2 * p->c.longest +
	       (uint64_t)(rates * (SCHEDULER_LEAD_NS - SCHEDULER_REST_NS) / MODEL_BYTE);
}

static void pair_compare(const struct pair *p) {
	for (uint32_t f = 0; f < p->m->flow_count; f++) {
		uint64_t fast = p->bytes[f], model = p->m->flows[f].bytes;
		uint64_t off = fast > model ? fast - model : model - fast;

		if (off > apart(p, &p->m->flows[f].is))
			fail_msg(
				"SCHEDULER_SEED=%llu, time %llu: flow %u got %llu bytes, the model "
				"gave %llu",
				(unsigned long long)p->seed, (unsigned long long)p->now, f,
				(unsigned long long)fast, (unsigned long long)model);
	}
}

/* Each channel belongs to one group. */
static void part_groups(struct lockstep_config *c) {
	size_t channels = c->config.channel_count;

	if (c->config.group_count > channels)
		c->config.group_count = channels;
	for (uint32_t g = 0; g < c->config.group_count; g++)
		c->groups[g].channel_count = 0;
	for (uint32_t i = 0; i < channels; i++) {
		uint32_t g = i % (uint32_t)c->config.group_count;

		c->lists[g][c->groups[g].channel_count++] = i;
	}
	for (size_t f = 0; f < c->config.flow_count; f++)
		c->flows[f].group %= (uint32_t)c->config.group_count;
}

/* Groups share channels, and all flows are in one column. */
static void level_flows(struct lockstep_config *c) {
	for (size_t f = 0; f < c->config.flow_count; f++) {
		c->flows[f].priority = 0;
		c->flows[f].reserved = 0;
	}
}

static void one_pair(uint64_t seed) {
	struct pair *p = test_calloc(1, sizeof(*p));
	struct random r = lockstep_random(seed);

	p->seed = seed;
	lockstep_random_config(&p->c, &r, LOCKSTEP_RATES | LOCKSTEP_RESERVED | LOCKSTEP_DEPI);
	if (seed % 2 == 0)
		part_groups(&p->c);
	else
		level_flows(&p->c);
	for (uint32_t f = 0; f < p->c.config.flow_count; f++) {
		struct scheduler_flow *is = &p->c.flows[f];

		is->min_buffer = is->buffer = is->max_buffer = 100000;
		/* what passes while a flow waits for its time must not be lost to it */
		is->sustained.burst += is->sustained.rate / 8 * 200 / 1000000;
		is->peak += is->peak == 0 ? 0 : is->sustained.rate;
		p->on[f] = random_below(&r, 4) > 0;
		p->sizes[0][f] = p->sizes[1][f] = lockstep_random(seed * 100 + f);
	}
	p->c.config.packet_limit = 100000;
	p->s = scheduler_create(&p->c.config, NULL);
	assert_non_null(p->s);
	p->m = test_malloc(sizeof(*p->m));
	model_init(p->m, &p->c.config);
	while (p->now < NS_PER_S / 200) {
		pair_step(p);
		pair_compare(p);
		p->now += random_between(&r, 1000, 16000);
	}
	scheduler_free(p->s);
	test_free(p->m);
	test_free(p);
}

/* Each from its first seed on; SCHEDULER_SEED stands for all of them. */
TEST(the_scheduler_does_as_the_model) {
	static const struct {
		void (*one)(uint64_t seed);
		uint64_t first;
		unsigned rounds;
	} cases[] = {
		{one_lockstep, 1000, 150},
		{one_crowd, 5000, 40},
		{one_by_its_own_clock, 9000, 150},
		{one_pair, 20000, 36},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		unsigned rounds = cases[i].rounds;
		uint64_t seed = lockstep_seed(cases[i].first, &rounds);

		for (unsigned n = 0; n < rounds; n++)
			cases[i].one(seed + n);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler against the model, on random configurations, arrivals and times. A failure names the
 * seed; SCHEDULER_SEED=<it> in the environment runs only that again.
 */
#include "test.h"

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

static void every_grant_is_one_the_rules_allow(void **state) {
	unsigned rounds = 150;
	uint64_t seed = lockstep_seed(1000, &rounds);

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_lockstep(seed + i);
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

static void crowds_have_their_turns(void **state) {
	unsigned rounds = 40;
	uint64_t seed = lockstep_seed(5000, &rounds);

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_crowd(seed + i);
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

static void its_own_clock_leaves_nothing(void **state) {
	unsigned rounds = 150;
	uint64_t seed = lockstep_seed(9000, &rounds);

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_by_its_own_clock(seed + i);
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

static void one_pair(uint64_t seed, void (*arrange)(struct lockstep_config *c)) {
	struct pair *p = test_calloc(1, sizeof(*p));
	struct random r = lockstep_random(seed);

	p->seed = seed;
	lockstep_random_config(&p->c, &r, LOCKSTEP_RATES | LOCKSTEP_RESERVED | LOCKSTEP_DEPI);
	arrange(&p->c);
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

static void both_divide_alike(void **state) {
	unsigned rounds = 20;
	uint64_t seed = lockstep_seed(20000, &rounds);

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_pair(seed + i, part_groups);
}

static void both_divide_shared_channels_alike(void **state) {
	unsigned rounds = 15;
	uint64_t seed = lockstep_seed(30000, &rounds);

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_pair(seed + i, level_flows);
}

/*
 * A group of one channel and a group of that and another, both with more than they can send: the
 * shared channel goes to the higher column, and to the smaller group where both are equal, since the
 * other has a channel of its own.
 */
static void one_shared_channel(uint8_t priority, uint64_t step) {
	static const uint32_t lists[] = {0, 1};
	const struct scheduler_channel channels[] = {{300000000, {0}}, {1890000000, {0}}};
	const struct scheduler_group groups[] = {{lists, 1}, {lists, 2}};
	const struct scheduler_modem modems[2] = {{{0, 0}}};
	struct scheduler_flow flows[2] = {
		{.group = 0, .modem = 0, .weight = 1, .priority = priority},
		{.group = 1, .modem = 1, .weight = 1},
	};
	const struct scheduler_config c = {channels, 2, groups, 2, modems, 2, flows, 2, 0, 200, 0};
	const uint64_t whole = channels[0].rate / 8 / 10;
	uint64_t bytes = 0;
	struct scheduler *s;

	flows[0].min_buffer = flows[0].buffer = flows[0].max_buffer = 150000;
	flows[1].min_buffer = flows[1].buffer = flows[1].max_buffer = 150000;
	s = scheduler_create(&c, NULL);
	assert_non_null(s);
	for (uint64_t now = 0; now < NS_PER_S / 10; now += step) {
		struct scheduler_grant g;

		while (true) {
			for (uint32_t f = 0; f < 2; f++) {
				struct scheduler_arrival in = {NULL, f, 1500};
				enum scheduler_verdict v;

				scheduler_enqueue(s, now, &in, 1, &v);
			}
			if (!lockstep_grant(s, now, &g))
				break;
			bytes += g.flow == 0 ? 1500 : 0;
		}
	}
	if (bytes < whole * 99 / 100)
		fail_msg("priority %u, a call each %llu ns: %llu of the channel's %llu bytes",
			 priority, (unsigned long long)step, (unsigned long long)bytes,
			 (unsigned long long)whole);
	while (scheduler_drain(s, (void *[1]){0}, 1) > 0)
		;
	scheduler_free(s);
}

static void shared_channel_goes_to_whom_it_is_due(void **state) {
	(void)state;
	for (uint64_t step = 1000; step <= 125000; step *= 5) {
		one_shared_channel(7, step);
		one_shared_channel(0, step);
	}
}

/*
 * One modem with an aggregate limit, a flow of long packets and one of short ones: the long ones have
 * their turns, in the scheduler and the model, although the bucket holds a short one long before.
 */
static void one_shared_limit(uint8_t priority) {
	static const uint32_t bytes[] = {1500, 64};
	const uint64_t rate = 8000000, whole = rate / 40, due = whole * (priority ? 99 : 48) / 100;
	struct lockstep *l = lockstep_simple();
	uint64_t had = 0;
	struct scheduler_grant g;

	l->c.modems[0].aggregate = (struct scheduler_limit){rate, 2000};
	l->c.flows[0].priority = priority;
	lockstep_open(l);
	for (; l->now < NS_PER_S / 5; l->now += 5000) {
		model_serve(l->m, l->now);
		for (uint32_t f = 0; f < 2; f++) {
			struct scheduler_arrival in = {NULL, f, bytes[f]};
			enum scheduler_verdict v;

			for (int n = 0; n < 40; n++)
				scheduler_enqueue(l->s, l->now, &in, 1, &v);
			while (l->m->flows[f].count < 40)
				model_queue(l->m, &in);
		}
		while (lockstep_grant(l->s, l->now, &g))
			had += g.flow == 0 ? bytes[0] : 0;
		while (model_pick(l->m, &g))
			;
	}
	assert_in_range(had, due, whole + 2000);
	assert_in_range(l->m->flows[0].bytes, due, whole + 2000);
	lockstep_unmake(l);
}

static void short_packets_do_not_keep_long_ones_waiting(void **state) {
	(void)state;
	one_shared_limit(0);
	one_shared_limit(7);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_grant_is_one_the_rules_allow),
		cmocka_unit_test(crowds_have_their_turns),
		cmocka_unit_test(its_own_clock_leaves_nothing),
		cmocka_unit_test(both_divide_alike),
		cmocka_unit_test(both_divide_shared_channels_alike),
		cmocka_unit_test(shared_channel_goes_to_whom_it_is_due),
		cmocka_unit_test(short_packets_do_not_keep_long_ones_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

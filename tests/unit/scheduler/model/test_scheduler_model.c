/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler against the model, on random configurations, arrivals and times, also while both are changed: every
 * packet comes once, of no flow out of order, with the next number, and by the new rules. A failure names the seed;
 * SCHEDULER_SEED=<it> in the environment runs only that again.
 */
#include "test_main.h"

#include "scheduler/internal.h"
#include "scheduler_lockstep.h"

#define MBPS UINT64_C(1000000)

typedef void change_function(struct lockstep *l);

/* Few arrivals at a time leave queues empty now and then, many fill them. */
static void arrivals(struct lockstep *l, uint32_t at_most) {
	struct scheduler_arrival in[MODEL_WAITING];
	const unsigned n = random_below(&l->r, at_most + 1);

	for (unsigned i = 0; i < n; i++)
		in[i] = (struct scheduler_arrival){
			.flow = random_below(&l->r, (uint32_t)l->m->flow_count),
			.bytes = lockstep_random_bytes(&l->c, &l->r),
		};
	lockstep_arrive(l, in, n);
}

static bool one_of(struct lockstep *l, uint32_t n) {
	return random_below(&l->r, n) == 0;
}

static void assert_done(struct lockstep *l, const char *why) {
	if (why == NULL) {
		lockstep_changed(l);
		return;
	}
	print_error("%s\n", why);
	lockstep_fail(l, "a good change was refused", 0, 0);
}

/* To what stands in `c`. Of another flow than the one that had its number, nothing was dropped. */
static void set_flow(struct lockstep *l, uint32_t flow) {
	assert_done(l, scheduler_set_flow(l->s, flow, &l->c.flows[flow]));
	if (l->m->flows[flow].is.group == SCHEDULER_NONE)
		memset(l->drops[flow], 0, sizeof(l->drops[flow]));
	model_set_flow(l->m, flow, &l->c.flows[flow]);
}

static void change_flow(struct lockstep *l) {
	uint32_t flow = random_below(&l->r, (uint32_t)l->m->flow_count);
	struct scheduler_flow *f = &l->c.flows[flow];

	lockstep_random_flow(&l->c, &l->r, LOCKSTEP_ALL, f);
	if (one_of(l, 5))
		f->group = SCHEDULER_NONE;
	if (f->group == SCHEDULER_NONE && l->m->flows[flow].count > 0) { /* it stays */
		assert_non_null(scheduler_set_flow(l->s, flow, f));
		*f = l->m->flows[flow].is;
	} else {
		set_flow(l, flow);
	}
}

/* None, one time in `none`. */
static struct scheduler_limit limit_or_none(struct lockstep *l, unsigned none) {
	if (one_of(l, none))
		return (struct scheduler_limit){0, 5};
	return (struct scheduler_limit){
		lockstep_random_rate(&l->r, 1000000, 12),
		random_between(&l->r, l->c.longest, 60000),
	};
}

/* Only its rates: the flow stays where it is. */
static void change_rates(struct lockstep *l) {
	uint32_t flow = random_below(&l->r, (uint32_t)l->m->flow_count);
	struct scheduler_flow *f = &l->c.flows[flow];

	f->sustained = limit_or_none(l, 4);
	f->peak = one_of(l, 3) ? lockstep_random_peak(&l->r, f->sustained.rate) : 0;
	f->reserved = f->sustained.rate / 4 < SCHEDULER_RATE_MIN ? 0 : f->sustained.rate / 4;
	set_flow(l, flow);
}

static void change_modem(struct lockstep *l) {
	uint32_t modem = random_below(&l->r, (uint32_t)l->m->modem_count);
	struct scheduler_modem *m = &l->c.modems[modem];

	m->aggregate = limit_or_none(l, 3);
	assert_done(l, scheduler_set_modem(l->s, modem, m));
	model_set_modem(l->m, modem, m);
}

static void change_group(struct lockstep *l) {
	uint32_t group = random_below(&l->r, (uint32_t)l->m->group_count);

	lockstep_random_group(&l->c, &l->r, group);
	assert_done(l, scheduler_set_group(l->s, group, &l->c.groups[group]));
	model_set_group(l->m, group, &l->c.groups[group]);
}

static void change_channel(struct lockstep *l) {
	uint32_t channel = random_below(&l->r, (uint32_t)l->m->channel_count);

	lockstep_random_channel(&l->r, LOCKSTEP_ALL, &l->c.channels[channel]);
	assert_done(l, scheduler_set_channel(l->s, channel, &l->c.channels[channel]));
	model_set_channel(l->m, channel, &l->c.channels[channel]);
}

static void change_limit(struct lockstep *l) {
	uint64_t rate = one_of(l, 3) ? 0 : lockstep_random_rate(&l->r, 10 * MBPS, 11);

	assert_done(l, scheduler_set_rate_limit(l->s, rate));
	model_set_rate_limit(l->m, rate);
}

/* What does not come from here takes its time of a channel, and is in none of its packets. */
static void charge(struct lockstep *l) {
	uint32_t channel = random_below(&l->r, (uint32_t)l->m->channel_count + 1);
	uint32_t bytes = random_below(&l->r, one_of(l, 10) ? 1000000 : 3000);

	scheduler_charge(l->s, channel, bytes);
	if (channel < l->m->channel_count && bytes > 0)
		model_charge(l->m, channel, bytes);
	lockstep_changed(l);
}

static void drain_flow(struct lockstep *l) {
	uint32_t flow = random_below(&l->r, (uint32_t)l->m->flow_count);

	lockstep_drain_flow(l, flow, random_below(&l->r, 20));
	lockstep_changed(l);
}

static void some_change(struct lockstep *l) {
	static change_function *const changes[] = {
		change_flow,	change_rates, change_modem, change_group,
		change_channel, change_limit, charge,	    drain_flow,
	};

	changes[random_below(&l->r, ARRAY_COUNT(changes))](l);
}

/* Traffic of all sorts; with a change now and then where there is one, and calls that leave work. */
static void mixed(struct lockstep *l, change_function *change) {
	static const uint64_t begins[] = {0, 1, 12345678901, UINT64_C(1) << 62};
	uint32_t busy = random_between(&l->r, 1, 30);

	l->hasty = change != NULL && l->seed % 2 > 0;
	l->now = begins[random_below(&l->r, ARRAY_COUNT(begins))];
	for (; l->step < 300; l->step++) {
		arrivals(l, one_of(l, 8) ? 60 : busy);
		if (change != NULL && one_of(l, 8))
			change(l);
		if (!one_of(l, 4))
			lockstep_dequeue(l, random_below(&l->r, MODEL_WAITING + 1));
		if (l->step % 50 == 0)
			lockstep_reports(l);
		l->now = lockstep_random_time(l);
	}
}

/* Queues that are never empty on few channels, for long: turns, columns and their guard. */
static void crowd(struct lockstep *l, change_function *none) {
	for (; l->step < 400; l->step++) {
		for (uint32_t f = 0; f < l->m->flow_count; f++) {
			for (int n = 0; n < 12 && l->m->flows[f].count < 12; n++) {
				struct scheduler_arrival in = {NULL, f,
							       lockstep_random_bytes(&l->c, &l->r)};

				lockstep_arrive(l, &in, 1);
			}
		}
		lockstep_dequeue(l, MODEL_WAITING);
		l->now += random_between(&l->r, 1000, 100000);
	}
}

/* Across the ends of the wheel's turns and of the ticks, up to which time passes by jumps that all count; something waits
 * meanwhile. */
static void far_ahead(struct lockstep *l, change_function *none) {
	const uint64_t turn = WHEEL_SPAN / TICKS_PER_NS, rebase = REBASE_AT / TICKS_PER_NS;
	const uint64_t ends[] = {turn, 2 * turn, 8 * turn, rebase,
				 rebase + REBASE_BY / TICKS_PER_NS};
	uint32_t busy = random_between(&l->r, 1, 30);

	lockstep_dequeue(l, 0); /* its clock begins at 0 */
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		const uint64_t to = ends[i] - random_below(&l->r, 4000000);

		while (l->now < to) {
			l->now +=
				to - l->now > MODEL_LONGEST_JUMP ? MODEL_LONGEST_JUMP : to - l->now;
			lockstep_dequeue(l, MODEL_WAITING);
		}
		for (uint64_t end = l->step + 100; l->step < end; l->step++) {
			arrivals(l, busy);
			lockstep_dequeue(l, random_below(&l->r, busy));
			l->now += random_between(&l->r, 1000, 100000);
		}
		lockstep_reports(l);
	}
}

/*
 * By scheduler_next() alone everything that waits goes, with few calls in vain, and just before the
 * time that it names nothing can go.
 */
static void by_its_own_clock(struct lockstep *l, change_function *none) {
	uint64_t next, vain = 0;

	arrivals(l, MODEL_WAITING - 1);
	arrivals(l, MODEL_WAITING - 1);
	for (; scheduler_queued(l->s) > 0; l->step++) {
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
}

/* The seed to begin with: of the environment, SCHEDULER_SEED, which makes it also the only one. */
static uint64_t first_seed(uint64_t otherwise, unsigned *rounds) {
	const char *given = getenv("SCHEDULER_SEED");

	if (given == NULL)
		return otherwise;
	*rounds = 1;
	return strtoull(given, NULL, 0);
}

/* Each from its first seed on; SCHEDULER_SEED stands for all of them. */
TEST(the_scheduler_does_as_the_model) {
	static const struct {
		void (*run)(struct lockstep *l, change_function *change);
		change_function *change;
		unsigned first, rounds;
	} cases[] = {
		{mixed, NULL, 1000, 150},
		{crowd, NULL, 5000, 40},
		{by_its_own_clock, NULL, 9000, 150},
		{far_ahead, NULL, 12000, 40},
		{mixed, change_flow, 40000, 30},
		{mixed, change_rates, 41000, 30},
		{mixed, change_modem, 42000, 30},
		{mixed, change_group, 43000, 30},
		{mixed, change_channel, 44000, 30},
		{mixed, change_limit, 45000, 30},
		{mixed, charge, 46000, 30},
		{mixed, drain_flow, 47000, 30},
		{mixed, some_change, 48000, 30},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		unsigned rounds = cases[i].rounds;
		uint64_t seed = first_seed(cases[i].first, &rounds);

		for (unsigned n = 0; n < rounds; n++) {
			struct lockstep *l = lockstep_open(
				seed + n, cases[i].change == NULL ? LOCKSTEP_ALL
								  : LOCKSTEP_ALL & ~LOCKSTEP_LONG);

			cases[i].run(l, cases[i].change);
			lockstep_reports(l);
			lockstep_drain(l);
			lockstep_close(l);
		}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the scheduler with the model on random configurations, arrivals and times, also while
 * both change. Each packet leaves once, those of a flow in order, with the next number and by the
 * new rules. A failure names the seed; SCHEDULER_SEED in the environment runs only that one. */
#include "test_main.h"

#include "scheduler/internal.h"
#include "scheduler_lockstep.h"

#define MBPS UINT64_C(1000000)

typedef void change_function(struct lockstep *l);

/* Few arrivals at a time leave queues empty at times, many fill them. */
static void random_arrivals(struct lockstep *l, uint32_t limit) {
	struct scheduler_arrival in[MODEL_QUEUED];
	const unsigned n = random_below(&l->r, limit + 1);

	for (unsigned i = 0; i < n; i++)
		in[i] = (struct scheduler_arrival){
			.flow = random_below(&l->r, (uint32_t)l->m->flow_count),
			.bytes = lockstep_random_bytes(&l->c, &l->r),
		};
	lockstep_arrive(l, in, n);
}

static bool one_in(struct lockstep *l, uint32_t n) {
	return random_below(&l->r, n) == 0;
}

static void check_accepted(struct lockstep *l, const char *why) {
	if (why == NULL) {
		lockstep_changed(l);
		return;
	}
	print_error("%s\n", why);
	lockstep_fail(l, "a valid change was refused", 0, 0);
}

/* Applies what is in `c`. A flow in a reused slot has no drops. */
static void set_flow(struct lockstep *l, uint32_t flow) {
	check_accepted(l, scheduler_set_flow(l->s, flow, &l->c.flows[flow]));
	if (l->m->flows[flow].set.group == SCHEDULER_NONE)
		memset(l->drops[flow], 0, sizeof(l->drops[flow]));
	model_set_flow(l->m, flow, &l->c.flows[flow]);
}

static void change_flow(struct lockstep *l) {
	uint32_t flow = random_below(&l->r, (uint32_t)l->m->flow_count);
	struct scheduler_flow *f = &l->c.flows[flow];

	lockstep_random_flow(&l->c, &l->r, LOCKSTEP_ALL, f);
	if (one_in(l, 5))
		f->group = SCHEDULER_NONE;
	if (f->group == SCHEDULER_NONE && l->m->flows[flow].count > 0) { /* it stays */
		assert_non_null(scheduler_set_flow(l->s, flow, f));
		*f = l->m->flows[flow].set;
	} else {
		set_flow(l, flow);
	}
}

/* No limit once in `none` times. */
static struct scheduler_limit limit_or_none(struct lockstep *l, unsigned none) {
	if (one_in(l, none))
		return (struct scheduler_limit){0, 5};
	return (struct scheduler_limit){
		lockstep_random_rate(&l->r, 1000000, 12),
		random_between(&l->r, l->c.longest, 60000),
	};
}

/* Changes the rates of a flow, which stays in its class. */
static void change_rates(struct lockstep *l) {
	uint32_t flow = random_below(&l->r, (uint32_t)l->m->flow_count);
	struct scheduler_flow *f = &l->c.flows[flow];

	f->sustained = limit_or_none(l, 4);
	f->peak = one_in(l, 3) ? lockstep_random_peak(&l->r, f->sustained.rate) : 0;
	f->reserved = f->sustained.rate / 4 < SCHEDULER_RATE_MIN ? 0 : f->sustained.rate / 4;
	set_flow(l, flow);
}

static void change_modem(struct lockstep *l) {
	uint32_t modem = random_below(&l->r, (uint32_t)l->m->modem_count);
	struct scheduler_modem *m = &l->c.modems[modem];

	m->aggregate = limit_or_none(l, 3);
	check_accepted(l, scheduler_set_modem(l->s, modem, m));
	model_set_modem(l->m, modem, m);
}

static void change_group(struct lockstep *l) {
	uint32_t group = random_below(&l->r, (uint32_t)l->m->group_count);

	lockstep_random_group(&l->c, &l->r, group);
	check_accepted(l, scheduler_set_group(l->s, group, &l->c.groups[group]));
	model_set_group(l->m, group, &l->c.groups[group]);
}

static void change_channel(struct lockstep *l) {
	uint32_t channel = random_below(&l->r, (uint32_t)l->m->channel_count);

	lockstep_random_channel(&l->r, LOCKSTEP_ALL, &l->c.channels[channel]);
	check_accepted(l, scheduler_set_channel(l->s, channel, &l->c.channels[channel]));
	model_set_channel(l->m, channel, &l->c.channels[channel]);
}

static void change_limit(struct lockstep *l) {
	uint64_t rate = one_in(l, 3) ? 0 : lockstep_random_rate(&l->r, 10 * MBPS, 11);

	check_accepted(l, scheduler_set_rate_limit(l->s, rate));
	model_set_rate_limit(l->m, rate);
}

/* Traffic that bypasses the scheduler takes time of a channel, and is not in its packets. */
static void charge(struct lockstep *l) {
	uint32_t channel = random_below(&l->r, (uint32_t)l->m->channel_count + 1);
	uint32_t bytes = random_below(&l->r, one_in(l, 10) ? 1000000 : 3000);

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

static void random_change(struct lockstep *l) {
	static change_function *const changes[] = {
		change_flow,	change_rates, change_modem, change_group,
		change_channel, change_limit, charge,	    drain_flow,
	};

	changes[random_below(&l->r, ARRAY_COUNT(changes))](l);
}

/* Random traffic with calls that leave work and, if `change` is not NULL, changes. */
static void run_mixed(struct lockstep *l, change_function *change) {
	static const uint64_t begins[] = {0, 1, 12345678901, UINT64_C(1) << 62};
	uint32_t busy = random_between(&l->r, 1, 30);

	l->skips_calls = change != NULL && l->seed % 2 > 0;
	l->now = begins[random_below(&l->r, ARRAY_COUNT(begins))];
	for (; l->step < 300; l->step++) {
		random_arrivals(l, one_in(l, 8) ? 60 : busy);
		if (change != NULL && one_in(l, 8))
			change(l);
		if (!one_in(l, 4))
			lockstep_dequeue(l, random_below(&l->r, MODEL_QUEUED + 1));
		if (l->step % 50 == 0)
			lockstep_reports(l);
		l->now = lockstep_random_time(l);
	}
}

/* Queues that are never empty, on few channels: round robin, class queues, lower priorities. */
static void run_full_queues(struct lockstep *l, change_function *none) {
	for (; l->step < 400; l->step++) {
		for (uint32_t f = 0; f < l->m->flow_count; f++) {
			for (int n = 0; n < 12 && l->m->flows[f].count < 12; n++) {
				struct scheduler_arrival in = {NULL, f,
							       lockstep_random_bytes(&l->c, &l->r)};

				lockstep_arrive(l, &in, 1);
			}
		}
		lockstep_dequeue(l, MODEL_QUEUED);
		l->now += random_between(&l->r, 1000, 100000);
	}
}

/* Crosses the span of the wheel and the end of the ticks, with packets queued. */
static void run_far_ahead(struct lockstep *l, change_function *none) {
	const uint64_t span = WHEEL_SPAN / TICKS_PER_NS, rebase = REBASE_AT / TICKS_PER_NS;
	const uint64_t ends[] = {span, 2 * span, 8 * span, rebase,
				 rebase + REBASE_BY / TICKS_PER_NS};
	uint32_t busy = random_between(&l->r, 1, 30);

	lockstep_dequeue(l, 0); /* its clock begins at 0 */
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		const uint64_t to = ends[i] - random_below(&l->r, 4000000);

		while (l->now < to) {
			l->now +=
				to - l->now > MODEL_LONGEST_JUMP ? MODEL_LONGEST_JUMP : to - l->now;
			lockstep_dequeue(l, MODEL_QUEUED);
		}
		for (uint64_t end = l->step + 100; l->step < end; l->step++) {
			random_arrivals(l, busy);
			lockstep_dequeue(l, random_below(&l->r, busy));
			l->now += random_between(&l->r, 1000, 100000);
		}
		lockstep_reports(l);
	}
}

/* At the times of scheduler_next() all packets leave, with few vain calls, and none just before. */
static void run_by_next_time(struct lockstep *l, change_function *none) {
	uint64_t next, vain_calls = 0;

	random_arrivals(l, MODEL_QUEUED - 1);
	random_arrivals(l, MODEL_QUEUED - 1);
	for (; scheduler_queued(l->s) > 0; l->step++) {
		next = scheduler_next(l->s);
		if (next > l->now + 1) {
			if (next == UINT64_MAX)
				lockstep_fail(
					l, "packets are queued, but scheduler_next() has no time",
					0, 0);
			l->now = next - 1;
			if (lockstep_dequeue(l, 64) > 0)
				lockstep_fail(l, "granted before scheduler_next()", next, 0);
			l->now = next;
		}
		vain_calls = lockstep_dequeue(l, 64) > 0 ? 0 : vain_calls + 1;
		l->now += vain_calls > 0; /* scheduler_next() may be a fraction too early */
		if (vain_calls > 20)
			lockstep_fail(l, "too many vain calls", scheduler_next(l->s), vain_calls);
	}
}

/* The first seed: `fallback`, or SCHEDULER_SEED of the environment, which is the only one. */
static uint64_t first_seed(uint64_t fallback, unsigned *rounds) {
	const char *text = getenv("SCHEDULER_SEED");

	if (text == NULL)
		return fallback;
	*rounds = 1;
	return strtoull(text, NULL, 0);
}

/* Each case has its own first seed. SCHEDULER_SEED replaces all of them. */
TEST(scheduler_agrees_with_model) {
	static const struct {
		void (*run)(struct lockstep *l, change_function *change);
		change_function *change;
		unsigned first, rounds;
	} cases[] = {
		{run_mixed, NULL, 1000, 150},		{run_full_queues, NULL, 5000, 40},
		{run_by_next_time, NULL, 9000, 150},	{run_far_ahead, NULL, 12000, 40},
		{run_mixed, change_flow, 40000, 30},	{run_mixed, change_rates, 41000, 30},
		{run_mixed, change_modem, 42000, 30},	{run_mixed, change_group, 43000, 30},
		{run_mixed, change_channel, 44000, 30}, {run_mixed, change_limit, 45000, 30},
		{run_mixed, charge, 46000, 30},		{run_mixed, drain_flow, 47000, 30},
		{run_mixed, random_change, 48000, 30},
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

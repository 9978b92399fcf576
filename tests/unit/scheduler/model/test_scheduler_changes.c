/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler changed while traffic runs, beside the model that is changed in the same way: every
 * packet comes once, of no flow out of order, with the next number, and by the new rules.
 */
#include "test_main.h"

#include <string.h>

#include "scheduler_lockstep.h"

#define MBPS UINT64_C(1000000)

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
	if (one_of(l, 5) && l->m->flows[flow].count == 0)
		f->group = SCHEDULER_NONE;
	set_flow(l, flow);
}

/* Only its rates: the flow stays where it is. */
static void change_rates(struct lockstep *l) {
	uint32_t flow = random_below(&l->r, (uint32_t)l->m->flow_count);
	struct scheduler_flow *f = &l->c.flows[flow];

	f->sustained = (struct scheduler_limit){0, 0};
	if (!one_of(l, 4))
		f->sustained = (struct scheduler_limit){
			lockstep_random_rate(&l->r, 1000000, 12),
			random_between(&l->r, l->c.longest, 60000),
		};
	f->peak = one_of(l, 3) ? f->sustained.rate + lockstep_random_rate(&l->r, MBPS, 10) : 0;
	f->reserved = f->sustained.rate / 4;
	set_flow(l, flow);
}

static void change_modem(struct lockstep *l) {
	uint32_t modem = random_below(&l->r, (uint32_t)l->m->modem_count);
	struct scheduler_modem *m = &l->c.modems[modem];

	m->aggregate = (struct scheduler_limit){0, 0};
	if (!one_of(l, 3))
		m->aggregate = (struct scheduler_limit){
			lockstep_random_rate(&l->r, 1000000, 12),
			random_between(&l->r, l->c.longest, 60000),
		};
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

typedef void change_function(struct lockstep *l);

static void some_change(struct lockstep *l) {
	static change_function *const changes[] = {
		change_flow, change_rates, change_modem, change_group, change_channel, change_limit,
	};

	changes[random_below(&l->r, ARRAY_COUNT(changes))](l);
}

/* Traffic of all sorts, with a change now and then. */
static void one_run(uint64_t seed, change_function *change) {
	struct lockstep *l = test_calloc(1, sizeof(*l));

	*l = (struct lockstep){.seed = seed, .r = lockstep_random(seed), .hasty = seed % 2 > 0};
	lockstep_random_config(&l->c, &l->r, random_next(&l->r) & LOCKSTEP_ALL & ~LOCKSTEP_LONG);
	lockstep_open(l);
	for (l->step = 0; l->step < 300; l->step++) {
		for (uint32_t n = random_below(&l->r, 20); n > 0; n--)
			lockstep_arrive(l, random_below(&l->r, (uint32_t)l->m->flow_count),
					lockstep_random_bytes(&l->c, &l->r));
		if (one_of(l, 8))
			change(l);
		if (!one_of(l, 4))
			lockstep_dequeue(l, random_below(&l->r, MODEL_WAITING + 1));
		if (l->step % 50 == 0)
			lockstep_reports(l);
		l->now = lockstep_random_time(l);
	}
	lockstep_reports(l);
	lockstep_drain(l);
	lockstep_close(l);
	test_free(l);
}

TEST(all_sorts_of_changes) {
	static change_function *const changes[] = {
		change_flow,	change_rates, change_modem, change_group,
		change_channel, change_limit, some_change,
	};

	for (size_t c = 0; c < ARRAY_COUNT(changes); c++) {
		unsigned rounds = 30;
		uint64_t seed = lockstep_seed(40000 + 1000 * c, &rounds);

		for (unsigned i = 0; i < rounds; i++)
			one_run(seed + i, changes[c]);
	}
}

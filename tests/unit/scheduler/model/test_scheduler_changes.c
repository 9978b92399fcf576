/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler changed while traffic runs, beside the model that is changed in the same way: every
 * packet comes once, of no flow out of order, with the next number, and by the new rules.
 */
#include "test.h"

#include <string.h>

#include "scheduler_lockstep.h"

#define MBPS UINT64_C(1000000)
#define NS_PER_MS UINT64_C(1000000)

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

static void runs(uint64_t first, change_function *change) {
	unsigned rounds = 30;
	uint64_t seed = lockstep_seed(first, &rounds);

	for (unsigned i = 0; i < rounds; i++)
		one_run(seed + i, change);
}

static void flows_change(void **state) {
	(void)state;
	runs(40000, change_flow);
}

static void rates_change(void **state) {
	(void)state;
	runs(41000, change_rates);
}

static void modems_change(void **state) {
	(void)state;
	runs(42000, change_modem);
}

static void groups_change(void **state) {
	(void)state;
	runs(43000, change_group);
}

static void channels_change(void **state) {
	(void)state;
	runs(44000, change_channel);
}

static void limits_change(void **state) {
	(void)state;
	runs(45000, change_limit);
}

static void all_change(void **state) {
	(void)state;
	runs(46000, some_change);
}

static void simple_close(struct lockstep *l) {
	lockstep_reports(l);
	lockstep_drain(l);
	lockstep_close(l);
	test_free(l);
}

static void arrive(struct lockstep *l, uint32_t flow, uint32_t bytes, int times) {
	while (times-- > 0)
		lockstep_arrive(l, flow, bytes);
}

/* A flow that would wait for seconds goes on at its new rate, in time, and its numbers go on. */
static void parked_flow_goes_on_when_its_rate_is_raised(void **state) {
	struct lockstep *l = lockstep_simple();
	struct scheduler_limit slow = {8000, 1000}, fast = {80 * MBPS, 1000};
	uint64_t raised;

	(void)state;
	l->c.flows[0].sustained = slow;
	lockstep_open(l);
	arrive(l, 0, 1000, 20);
	assert_int_equal(lockstep_dequeue(l, 100), 1);
	l->now += NS_PER_MS;
	assert_int_equal(lockstep_dequeue(l, 100), 0);
	assert_in_range(scheduler_next(l->s), 2 * NS_PER_MS, 1001 * NS_PER_MS);
	l->c.flows[0].sustained = fast; /* a packet takes 100 us */
	set_flow(l, 0);
	raised = l->now;
	assert_in_range(scheduler_next(l->s), 0, raised + 100000 + LOCKSTEP_SLOP_NS);
	for (uint64_t sent = 0; sent < 19; l->now += 1000) {
		sent += lockstep_dequeue(l, 100);
		assert_in_range(sent * 100000, 0, l->now - raised + 100000);
	}
	assert_in_range(l->now - raised, 1899000 - 1000, 1900000 + 19 * (LOCKSTEP_SLOP_NS + 1000));
	simple_close(l);
}

static void parked_flow_waits_longer_when_its_rate_is_lowered(void **state) {
	struct lockstep *l = lockstep_simple();

	(void)state;
	l->c.flows[0].sustained = (struct scheduler_limit){8 * MBPS, 1000};
	lockstep_open(l);
	arrive(l, 0, 1000, 2);
	assert_int_equal(lockstep_dequeue(l, 100), 1);
	l->now += NS_PER_MS / 2;
	assert_int_equal(lockstep_dequeue(l, 100), 0);
	l->c.flows[0].sustained.rate = MBPS; /* the half that is missing takes 4 ms */
	set_flow(l, 0);
	l->now += 4 * NS_PER_MS - 1000;
	assert_int_equal(lockstep_dequeue(l, 100), 0);
	l->now += 1000 + LOCKSTEP_SLOP_NS;
	assert_int_equal(lockstep_dequeue(l, 100), 1);
	simple_close(l);
}

/* A higher burst is not at once full: what the bucket held, it holds. */
static void raised_burst_gives_nothing_away(void **state) {
	struct lockstep *l = lockstep_simple();

	(void)state;
	l->c.flows[0].sustained = (struct scheduler_limit){8 * MBPS, 2000};
	lockstep_open(l);
	arrive(l, 0, 1000, 50);
	assert_int_equal(lockstep_dequeue(l, 100), 2);
	l->c.flows[0].sustained.burst = 40000;
	set_flow(l, 0);
	l->now += LOCKSTEP_SLOP_NS;
	assert_int_equal(lockstep_dequeue(l, 100), 0);
	l->now += NS_PER_MS; /* and fills from there: 1,000 bytes */
	assert_int_equal(lockstep_dequeue(l, 100), 1);
	simple_close(l);
}

/* What became longer than the burst goes all the same, when the bucket is full, and is paid for. */
static void packet_longer_than_a_new_burst_goes(void **state) {
	struct lockstep *l = lockstep_simple();

	(void)state;
	l->c.flows[0].sustained = (struct scheduler_limit){8 * MBPS, 4000};
	lockstep_open(l);
	arrive(l, 0, 3000, 3);
	assert_int_equal(lockstep_dequeue(l, 100), 1);
	l->c.flows[0].sustained.burst = 1000;
	set_flow(l, 0);
	assert_int_equal(lockstep_arrive(l, 0, 1001), SCHEDULER_TOO_LONG);
	for (int ms = 0; ms < 10; ms++) {
		l->now += NS_PER_MS;
		lockstep_dequeue(l, 100);
	}
	assert_int_equal(scheduler_held(l->s), 0);
	simple_close(l);
}

/* What waits stays, also in excess of the new buffer; only what comes is refused. */
static void smaller_buffer_drops_nothing(void **state) {
	struct lockstep *l = lockstep_simple();

	(void)state;
	lockstep_open(l);
	arrive(l, 0, 1500, 50);
	l->c.flows[0].min_buffer = l->c.flows[0].buffer = l->c.flows[0].max_buffer = 3000;
	set_flow(l, 0);
	assert_int_equal(scheduler_held(l->s), 50);
	assert_int_equal(lockstep_arrive(l, 0, 64), SCHEDULER_FLOW_FULL);
	while (scheduler_held(l->s) > 0) {
		lockstep_dequeue(l, 100);
		l->now += 1000;
	}
	assert_int_equal(lockstep_arrive(l, 0, 64), SCHEDULER_QUEUED);
	simple_close(l);
}

/* The priority of a flow that waits changes with all its packets. */
static void waiting_flow_changes_its_priority(void **state) {
	struct lockstep *l = lockstep_simple();
	struct scheduler_grant g;

	(void)state;
	lockstep_open(l);
	arrive(l, 0, 1500, 10);
	arrive(l, 1, 1500, 10);
	l->c.flows[1].priority = 3;
	set_flow(l, 1);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(scheduler_dequeue(l->s, 0, &g, 1), 1);
		assert_int_equal(g.flow, i < 10);
		assert_int_equal(g.sequence, i % 10);
	}
	scheduler_free(l->s);
	test_free(l->m);
	test_free(l);
}

/* A flow that is put in use again has nothing of the one that had its number: its bucket is full. */
static void flow_in_use_again_has_a_bucket_of_its_own(void **state) {
	struct lockstep *l = lockstep_simple();

	(void)state;
	l->c.flows[0].sustained = (struct scheduler_limit){8000, 3000};
	l->c.flows[0].reserved = 8000;
	lockstep_open(l);
	arrive(l, 0, 1500, 2);
	assert_int_equal(lockstep_dequeue(l, 100), 2);
	l->c.flows[0].group = SCHEDULER_NONE;
	set_flow(l, 0);
	assert_int_equal(lockstep_arrive(l, 0, 1500), SCHEDULER_NO_FLOW);
	l->c.flows[0].group = 0;
	set_flow(l, 0);
	arrive(l, 0, 1500, 3);
	assert_int_equal(lockstep_dequeue(l, 100), 2);
	simple_close(l);
}

/* What a modem's flows waited for goes with its flow: nothing that fits waits on for it. */
static void modem_does_not_wait_for_what_left_it(void **state) {
	struct lockstep *l = lockstep_simple();

	(void)state;
	l->c.config.modem_count = 2;
	l->c.modems[0].aggregate = (struct scheduler_limit){80000, 2000}; /* 0.1 s a 1,000 bytes */
	l->c.flows[0].priority = 1;
	lockstep_open(l);
	arrive(l, 0, 1500, 2);
	lockstep_arrive(l, 1, 400);
	assert_int_equal(lockstep_dequeue(l, 100), 1);
	l->now += 1000;
	assert_int_equal(lockstep_dequeue(l, 100), 0);
	l->c.flows[0].modem = 1;
	set_flow(l, 0);
	l->now += 2 * LOCKSTEP_SLOP_NS;
	assert_int_equal(lockstep_dequeue(l, 100), 2);
	simple_close(l);
}

/* The meter of a reserved rate keeps its bytes: 1,000 of them are another time at another rate. */
static void raised_reserved_rate_holds_from_now_on(void **state) {
	const uint64_t ms = NS_PER_MS + LOCKSTEP_SLOP_NS;
	struct lockstep *l = lockstep_simple();
	struct scheduler_grant g;

	(void)state;
	l->c.channels[0].rate = 8 * MBPS; /* its lead is less than one of these packets */
	l->c.flows[0].reserved = 80000;
	l->c.flows[1].priority = 7;
	lockstep_open(l);
	arrive(l, 0, 1000, 8);
	arrive(l, 1, 1000, 8);
	assert_int_equal(scheduler_dequeue(l->s, 0, &g, 1), 1);
	assert_int_equal(g.flow, 0); /* and the next in 100 ms */
	l->c.flows[0].reserved = 4 * MBPS; /* or in 2 ms */
	assert_done(l, scheduler_set_flow(l->s, 0, &l->c.flows[0]));
	for (unsigned i = 1; i < 7; i++) {
		assert_int_equal(scheduler_dequeue(l->s, i * ms, &g, 1), 1);
		assert_int_equal(g.flow, i % 2);
	}
	scheduler_free(l->s);
	test_free(l->m);
	test_free(l);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_change),
		cmocka_unit_test(rates_change),
		cmocka_unit_test(modems_change),
		cmocka_unit_test(groups_change),
		cmocka_unit_test(channels_change),
		cmocka_unit_test(limits_change),
		cmocka_unit_test(all_change),
		cmocka_unit_test(parked_flow_goes_on_when_its_rate_is_raised),
		cmocka_unit_test(parked_flow_waits_longer_when_its_rate_is_lowered),
		cmocka_unit_test(raised_burst_gives_nothing_away),
		cmocka_unit_test(packet_longer_than_a_new_burst_goes),
		cmocka_unit_test(smaller_buffer_drops_nothing),
		cmocka_unit_test(waiting_flow_changes_its_priority),
		cmocka_unit_test(flow_in_use_again_has_a_bucket_of_its_own),
		cmocka_unit_test(modem_does_not_wait_for_what_left_it),
		cmocka_unit_test(raised_reserved_rate_holds_from_now_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

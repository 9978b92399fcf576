/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: places that are free, and what comes into a place that another one has left. */
#include "test.h"

#include <string.h>

#include "scheduler/report.h"

#define MBPS 1000000ull
#define NS_PER_MS 1000000ull

static const uint32_t both_channels[] = {0, 1};
static const uint32_t third_channel[] = {2};

/* Of three places each: two channels, a group of both, two modems, two flows. */
struct setup {
	struct scheduler_config config;
	struct scheduler_channel channels[3];
	struct scheduler_group groups[3];
	struct scheduler_modem modems[3];
	struct scheduler_flow flows[3];
};

static void setup_make(struct setup *c) {
	*c = (struct setup){
		.config = {.channels = c->channels,
			   .channel_count = 3,
			   .groups = c->groups,
			   .group_count = 3,
			   .modems = c->modems,
			   .modem_count = 3,
			   .flows = c->flows,
			   .flow_count = 3,
			   .packet_limit = 1000},
		.channels = {{100 * MBPS, {0}}, {100 * MBPS, {0}}, {0, {0}}},
		.groups = {{NULL, 0}, {both_channels, 2}, {NULL, 0}},
	};
	for (uint32_t i = 0; i < 3; i++)
		c->flows[i] = (struct scheduler_flow){
			.group = i < 2 ? 1 : SCHEDULER_NONE,
			.modem = i,
			.weight = 1,
			.min_buffer = 100000,
			.buffer = 100000,
			.max_buffer = 100000,
		};
}

static struct scheduler *make(struct setup *c) {
	struct scheduler *s;
	const char *why;

	setup_make(c);
	s = scheduler_create(&c->config, &why);
	assert_null(why);
	assert_non_null(s);
	return s;
}

static enum scheduler_verdict put(struct scheduler *s, uint64_t now, uint32_t flow,
				  uint32_t bytes) {
	struct scheduler_arrival in = {s, flow, bytes};
	enum scheduler_verdict verdict;

	scheduler_enqueue(s, now, &in, 1, &verdict);
	return verdict;
}

/* Puts a packet in and takes it out at once. */
static struct scheduler_grant pass(struct scheduler *s, uint64_t now, uint32_t flow) {
	struct scheduler_grant g = {0};

	assert_int_equal(put(s, now, flow, 1000), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_flow_held(s, flow), 1);
	assert_int_equal(scheduler_dequeue(s, now, &g, 1), 1);
	assert_int_equal(g.flow, flow);
	assert_int_equal(scheduler_flow_held(s, flow), 0);
	return g;
}

static struct scheduler_flow_report report_of(const struct scheduler *s, uint32_t flow) {
	struct scheduler_flow_report r;

	scheduler_report_flow(s, flow, &r);
	return r;
}

static void flow_goes(struct scheduler *s, struct setup *c, uint32_t flow) {
	struct scheduler_flow none = c->flows[flow];

	none.group = SCHEDULER_NONE;
	assert_null(scheduler_set_flow(s, flow, &none));
}

/* Numbers begin at 0, counters too; what was refused between the two is nobody's. */
static void flow_begins_with_nothing_of_the_last(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);
	struct scheduler_flow_report r;

	(void)state;
	for (uint16_t i = 0; i < 5; i++)
		assert_int_equal(pass(s, i * NS_PER_MS, 0).sequence, i);
	assert_int_equal(put(s, 5 * NS_PER_MS, 0, 0), SCHEDULER_TOO_LONG);
	assert_int_equal(pass(s, 5 * NS_PER_MS, 1).sequence, 0);
	flow_goes(s, &c, 0);
	assert_int_equal(report_of(s, 0).packets, 5); /* to be read until it is another one */
	assert_int_equal(put(s, 5 * NS_PER_MS, 0, 1000), SCHEDULER_NO_FLOW);
	assert_null(scheduler_set_flow(s, 0, &c.flows[0]));
	r = report_of(s, 0);
	assert_int_equal(r.packets, 0);
	assert_int_equal(r.bytes, 0);
	for (unsigned v = 0; v < SCHEDULER_VERDICTS; v++)
		assert_int_equal(r.drops[v], 0);
	assert_int_equal(pass(s, 6 * NS_PER_MS, 0).sequence, 0);
	assert_int_equal(pass(s, 7 * NS_PER_MS, 0).sequence, 1);
	assert_int_equal(pass(s, 7 * NS_PER_MS, 1).sequence, 1); /* the others go on */
	scheduler_free(s);
}

/* A change of a flow that is there leaves its numbers and counters. */
static void flow_that_stays_goes_on(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);

	(void)state;
	pass(s, 0, 0);
	c.flows[0].priority = 3;
	assert_null(scheduler_set_flow(s, 0, &c.flows[0]));
	assert_int_equal(pass(s, NS_PER_MS, 0).sequence, 1);
	assert_int_equal(report_of(s, 0).packets, 2);
	scheduler_free(s);
}

static void congestion_is_forgotten(void **state, enum scheduler_aqm aqm) {
	struct setup c;
	struct scheduler *s = make(&c);
	uint64_t now = 0, dropped = 0;

	(void)state;
	c.flows[0].aqm = aqm;
	c.flows[0].wred = (struct scheduler_wred){3000, 6000, 65536, 1};
	c.flows[0].latency_target = 1000000;
	c.flows[0].sustained = (struct scheduler_limit){MBPS, 2000};
	assert_null(scheduler_set_flow(s, 0, &c.flows[0]));
	for (unsigned i = 0; i < 2000; i++, now += NS_PER_MS) {
		struct scheduler_grant g;

		dropped += put(s, now, 0, 1000) != SCHEDULER_QUEUED;
		scheduler_dequeue(s, now, &g, 1);
	}
	assert_true(dropped > 100);
	for (void *packet; scheduler_drain_flow(s, 0, &packet, 1) == 1;)
		;
	flow_goes(s, &c, 0);
	assert_null(scheduler_set_flow(s, 0, &c.flows[0]));
	assert_int_equal(report_of(s, 0).drop_probability, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(put(s, now, 0, 900), SCHEDULER_QUEUED);
	for (void *packet; scheduler_drain_flow(s, 0, &packet, 1) == 1;)
		;
	scheduler_free(s);
}

static void wred_begins_anew(void **state) {
	congestion_is_forgotten(state, SCHEDULER_WRED);
}

static void pie_begins_anew(void **state) {
	congestion_is_forgotten(state, SCHEDULER_DOCSIS_PIE);
}

/* A modem without flows and without a limit is a free place: the next has a full bucket. */
static void modem_begins_with_a_full_bucket(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);
	struct scheduler_grant g;
	const struct scheduler_modem limited = {{MBPS, 2000}}, none = {{0, 0}};

	(void)state;
	assert_null(scheduler_set_modem(s, 0, &limited));
	pass(s, 0, 0);
	pass(s, 0, 0);
	assert_int_equal(put(s, 0, 0, 1000), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_dequeue(s, 0, &g, 1), 0);
	for (void *packet; scheduler_drain_flow(s, 0, &packet, 1) == 1;)
		;
	flow_goes(s, &c, 0);
	assert_null(scheduler_set_modem(s, 0, &none));
	assert_null(scheduler_set_modem(s, 0, &limited));
	assert_null(scheduler_set_flow(s, 0, &c.flows[0]));
	pass(s, 0, 0);
	pass(s, 0, 0);
	scheduler_free(s);
}

/* A channel, a group of it and a flow come, carry packets, and go again, many times. */
static void channel_and_group_come_and_go(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);
	const struct scheduler_channel channel = {100 * MBPS, {0}}, no_channel = {0, {0}};
	const struct scheduler_group group = {third_channel, 1}, no_group = {NULL, 0};
	struct scheduler_channel_report r;
	struct scheduler_group_report of_group;
	uint64_t now = 0;

	(void)state;
	c.flows[2].group = 2;
	for (unsigned i = 0; i < 100; i++) {
		struct scheduler_grant g;

		assert_null(scheduler_set_channel(s, 2, &channel));
		assert_null(scheduler_set_group(s, 2, &group));
		assert_null(scheduler_set_flow(s, 2, &c.flows[2]));
		assert_int_equal(scheduler_dequeue(s, now, &g, 1), 0); /* it comes together */
		for (uint16_t k = 0; k < 3; k++, now += NS_PER_MS) {
			g = pass(s, now, 2);
			assert_int_equal(g.channel, 2);
			assert_int_equal(g.sequence, k);
			assert_true(pass(s, now, 1).channel < 2);
		}
		scheduler_report_channel(s, 2, &r);
		assert_int_equal(r.packets, 3);
		scheduler_report_group(s, 2, &of_group);
		assert_int_equal(of_group.packets, 3);
		flow_goes(s, &c, 2);
		assert_null(scheduler_set_group(s, 2, &no_group));
		assert_null(scheduler_set_channel(s, 2, &no_channel));
	}
	scheduler_free(s);
}

/* The same under a limit of the service group, by which all groups compete with each other. */
static void free_places_are_in_nobodys_way(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		struct scheduler_grant g;

		assert_null(scheduler_set_rate_limit(s, i % 2 == 0 ? 50 * MBPS : 0));
		while (scheduler_is_changing(s))
			scheduler_dequeue(s, 0, &g, 1);
		pass(s, 10 * i * NS_PER_MS, 0);
		pass(s, 10 * i * NS_PER_MS, 1);
	}
	scheduler_free(s);
}

/* What somebody refers to stays, and nobody refers to what is not there. */
static void references_are_kept(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);
	const struct scheduler_channel no_channel = {0, {0}};
	const struct scheduler_group of_none = {third_channel, 1}, empty = {NULL, 0};

	(void)state;
	assert_string_equal(scheduler_set_channel(s, 1, &no_channel),
			    "a channel of a bonding group has no rate");
	assert_string_equal(scheduler_set_group(s, 1, &empty),
			    "a bonding group with flows has no channel");
	assert_string_equal(scheduler_set_group(s, 2, &of_none),
			    "a bonding group has a channel without a rate");
	c.flows[0].group = 2;
	assert_string_equal(scheduler_set_flow(s, 0, &c.flows[0]),
			    "a flow has a bonding group without a channel");
	assert_true(pass(s, 0, 0).channel < 2);
	assert_int_equal(pass(s, 0, 0).sequence, 1);
	scheduler_free(s);
}

/* What is asked beforehand knows nothing of what is there, and changes nothing. */
static void checks_tell_without_effect(void **state) {
	struct setup c;
	struct scheduler *s = make(&c);
	const struct scheduler_group of_none = {third_channel, 1};
	struct scheduler_modem modem = {{1, 2000}};
	struct scheduler_channel channel = {1, {0}};

	(void)state;
	c.flows[0].group = 2;
	assert_null(scheduler_check_flow(s, &c.flows[0]));
	assert_null(scheduler_check_group(s, &of_none));
	c.flows[0].group = 3;
	assert_non_null(scheduler_check_flow(s, &c.flows[0]));
	assert_non_null(
		scheduler_check_group(s, &(struct scheduler_group){(const uint32_t[]){3}, 1}));
	assert_non_null(scheduler_check_modem(&modem));
	assert_non_null(scheduler_check_channel(&channel));
	assert_non_null(scheduler_check_rate_limit(1));
	modem.aggregate.rate = channel.rate = MBPS;
	assert_null(scheduler_check_modem(&modem));
	assert_null(scheduler_check_channel(&channel));
	assert_null(scheduler_check_rate_limit(0));
	assert_true(pass(s, 0, 0).channel < 2);
	scheduler_free(s);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flow_begins_with_nothing_of_the_last),
		cmocka_unit_test(flow_that_stays_goes_on),
		cmocka_unit_test(wred_begins_anew),
		cmocka_unit_test(pie_begins_anew),
		cmocka_unit_test(modem_begins_with_a_full_bucket),
		cmocka_unit_test(channel_and_group_come_and_go),
		cmocka_unit_test(free_places_are_in_nobodys_way),
		cmocka_unit_test(references_are_kept),
		cmocka_unit_test(checks_tell_without_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

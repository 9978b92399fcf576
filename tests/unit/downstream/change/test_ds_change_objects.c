/* SPDX-License-Identifier: BSD-3-Clause */
/* Each object comes into a downstream, differs and goes, while packets flow between the steps. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/report.h"

#include "change_rig.h"

static uint64_t dropped(enum drop_reason reason) {
	struct counters c;

	downstream_counters(rig->d, &c);
	return c.drops[reason];
}

static void send_some(void) {
	rig_send_all();
	rig_round();
}

/* Taken over, with packets between the steps and after them, to the end. */
static void change_in_traffic(void) {
	rig_send_all();
	if (!rig_begin())
		fail_msg("%s", rig->why);
	send_some();
	rig_take(send_some);
	send_some();
	rig_finish(true);
	send_some();
	rig_settle();
	assert_int_equal(rig->back, rig->queued);
}

static void modem_comes_and_goes(void **state) {
	struct rig_modem *m;

	(void)state;
	rig_open();
	assert_int_equal(rig_send(30, 7).reason, DROP_UNKNOWN_DESTINATION);
	m = rig_modem(5, 7);
	rig_address(m, 30);
	rig_address(m, 59);
	rig_flow(m, 20, 0);
	rig_flow(m, 21, 1);
	rig_classifier(m, 1001, 1);
	rig_will(LIVE_MODEM, 5, m);
	change_in_traffic();
	assert_int_equal(rig_send(30, 7).flow, 20);
	assert_int_equal(rig_send(30, 1001).flow, 21);
	assert_int_equal(rig_send(59, 7).modem, 5);

	rig_will(LIVE_MODEM, 5, NULL);
	change_in_traffic();
	assert_int_equal(rig_send(30, 7).reason, DROP_UNKNOWN_DESTINATION);
	assert_int_equal(dropped(DROP_SERVICE_FLOW_REMOVED), 0);
	rig_close();
}

/* What waits when there is no more time is dropped, under its name. */
static void what_is_left_is_dropped(void **state) {
	(void)state;
	rig_open();
	rig_will(LIVE_MODEM, 1, NULL);
	for (unsigned i = 0; i < 100; i++)
		rig_send(1, 7);
	assert_true(rig_begin());
	assert_true(ds_change_drained(rig->change) == false);
	rig_take(NULL);
	assert_false(ds_change_drained(rig->change));
	rig_finish(false);
	rig_settle();
	assert_true(dropped(DROP_SERVICE_FLOW_REMOVED) >= 90);
	assert_int_equal(rig->back + dropped(DROP_SERVICE_FLOW_REMOVED), rig->queued);
	rig_close();
}

static void modem_differs(void **state) {
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = rig_modem(0, 0); /* another address, a flow more, classifiers */
	rig_lose_address(m, 0);
	rig_address(m, 33);
	rig_flow(m, 25, 1);
	rig_classifier(m, 1002, 1);
	rig_will(LIVE_MODEM, 0, m);
	change_in_traffic();
	assert_int_equal(rig_send(33, 1002).flow, 25);
	assert_int_equal(rig_send(33, 7).flow, 1);
	assert_int_equal(rig_send(0, 7).reason, DROP_UNKNOWN_DESTINATION);

	m = rig_modem(0,
		      0); /* the flow that its packets went to goes: they go to the primary one */
	m->is.classifier_count = 0;
	rig_lose_flow(m, 25);
	rig_will(LIVE_MODEM, 0, m);
	change_in_traffic();
	assert_int_equal(rig_send(33, 1002).flow, 1);

	m = rig_modem(0, 0); /* another primary flow */
	rig_flow(m, 26, 0);
	rig_lose_flow(m, 1);
	rig_will(LIVE_MODEM, 0, m);
	change_in_traffic();
	assert_int_equal(rig_send(33, 7).flow, 26);
	rig_close();
}

/* Records of two modems, whose addresses are exchanged in one change: none is unknown at any time. */
static void addresses_move(void **state) {
	struct rig_modem *a, *b;

	(void)state;
	rig_open();
	for (unsigned i = 0; i < 20; i++) {
		a = rig_modem(0, 0);
		b = rig_modem(1, 1);
		rig_lose_address(a, i % 2 ? 1 : 0);
		rig_lose_address(b, i % 2 ? 0 : 1);
		rig_address(a, i % 2 ? 0 : 1);
		rig_address(b, i % 2 ? 1 : 0);
		rig_will(LIVE_MODEM, 0, a);
		rig_will(LIVE_MODEM, 1, b);
		change_in_traffic();
		assert_int_equal(rig_send(0, 7).modem, i % 2 ? 0 : 1);
		assert_int_equal(rig_send(1, 7).modem, i % 2 ? 1 : 0);
	}
	rig_will(LIVE_MODEM, 0, NULL); /* and to one that comes from one that goes, flows with it */
	a = rig_modem(4, 9);
	rig_address(a, 1);
	rig_address(a, 0);
	rig_lose_address(a, 0);
	rig_address(a, 40);
	rig_flow(a, 1, 0);
	rig_lose_address(a, 1);
	rig_address(a, 0);
	rig_will(LIVE_MODEM, 4, a);
	change_in_traffic();
	assert_int_equal(rig_send(0, 7).modem, 4);
	assert_int_equal(rig_send(40, 7).modem, 4);
	rig_close();
}

/* So many addresses go that packets pass between the steps, and flows to the one that moves are learned again. */
static void flows_of_who_gives_an_address_are_forgotten(void **state) {
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = rig_modem(1, 1);
	for (uint8_t a = 4; a < 34; a++)
		rig_address(m, a);
	for (uint8_t a = 44; a < 59; a++)
		rig_address(m, a);
	rig_will(LIVE_MODEM, 1, m);
	rig_change();

	rig_will(LIVE_MODEM, 0, NULL);
	m = rig_modem(1, 1);
	m->is.address_count = 0;
	rig_will(LIVE_MODEM, 1, m);
	m = rig_modem(5, 5);
	rig_flow(m, 50, 1);
	rig_address(m, 0);
	rig_will(LIVE_MODEM, 5, m);
	change_in_traffic();
	for (uint16_t port = 1000; port < 1004; port++)
		assert_int_equal(rig_send(0, port).modem, 5);
	assert_int_equal(rig_send(0, 7).modem, 5);
	rig_close();
}

static void filter_group_comes_differs_and_goes(void **state) {
	struct rig_filter *f;
	struct rig_modem *m;

	(void)state;
	rig_open();
	f = rig_filter(2);
	rig_rule(f, 1001, FILTER_DENY);
	m = rig_modem(0, 0);
	m->is.filter_groups[m->is.filter_group_count++] = 2;
	rig_will(LIVE_FILTER_GROUP, 2, f);
	rig_will(LIVE_MODEM, 0, m);
	change_in_traffic();
	assert_int_equal(rig_send(0, 1001).reason, DROP_FILTER_DENY);
	assert_int_equal(rig_send(1, 1001).reason, DROP_NONE);

	f = rig_filter(2); /* modems that are not in the list have its new rules */
	f->is.rule_count = 0;
	rig_rule(f, 1002, FILTER_DENY);
	rig_will(LIVE_FILTER_GROUP, 2, f);
	change_in_traffic();
	assert_int_equal(rig_send(0, 1001).reason, DROP_NONE);
	assert_int_equal(rig_send(0, 1002).reason, DROP_FILTER_DENY);

	m = rig_modem(0, 0);
	m->is.filter_group_count = 0;
	rig_will(LIVE_MODEM, 0, m);
	rig_will(LIVE_FILTER_GROUP, 2, NULL);
	change_in_traffic();
	assert_int_equal(rig_send(0, 1002).reason, DROP_NONE);
	rig_close();
}

static uint64_t channel_packets(uint32_t slot) {
	struct scheduler_channel_report r;

	scheduler_report_channel(rig->d->upper.scheduler, slot, &r);
	return r.packets;
}

/* So many to the third modem. */
static void send_to_third(unsigned packets) {
	for (unsigned i = 0; i < packets; i++)
		rig_send(2, 7);
	rig_settle();
}

/* A channel, a bonding group of it, and a flow of the third modem. */
static void third_modem_gets_a_channel(void) {
	struct channel *c = rig_channel(4);
	struct rig_bonding *g = rig_bonding(3);
	struct rig_modem *m = rig_modem(2, 2);

	g->channels[0] = 4;
	rig_lose_flow(m, 3);
	rig_flow(m, 30, 3);
	rig_will(LIVE_CHANNEL, 4, c);
	rig_will(LIVE_BONDING_GROUP, 3, g);
	rig_will(LIVE_MODEM, 2, m);
}

static void channel_and_group_come_and_go(void **state) {
	struct rig_bonding *g;
	struct rig_modem *m;
	uint64_t frames;

	(void)state;
	rig_open();
	third_modem_gets_a_channel();
	change_in_traffic();
	send_to_third(60);
	assert_true(channel_packets(4) > 0);
	assert_true(rig->frames_of[4] > 0);

	m = rig_modem(2, 2); /* the flow that lives on has another bonding group */
	m->flows[0].bonding_group = 0;
	g = rig_bonding(0);
	g->is.channel_count = 1;
	rig_will(LIVE_BONDING_GROUP, 0, g);
	rig_will(LIVE_MODEM, 2, m);
	rig_will(LIVE_BONDING_GROUP, 3, NULL);
	rig_will(LIVE_CHANNEL, 4, NULL);
	change_in_traffic();
	frames = rig->frames_of[4];
	send_to_third(60);
	assert_int_equal(rig->frames_of[4], frames);
	assert_int_equal(rig->back, rig->queued);
	rig_close();
}

/* To frames of another kind: what is open goes out first, as it was begun, and the numbers go on. */
static void channel_differs(void **state) {
	struct channel *c;
	uint64_t frames;

	(void)state;
	rig_open();
	third_modem_gets_a_channel();
	change_in_traffic();
	send_to_third(60);
	c = rig_channel(4);
	c->psp_extra = PSP_EXTRA_STATIC;
	c->profile = 5;
	c->rate /= 2;
	rig_will(LIVE_CHANNEL, 4, c);
	assert_true(rig_begin());
	rig_take(NULL);
	for (unsigned i = 0; i < 3; i++)
		rig_send(2, 7);
	pipeline_run(&rig->d->dequeue);
	do
		pipeline_run(&rig->d->lower_mac);
	while (rig->d->lower.crypto->held > 0);
	assert_non_null(rig->d->lower.depi.channels[4].head);
	while (!ds_change_lower(rig->change))
		;
	assert_null(rig->d->lower.depi.channels[4].head);
	frames = rig->frames_of[4];
	rig_round();
	assert_true(rig->frames_of[4] > frames);
	rig->readers[4].extra = PSP_EXTRA_STATIC;
	rig->readers[4].profile = 5;
	rig_finish(true);
	send_to_third(60);
	assert_int_equal(rig->back, rig->queued);
	rig_close();
}

/* What is still open of a channel goes out before its place is free. */
static void channel_goes_with_its_last_frame(void **state) {
	struct rig_bonding *g;

	(void)state;
	rig_open();
	for (uint32_t i = 0; i < 2; i++) {
		g = rig_bonding(i);
		g->is.channel_count = 1;
		g->channels[0] = 1;
		rig_will(LIVE_BONDING_GROUP, i, g);
	}
	rig_will(LIVE_CHANNEL, 0, NULL);
	rig_send_all();
	assert_true(rig_begin());
	rig_take(send_some);
	rig_send_all();
	pipeline_run(&rig->d->dequeue);
	rig->clock.now += 1; /* frames stay open */
	pipeline_run(&rig->d->lower_mac);
	rig_finish(false);
	assert_null(rig->d->lower.depi.channels[0].head);
	rig_settle();
	assert_int_equal(rig->back + dropped(DROP_SERVICE_FLOW_REMOVED), rig->queued);
	rig_close();
}

static void single_values_change(void **state) {
	struct service_group *next = calloc(1, sizeof(*next)); /* has nothing else */

	(void)state;
	rig_open();
	assert_non_null(next);
	next->cpe_timeout_ns = 1000000000;
	next->rate_limit = 1000000;
	rig_will(LIVE_GROUP, 0, next);
	rig_change();
	assert_int_equal(rig->d->upper.cpe_period_ns, 1000000000);
	for (unsigned i = 0; i < 60; i++)
		rig_send(1, 7);
	for (unsigned i = 0; i < 50; i++)
		rig_round();
	assert_true(downstream_held(rig->d) > 40); /* a packet takes 0.8 ms of it */
	assert_int_equal(rig_send(0, 7).reason, DROP_NONE);

	next = calloc(1, sizeof(*next));
	assert_non_null(next);
	next->cpe_timeout_ns = 1000000000;
	rig_will(LIVE_GROUP, 0, next);
	rig_change();
	for (unsigned i = 0; i < 50; i++)
		rig_round();
	assert_int_equal(downstream_held(rig->d), 0);
	rig_close();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modem_comes_and_goes),
		cmocka_unit_test(what_is_left_is_dropped),
		cmocka_unit_test(modem_differs),
		cmocka_unit_test(addresses_move),
		cmocka_unit_test(flows_of_who_gives_an_address_are_forgotten),
		cmocka_unit_test(filter_group_comes_differs_and_goes),
		cmocka_unit_test(channel_and_group_come_and_go),
		cmocka_unit_test(channel_differs),
		cmocka_unit_test(channel_goes_with_its_last_frame),
		cmocka_unit_test(single_values_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

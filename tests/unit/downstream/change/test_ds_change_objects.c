/* SPDX-License-Identifier: BSD-3-Clause */
/* What random changes do not show of objects that come, differ and go: which channel frames take, what is left at the
 * end, and many addresses that move. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "change_kit.h"

#define CHAIN 3 /* modems: each gives one address to the next, or gets it back */
#define CROWD 5 /* place of the modem whose addresses go: each is a little work of a step */
#define WORK 40 /* more than a step does */

static uint64_t removed(void) {
	struct counters c;

	downstream_counters(kit->d, &c);
	return c.drops[DROP_SERVICE_FLOW_REMOVED];
}

static void send_some(void) {
	kit_send_all();
	kit_round();
}

static void send_to(uint8_t address, unsigned packets) {
	for (; packets > 0; packets--)
		kit_send(address, 7);
}

/* What waits when there is no more time is dropped, under its name. */
TEST(what_is_left_is_dropped) {
	kit_will(LIVE_MODEM, 1, NULL);
	send_to(1, 100);
	assert_true(kit_begin());
	kit_take(NULL);
	assert_false(ds_change_drained(kit->hand.change));
	kit_finish(false);
	kit_settle();
	assert_true(removed() >= 90);
	assert_int_equal(kit->back + removed(), kit->queued);
}

/* A channel, a bonding group of it, and a flow of the third modem. */
static void third_modem_gets_a_channel(void) {
	struct kit_bonding *g = kit_bonding(3);
	struct kit_modem *m = kit_modem(2, 2);

	g->channels[0] = 4;
	kit_lose_flow(m, 3);
	kit_flow(m, 30, 3);
	kit_will(LIVE_CHANNEL, 4, kit_channel(4));
	kit_will(LIVE_BONDING_GROUP, 3, g);
	kit_will(LIVE_MODEM, 2, m);
	kit_change();
	send_to(2, 60);
	kit_settle();
	assert_true(kit->frames_of[4] > 0);
}

/* To frames of another kind: what is open goes out first, as it was begun, and the numbers go on. */
TEST(channel_differs) {
	third_modem_gets_a_channel();
	for (unsigned what = 0; what < 2; what++) {
		struct channel *c = kit_channel(4);
		uint64_t frames;

		if (what == 0)
			c->profile = 5;
		else
			c->psp_extra = PSP_EXTRA_STATIC;
		c->rate /= 2;
		kit_will(LIVE_CHANNEL, 4, c);
		assert_true(kit_begin());
		kit_take(NULL);
		send_to(2, 3);
		pipeline_run(&kit->d->dequeue);
		do
			pipeline_run(&kit->d->lower_mac);
		while (kit->d->lower.crypto->held > 0);
		assert_non_null(kit->d->lower.depi.channels[4].head);
		while (!ds_change_lower(kit->hand.change))
			;
		assert_null(kit->d->lower.depi.channels[4].head);
		frames = kit->frames_of[4];
		kit_round();
		assert_true(kit->frames_of[4] > frames);
		kit->readers[4].extra = kit->channels[4].psp_extra;
		kit->readers[4].profile = kit->channels[4].profile;
		kit_finish(true);
		send_to(2, 60);
		kit_settle();
		assert_int_equal(kit->back, kit->queued);
	}
}

/* What is still open of a channel goes out before its place is free. */
TEST(channel_goes_with_its_last_frame) {
	for (uint32_t i = 0; i < 2; i++) {
		struct kit_bonding *g = kit_bonding(i);

		g->is.channel_count = 1;
		g->channels[0] = 1;
		kit_will(LIVE_BONDING_GROUP, i, g);
	}
	kit_will(LIVE_CHANNEL, 0, NULL);
	kit_send_all();
	assert_true(kit_begin());
	kit_take(send_some);
	kit_send_all();
	pipeline_run(&kit->d->dequeue);
	kit->clock.now += 1; /* frames stay open */
	pipeline_run(&kit->d->lower_mac);
	kit_finish(false);
	assert_null(kit->d->lower.depi.channels[0].head);
	kit_settle();
	assert_int_equal(kit->back + removed(), kit->queued);
}

/* Whose primary flow is another one each time. */
static struct kit_modem *with_another_flow(uint32_t slot, unsigned turn) {
	struct kit_modem *m = kit_modem(slot, (uint8_t)slot);

	kit_flow(m, (turn % 2 ? 1U : 11U) + slot, 0);
	kit_lose_flow(m, (turn % 2 ? 11U : 1U) + slot);
	return m;
}

static void crowd_comes(unsigned addresses) {
	struct kit_modem *m = kit_modem(CROWD, CROWD);

	if (m->is.service_flow_count == 0)
		kit_flow(m, 30, 0);
	for (uint8_t a = CHAIN; addresses > 0; a++) {
		if (a >= KIT_IPV4 && a < KIT_IPV4 + CHAIN)
			continue;
		kit_address(m, a);
		addresses--;
	}
	kit_will(LIVE_MODEM, CROWD, m);
	kit_change();
}

static void crowd_will_go(void) {
	struct kit_modem *m = kit_modem(CROWD, CROWD);

	m->is.address_count = 0;
	kit_will(LIVE_MODEM, CROWD, m);
}

/* The middle one gives and takes. */
static void chain_will_move(unsigned turn) {
	struct kit_modem *m[CHAIN];

	for (uint32_t slot = 0; slot < CHAIN; slot++)
		m[slot] = with_another_flow(slot, turn);
	for (uint8_t a = 0; a + 1 < CHAIN; a++) {
		kit_lose_address(m[turn % 2 ? a + 1 : a], a);
		kit_address(m[turn % 2 ? a : a + 1], a);
	}
	for (uint32_t slot = 0; slot < CHAIN; slot++)
		kit_will(LIVE_MODEM, slot, m[slot]);
}

/*
 * Addresses that move while all else of their modems differs: a packet goes to the flow that it went to before, or to
 * the one that it is to go to (kit_send()), wherever a step ends.
 */
TEST(who_takes_turns_before_who_gives) {
	for (unsigned turn = 0; turn < 2 * WORK; turn++) {
		crowd_comes(turn / 2);
		crowd_will_go();
		chain_will_move(turn);
		assert_true(kit_begin());
		kit_take(send_some);
		send_some();
		kit_finish(true);
		kit_settle();
		for (uint8_t a = 0; a < CHAIN; a++)
			assert_int_equal(kit_send(a, 7).modem,
					 turn % 2 || a == CHAIN - 1 ? a : a + 1U);
	}
	kit_settle();
	assert_int_equal(kit->back, kit->queued);
}

/* So many addresses go that packets pass between the steps, and flows to the one that moves are learned again. */
TEST(flows_of_who_gives_an_address_are_forgotten) {
	struct kit_modem *m = kit_modem(1, 1);

	for (uint8_t a = 4; a < 59; a++) {
		if (a < 34 || a >= 44)
			kit_address(m, a);
	}
	kit_will(LIVE_MODEM, 1, m);
	kit_change();

	kit_will(LIVE_MODEM, 0, NULL);
	m = kit_modem(1, 1);
	m->is.address_count = 0;
	kit_will(LIVE_MODEM, 1, m);
	m = kit_modem(5, 5);
	kit_flow(m, 50, 1);
	kit_address(m, 0);
	kit_will(LIVE_MODEM, 5, m);
	kit_send_all();
	assert_true(kit_begin());
	send_some();
	kit_take(send_some);
	send_some();
	kit_finish(true);
	for (uint16_t port = 999; port < 1004; port++)
		assert_int_equal(kit_send(0, port).modem, 5);
}

static void values_become(uint64_t rate_limit) {
	struct service_group *next = calloc(1, sizeof(*next)); /* has nothing else */

	assert_non_null(next);
	next->cpe_timeout_ns = 1000000000;
	next->rate_limit = rate_limit;
	kit_will(LIVE_GROUP, 0, next);
	kit_change();
}

TEST(single_values_change) {
	values_become(1000000);
	assert_int_equal(kit->d->upper.cpe_period_ns, 1000000000);
	send_to(1, 60);
	for (unsigned i = 0; i < 50; i++)
		kit_round();
	assert_true(downstream_held(kit->d) > 40); /* a packet takes 0.8 ms of it */
	assert_int_equal(kit_send(0, 7).reason, DROP_NONE);
	values_become(0);
	for (unsigned i = 0; i < 50; i++)
		kit_round();
	assert_int_equal(downstream_held(kit->d), 0);
}

EACH_TEST(kit_start, kit_stop)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses that move while all else of their modems differs: a packet goes to the flow that it went to before, or to
 * the one that it is to go to (rig_send()), wherever a step ends.
 */
#include "test.h"

#include "change_rig.h"

#define CHAIN 3 /* modems: each gives one address to the next, or gets it back */
#define CROWD 5 /* place of the modem whose addresses go: each is a little work of a step */
#define WORK 40 /* more than a step does */

static void send_some(void) {
	rig_send_all();
	rig_round();
}

/* Whose primary flow is another one each time. */
static struct rig_modem *with_another_flow(uint32_t slot, unsigned turn) {
	struct rig_modem *m = rig_modem(slot, (uint8_t)slot);

	rig_flow(m, (turn % 2 ? 1U : 11U) + slot, 0);
	rig_lose_flow(m, (turn % 2 ? 11U : 1U) + slot);
	return m;
}

static void crowd_comes(unsigned addresses) {
	struct rig_modem *m = rig_modem(CROWD, CROWD);

	if (m->is.service_flow_count == 0)
		rig_flow(m, 30, 0);
	for (uint8_t a = CHAIN; addresses > 0; a++) {
		if (a >= RIG_IPV4 && a < RIG_IPV4 + CHAIN)
			continue;
		rig_address(m, a);
		addresses--;
	}
	rig_will(LIVE_MODEM, CROWD, m);
	rig_change();
}

static void crowd_will_go(void) {
	struct rig_modem *m = rig_modem(CROWD, CROWD);

	m->is.address_count = 0;
	rig_will(LIVE_MODEM, CROWD, m);
}

/* The middle one gives and takes. */
static void chain_will_move(unsigned turn) {
	struct rig_modem *m[CHAIN];

	for (uint32_t slot = 0; slot < CHAIN; slot++)
		m[slot] = with_another_flow(slot, turn);
	for (uint8_t a = 0; a + 1 < CHAIN; a++) {
		rig_lose_address(m[turn % 2 ? a + 1 : a], a);
		rig_address(m[turn % 2 ? a : a + 1], a);
	}
	for (uint32_t slot = 0; slot < CHAIN; slot++)
		rig_will(LIVE_MODEM, slot, m[slot]);
}

static void who_takes_turns_before_who_gives(void **state) {
	(void)state;
	rig_open();
	for (unsigned turn = 0; turn < 2 * WORK; turn++) {
		crowd_comes(turn / 2);
		crowd_will_go();
		chain_will_move(turn);
		assert_true(rig_begin());
		rig_take(send_some);
		send_some();
		rig_finish(true);
		rig_settle();
		for (uint8_t a = 0; a < CHAIN; a++)
			assert_int_equal(rig_send(a, 7).modem,
					 turn % 2 || a == CHAIN - 1 ? a : a + 1U);
	}
	rig_settle();
	assert_int_equal(rig->back, rig->queued);
	rig_close();
}

static void groups_go_with_their_channel(void **state) {
	(void)state;
	rig_open();
	rig_will(LIVE_CHANNEL, 4, rig_channel(4));
	for (uint32_t i = 3; i < 5; i++) {
		struct rig_bonding *g = rig_bonding(i);

		g->channels[0] = 4;
		rig_will(LIVE_BONDING_GROUP, i, g);
	}
	rig_change();
	for (uint32_t i = 3; i < 5; i++)
		rig_will(LIVE_BONDING_GROUP, i, NULL);
	rig_will(LIVE_CHANNEL, 4, NULL);
	rig_change();
	rig_close();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_takes_turns_before_who_gives),
		cmocka_unit_test(groups_go_with_their_channel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

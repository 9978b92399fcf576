/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of flows change by modems, so that no modem has two keys at a time; what the lower MAC is waited for. */
#include "test_main.h"

#include "downstream/change/internal.h"
#include "downstream/stages.h"

#include "change_kit.h"

#define MODEMS 200
#define FLOWS 7 /* of a modem: no multiple of them is the number of records that a step writes */
#define OLD 1
#define NEW 2

static struct ds_flow flows[MODEMS * FLOWS];

static unsigned modems_of_generation(uint16_t hcs) {
	unsigned modems = 0;

	for (unsigned m = 0; m < MODEMS; m++) {
		for (unsigned f = 1; f < FLOWS; f++)
			assert_int_equal(flows[m * FLOWS + f].hcs, flows[m * FLOWS].hcs);
		modems += flows[m * FLOWS].hcs == hcs;
	}
	return modems;
}

/* All records of a modem are of one generation of its key. */
TEST(records_of_a_modem_change_in_one_step) {
	static struct ds_flow_write writes[MODEMS * FLOWS];
	static struct downstream d = {.tables.flows = flows};
	struct ds_change c = {.d = &d};
	unsigned steps = 1, written = 0;

	for (unsigned f = 0; f < MODEMS * FLOWS; f++) {
		flows[f].hcs = OLD;
		writes[f] = (struct ds_flow_write){{.hcs = NEW}, f, f / FLOWS};
	}
	c.writes.list = writes;
	c.writes.count = MODEMS * FLOWS;
	for (; !ds_change_lower(&c); steps++) {
		unsigned now = modems_of_generation(NEW);

		assert_true(now > written);
		written = now;
	}
	assert_int_equal(modems_of_generation(NEW), MODEMS);
	assert_true(steps > 2);
}

/* In its header, or in its key alone: as before until the step of the lower MAC. */
TEST(flow_that_lives_on_changes_with_the_lower_mac) {
	const struct ds_flow *flow = &kit->d->tables.flows[0];

	for (unsigned key = 0; key < 2; key++) {
		struct modem *m = kit_modem(0, 0);

		if (key)
			m->security.cipher = CIPHER_NONE;
		else
			m->service_flows[0].has_dsid = false;
		assert_true(kit_begin());
		kit_take(NULL);
		assert_int_equal(flow->sequenced, !key);
		assert_int_equal(flow->key.cipher, CIPHER_AES_128);
		kit_finish(true);
		assert_false(flow->sequenced);
		assert_int_equal(flow->key.cipher, key ? CIPHER_NONE : CIPHER_AES_128);
	}
}

static void fill_ring(unsigned packets) {
	for (unsigned i = 0; i < packets; i++)
		kit_send((uint8_t)(i % 3), 7);
	pipeline_run(&kit->d->dequeue);
	assert_int_equal(rte_ring_count(kit->d->lower.from_upper), packets);
}

/* A change of which nothing but this is of interest. */
static void begin_something(void) {
	kit_generation(&kit_modem(0, 0)->security, 2);
	assert_true(kit_begin());
	kit_take(NULL);
	assert_true(ds_change_lower(kit->hand.change));
}

static void submit_all(struct ds_lower *l) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = ds_take_over(l, pkts, 0);

	ds_encrypt_submit(l, pkts, ds_frame(l, pkts, n));
}

/* Sends what the provider has done. Returns how many frames it was. */
static unsigned collect_done(struct ds_lower *l) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = ds_encrypt_collect(l, pkts, 0);

	ds_transmit(l, pkts, ds_depi(l, pkts, n));
	return n;
}

/* What was in the ring is waited for, and what the crypto device has of it; what comes behind it is not. How many frames a provider does at once, and keeps for others to come, is its own. */
TEST(ring_and_crypto_device_are_waited_for) {
	struct ds_lower *l = &kit->d->lower;
	unsigned n;

	begin_something();
	fill_ring(10);
	assert_false(ds_change_passed(kit->hand.change));
	submit_all(l);
	assert_int_equal(l->crypto->held, 10);
	assert_false(ds_change_passed(kit->hand.change));
	n = collect_done(l);
	assert_in_range(n, 0, 9);
	assert_false(ds_change_passed(kit->hand.change));
	fill_ring(5);
	submit_all(l); /* these are not waited for */
	assert_int_equal(l->crypto->held, 15 - n);
	assert_false(ds_change_passed(kit->hand.change));
	while (l->crypto->held > 0) {
		n += collect_done(l);
		assert_int_equal(ds_change_passed(kit->hand.change), n >= 10);
	}
	assert_int_equal(n, 15);
	kit_finish(true);
	kit_settle();
	assert_int_equal(kit->back, kit->queued);
}

EACH_TEST(kit_start, kit_stop)

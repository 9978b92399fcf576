/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys roll: each frame is decrypted by the key that its header names. And what the lower MAC is waited for. */
#include "test.h"

#include <string.h>

#include "downstream/change/provider.h"
#include "downstream/stages.h"

#include "change_rig.h"

static struct rig_modem *rolled(uint32_t slot) {
	struct rig_modem *m = rig_modem(slot, 0);

	rig_generation(m, (m->is.security.key_sequence + 1) % 16);
	return m;
}

/* What was framed before the step of the lower MAC has the old key, what is framed afterwards the new one. */
static void key_rolls_between_two_rounds(void **state) {
	(void)state;
	rig_open();
	for (unsigned i = 0; i < 40; i++) {
		uint64_t old = rig->other_generations;

		for (uint32_t slot = 0; slot < 3; slot++)
			rig_will(LIVE_MODEM, slot, rolled(slot));
		rig_send_all();
		assert_true(rig_begin());
		rig_take(NULL);
		rig_send_all();
		rig_round();
		rig_settle();
		assert_true(rig->other_generations > old); /* the list has the new one already */
		old = rig->other_generations;
		rig_send_all();
		pipeline_run(&rig->d->dequeue);
		assert_true(ds_change_lower(rig->change));
		rig_settle();
		assert_int_equal(rig->other_generations, old);
		rig_finish(true);
	}
	assert_int_equal(rig->back, rig->queued);
	rig_close();
}

/* From encrypted to clear is a change of the record as well. */
static void flow_that_lives_on_has_another_header(void **state) {
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = rig_modem(0, 0);
	m->flows[0].priority = 6;
	rig_will(LIVE_MODEM, 0, m);
	rig_change();
	assert_int_equal(rig_send(0, 7).flow, 1);
	rig_settle();
	assert_int_equal(rig->d->tables.flows[0].sequenced, true);
	m = rig_modem(0, 0);
	m->flows[0].has_dsid = false;
	m->is.security.cipher = CIPHER_NONE;
	rig_will(LIVE_MODEM, 0, m);
	rig_change();
	assert_int_equal(rig->d->tables.flows[0].sequenced, false);
	assert_int_equal(rig->d->tables.flows[0].key.cipher, CIPHER_NONE);
	rig_close();
}

/* Of a flow that comes: what its header does not fill is 0, whatever was in that memory. */
static void record_is_what_a_start_makes(void **state) {
	struct ds_flow made;
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = rig_modem(5, 5);
	rig_flow(m, 20, 0);
	rig_will(LIVE_MODEM, 5, m);
	memset(&made, 0, sizeof(made));
	ds_flow_fill(&made, &m->is, &m->flows[0], rig->next_schedules[0]);
	rig_change();
	assert_memory_equal(&rig->d->tables.flows[ds_modem_flows(&rig->d->tables, 5)[0]], &made,
			    sizeof(made));
	rig_close();
}

static void fill_ring(unsigned packets) {
	for (unsigned i = 0; i < packets; i++)
		rig_send((uint8_t)(i % 3), 7);
	pipeline_run(&rig->d->dequeue);
	assert_int_equal(rte_ring_count(rig->d->lower.from_upper), packets);
}

/* A change of which nothing but this is of interest. */
static void begin_something(void) {
	rig_will(LIVE_MODEM, 0, rolled(0));
	assert_true(rig_begin());
	rig_take(NULL);
	assert_true(ds_change_lower(rig->change));
}

/* What was in the ring is waited for, what comes behind it is not. */
static void ring_is_waited_for(void **state) {
	(void)state;
	rig_open();
	begin_something();
	fill_ring(10);
	assert_false(ds_change_passed(rig->change));
	assert_false(ds_change_passed(rig->change));
	do
		pipeline_run(&rig->d->lower_mac);
	while (rig->d->lower.crypto->held > 0);
	fill_ring(5);
	assert_true(ds_change_passed(rig->change));
	rig_finish(true);
	rig_close();
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

/* And what the crypto device has. How many frames a provider does at once, and keeps for others to come, is its own. */
static void crypto_device_is_waited_for(void **state) {
	struct ds_lower *l;
	unsigned n;

	(void)state;
	rig_open();
	l = &rig->d->lower;
	begin_something();
	fill_ring(10);
	assert_false(ds_change_passed(rig->change));
	submit_all(l);
	assert_int_equal(l->crypto->held, 10);
	assert_false(ds_change_passed(rig->change));
	n = collect_done(l);
	assert_in_range(n, 0, 9);
	assert_false(ds_change_passed(rig->change));
	fill_ring(5);
	submit_all(l); /* these are not waited for */
	assert_int_equal(l->crypto->held, 15 - n);
	assert_false(ds_change_passed(rig->change));
	while (l->crypto->held > 0) {
		n += collect_done(l);
		assert_int_equal(ds_change_passed(rig->change), n >= 10);
	}
	assert_int_equal(n, 15);
	rig_finish(true);
	rig_settle();
	assert_int_equal(rig->back, rig->queued);
	rig_close();
}

/* Nothing more is given to the provider that goes, so that it is done, whatever comes. */
static void provider_goes_when_it_is_empty(void **state) {
	struct ds_lower *l;
	struct crypto_queue *before;
	struct ds_provider_change c;

	(void)state;
	rig_open();
	l = &rig->d->lower;
	before = l->crypto;
	c = (struct ds_provider_change){.d = rig->d, .sg = &rig->loaded, .queue = before};
	c.at = rig->loaded.modem_count; /* keys are of no matter here */
	before->held++;
	for (unsigned i = 0; i < 2; i++) {
		assert_false(ds_provider_change(&c));
		assert_true(l->takes_nothing);
	}
	before->held--;
	assert_true(ds_provider_change(&c));
	assert_false(l->takes_nothing);
	rig_close();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key_rolls_between_two_rounds),
		cmocka_unit_test(flow_that_lives_on_has_another_header),
		cmocka_unit_test(record_is_what_a_start_makes),
		cmocka_unit_test(ring_is_waited_for),
		cmocka_unit_test(crypto_device_is_waited_for),
		cmocka_unit_test(provider_goes_when_it_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent in a trial: by a shape of its own, and onto a wire that waits for room or does not. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "test_main.h"
#include "traffic_group.h"

#define OVERFLOW_ROUNDS 60

static struct traffic_load load_of(const char *mix) {
	struct traffic_load load = {.downstream = true};
	char error[128];

	assert_int_equal(mix_parse(mix, 1996, &load.mix, error, sizeof(error)), 0);
	return load;
}

static unsigned on_the_wire(void) {
	struct rte_mbuf *m;
	unsigned n = 0;

	while (rte_eth_rx_burst(rig.network[1], 0, &m, 1) == 1) {
		rte_pktmbuf_free(m);
		n++;
	}
	return n;
}

/* Sends more than the wire holds. Returns the packets that it held. */
static unsigned overflow(bool drop, struct traffic_result *r) {
	struct traffic_load load = load_of("84");
	unsigned held;

	load.drop = drop;
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	for (unsigned round = 0; round < OVERFLOW_ROUNDS; round++)
		traffic_send(rig.traffic, rte_rdtsc());
	traffic_stop(rig.traffic);
	traffic_finish(rig.traffic);
	traffic_result(rig.traffic, r);
	assert_true(r->transmit_backpressure > 0);
	assert_int_equal(r->lost, r->sent);
	held = on_the_wire();
	assert_int_equal(traffic_in_flight(rig.traffic), held); /* of others nothing will come */
	return held;
}

/* What it does not take is offered again, or, where the wire does not wait, was sent and is lost. */
TEST(a_full_port_waits_or_loses) {
	struct traffic_result r;
	unsigned held;

	rig_start(&rig, "84", 12);
	held = overflow(false, &r);
	assert_int_equal(r.sent, held);
	held = overflow(true, &r);
	assert_int_equal(r.sent, OVERFLOW_ROUNDS * GENERATOR_BURST);
	assert_true(r.sent > held);
	held = overflow(false, &r);
	assert_int_equal(r.sent, held);
	traffic_free(rig.traffic);
}

/* In rounds of 10 us from `from` to `to`, us since the begin. Returns packets. */
static unsigned send_until(unsigned from, unsigned to) {
	uint64_t us = rte_get_tsc_hz() / 1000000;
	unsigned n = 0;

	for (unsigned at = from; at < to; at += 10)
		n += traffic_send(rig.traffic, at * us);
	return n;
}

/* Each trial has its own shape, and what is sent behind it has none. */
TEST(rates_follow_the_shape_of_their_trial) {
	struct traffic_load load = load_of("256");
	static struct shape shape;

	shape_add(&shape, 0, 1);
	shape_add(&shape, 1e-3, 1);
	shape_add(&shape, 1e-3, 0);
	shape_add(&shape, 9e-3, 0);
	assert_null(shape_finish(&shape));
	load.rate = 500000000;
	load.shape = &shape;
	rig_start(&rig, "84", 13);
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 1010), 235, 250);
	send_until(1010, 1100); /* what was behind */
	assert_int_equal(send_until(1100, 1500), 0);
	memset(&shape, 0xff, sizeof(shape));
	traffic_forget_shape(rig.traffic);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 1010), 235, 250);
	on_the_wire();
	load.shape = NULL;
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 2010), 475, 495);
	on_the_wire();
	traffic_stop(rig.traffic);
	traffic_free(rig.traffic);
}

ALL_TESTS(open_rig, close_rig)

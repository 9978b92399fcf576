/* SPDX-License-Identifier: BSD-3-Clause */
/* Behind a ring: no wait ends before what was in the port, or with the worker that asks it, has come. */
#include <rte_ethdev.h>

#include "upstream_cases.h"

static uint64_t emptied; /* as who asks the port tells it */
static struct rte_ring *ring;

static void behind_a_ring(void) {
	emptied = 0;
	ring = rte_ring_create("from_share", 128, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(ring);
	bench->u->r.rphy.ring = ring;
	bench->u->r.rphy.emptied = &emptied;
}

/* Nothing is left in it. */
static void ring_end(void) {
	upstream_close(bench->u);
	upstream_stop(bench->u);
	assert_int_equal(rte_ring_count(ring), 0);
	bench->u->r.rphy.ring = NULL;
	rte_ring_free(ring);
}

/* What the worker of the port does: from there into the ring. */
static void move(unsigned packets) {
	struct rte_mbuf *m;

	while (packets-- > 0) {
		assert_int_equal(rte_eth_rx_burst(bench->near[0], 0, &m, 1), 1);
		assert_int_equal(rte_ring_enqueue(ring, m), 0);
	}
}

static void number(uint16_t sequence) {
	bench_put_number(BENCH_SC_QAM, 0, sequence);
}

/* Number 1 is missing. */
static void gap(void) {
	number(0);
	number(2);
	move(2);
}

static uint64_t missing(void) {
	return bench_count(COUNTER_PSP_MISSING);
}

EACH_CASE(behind_a_ring)

/* Number 1 is in the port for longer than it is waited for. */
CASE(what_is_in_the_port_is_waited_for) {
	gap();
	bench_rounds(3);
	assert_int_equal(bench->u->uepi.pending_packets, 1);
	number(1);
	for (int i = 0; i < 20; i++) {
		bench->clock.now += 10 * BENCH_MS;
		bench_rounds(3);
		emptied += i == 0; /* the worker was at it before */
	}
	assert_int_equal(bench->u->uepi.pending_packets, 1);
	move(1);
	emptied++;
	bench_rounds(3);
	assert_int_equal(bench_count(COUNTER_PSP_PACKETS), 3);
	assert_int_equal(missing(), 0);
	ring_end();
}

/* Two times empty since it was asked: the wait ends for what had come by then, and not before. */
CASE(what_does_not_come_is_given_up) {
	gap();
	bench_rounds(1);
	emptied += 2;
	bench->clock.now += 100 * BENCH_MS;
	bench_rounds(3); /* asked when the packets had not come: that says nothing */
	assert_int_equal(bench->u->uepi.pending_packets, 1);
	emptied++;
	bench_rounds(3);
	assert_int_equal(bench->u->uepi.pending_packets, 1);
	emptied++;
	bench_rounds(3);
	assert_int_equal(bench->u->uepi.pending_packets, 0);
	assert_int_equal(missing(), 1);
	ring_end();
}

/* While the ring has more than it is asked for, nothing is known of the port. */
CASE(a_ring_with_more) {
	gap();
	bench_rounds(1);
	bench->clock.now += 100 * BENCH_MS;
	bench_rounds(1);
	for (uint16_t i = 3; i < 3 + 2 * US_RECEIVE_BURST; i++)
		number(0x2000);
	move(2 * US_RECEIVE_BURST);
	emptied += 10;
	bench_rounds(2);
	assert_int_equal(bench->u->receive.flushed_until, 0);
	bench->any_drops = true;
	bench_rounds(3);
	ring_end();
}

/* An upstream that is closed takes no more, and its waits end by its own clock. */
CASE(closed) {
	struct rte_mbuf *m;

	gap();
	bench_rounds(2);
	upstream_close(bench->u);
	number(1);
	move(1);
	bench->clock.now += 100 * BENCH_MS;
	bench_rounds(3);
	assert_int_equal(bench->u->uepi.pending_packets, 0);
	assert_int_equal(missing(), 1);
	assert_int_equal(rte_ring_dequeue(ring, (void **)&m), 0);
	rte_pktmbuf_free(m);
	ring_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests an upstream that receives from a ring, which the worker of a port owner fills. No reorder
 * timer expires before the packets in the port and at the port owner have been received. */
#include <rte_ethdev.h>

#include "upstream_cases.h"

static uint64_t emptied; /* times that the port owner found the port empty */
static struct rte_ring *ring;

static void use_ring(void) {
	emptied = 0;
	ring = rte_ring_create("from_share", 128, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(ring);
	kit->u->r.rphy.ring = ring;
	kit->u->r.rphy.emptied = &emptied;
}

/* Stops the upstream and checks that the ring is empty. */
static void close_ring(void) {
	upstream_close(kit->u);
	upstream_stop(kit->u);
	assert_int_equal(rte_ring_count(ring), 0);
	kit->u->r.rphy.ring = NULL;
	rte_ring_free(ring);
}

/* Plays the port owner: moves packets from the port into the ring. */
static void forward_packets(unsigned packets) {
	struct rte_mbuf *m;

	while (packets-- > 0) {
		assert_int_equal(rte_eth_rx_burst(kit->near[0], 0, &m, 1), 1);
		assert_int_equal(rte_ring_enqueue(ring, m), 0);
	}
}

static void send_number(uint16_t sequence) {
	kit_send_empty_packet(KIT_SC_QAM, 0, sequence);
}

/* Sends numbers 0 and 2: number 1 is missing. */
static void send_gap(void) {
	send_number(0);
	send_number(2);
	forward_packets(2);
}

static uint64_t missing_packets(void) {
	return kit_counter(COUNTER_PSP_MISSING);
}

BEFORE_EACH_CASE(use_ring)

/* Number 1 is in the port for longer than the reorder timeout. */
CASE(gap_waits_for_packet_in_port) {
	send_gap();
	kit_run_rounds(3);
	assert_int_equal(kit->u->uepi.pending_packets, 1);
	send_number(1);
	for (int i = 0; i < 20; i++) {
		kit->clock.now += 10 * KIT_MS;
		kit_run_rounds(3);
		emptied += i == 0; /* a poll that began before number 1 arrived */
	}
	assert_int_equal(kit->u->uepi.pending_packets, 1);
	forward_packets(1);
	emptied++;
	kit_run_rounds(3);
	assert_int_equal(kit_counter(COUNTER_PSP_PACKETS), 3);
	assert_int_equal(missing_packets(), 0);
	close_ring();
}

/* The gap expires when the port owner has found the port empty twice since the timer ran out. */
CASE(gap_expires_when_port_is_empty_twice) {
	send_gap();
	kit_run_rounds(1);
	emptied += 2;
	kit->clock.now += 100 * KIT_MS;
	kit_run_rounds(3); /* the two times before do not count */
	assert_int_equal(kit->u->uepi.pending_packets, 1);
	emptied++;
	kit_run_rounds(3);
	assert_int_equal(kit->u->uepi.pending_packets, 1);
	emptied++;
	kit_run_rounds(3);
	assert_int_equal(kit->u->uepi.pending_packets, 0);
	assert_int_equal(missing_packets(), 1);
	close_ring();
}

/* While the ring has more than one burst, the state of the port is unknown. */
CASE(gap_waits_while_ring_has_more) {
	send_gap();
	kit_run_rounds(1);
	kit->clock.now += 100 * KIT_MS;
	kit_run_rounds(1);
	for (uint16_t i = 3; i < 3 + 2 * US_RECEIVE_BURST; i++)
		send_number(0x2000);
	forward_packets(2 * US_RECEIVE_BURST);
	emptied += 10;
	kit_run_rounds(2);
	assert_int_equal(kit->u->receive.flushed_until, 0);
	kit->ignore_drops = true;
	kit_run_rounds(3);
	close_ring();
}

/* A closed upstream receives no more, and its timers follow its own clock. */
CASE(closed_upstream_expires_gap) {
	struct rte_mbuf *m;

	send_gap();
	kit_run_rounds(2);
	upstream_close(kit->u);
	send_number(1);
	forward_packets(1);
	kit->clock.now += 100 * KIT_MS;
	kit_run_rounds(3);
	assert_int_equal(kit->u->uepi.pending_packets, 0);
	assert_int_equal(missing_packets(), 1);
	assert_int_equal(rte_ring_dequeue(ring, (void **)&m), 0);
	rte_pktmbuf_free(m);
	close_ring();
}

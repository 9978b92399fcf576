/* SPDX-License-Identifier: BSD-3-Clause */
/* A group's way from its queue and its ring, call by call. */
#include "test_main.h"

#include "sharing/stages.h"
#include "sharing/steered.h"

#include "group_file.h"
#include "steering_bench.h"

#define SECOND 1 /* number of the group */
#define RPHY 1 /* index of the port */

static struct port_share *open_ways(void) {
	flow_card_reset();
	steering_bench_open(bench, STEERED_BY_SESSION, 2, 2);
	life_bench_settle(bench,
			  20 * MS); /* what came to the ring before it had a queue has passed */
	return bench->server.shares.of[RPHY];
}

static uint16_t take(struct port_share *s, struct rte_mbuf **pkts) {
	struct packet_source from;

	share_way_source(s, SECOND, &from);
	return from.take(from.taker, pkts, PIPELINE_BURST);
}

/* The port was empty twice since the last time, and the queue once. */
TEST(a_time_ends_when_all_has_passed) {
	struct port_share *s = open_ways();
	struct share_way *w = &s->lanes[SECOND].way;
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint64_t told = w->emptied;

	w->began = s->emptied = 10;
	for (unsigned time = 0; time < 3; time++) {
		assert_int_equal(take(s, pkts), 0);
		s->emptied++;
		assert_int_equal(take(s, pkts), 0);
		assert_int_equal(w->emptied, told + time);
		s->emptied++;
		assert_int_equal(take(s, pkts), 0);
		assert_int_equal(w->emptied, told + time + 1);
	}
	steering_bench_close(bench);
}

/* Its ring is shut until it is said to open, and then until the queue is empty. */
TEST(a_ring_opens_behind_the_queue) {
	struct port_share *s = open_ways();
	struct rte_mbuf *pkts[PIPELINE_BURST];

	assert_true(share_way_settled(s, SECOND));
	share_way_last(s, SECOND);
	assert_int_equal(take(s, pkts), 0);
	assert_false(share_way_settled(s, SECOND));
	share_way_end(s, SECOND);
	assert_true(life_bench_up(bench, 0, &bench->file[SECOND], 0));
	assert_int_equal(take(s, pkts), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_false(share_way_settled(s, SECOND));
	assert_int_equal(take(s, pkts), 0);
	assert_true(share_way_settled(s, SECOND));
	steering_bench_close(bench);
}

/* A burst of them, as the card errs and the owner of the port is not asked meanwhile. */
static void go_astray(const struct port_share *s) {
	uint32_t serial = 0;

	flow_card.errs = 1;
	while (share_held_astray(s) < PIPELINE_BURST) {
		assert_in_range(serial, 0, 1000);
		life_bench_up(bench, 0, &bench->file[0], serial++);
		worker_round(bench->server.groups[SECOND].upstream_worker);
	}
	flow_card.errs = 0;
}

/* They are old: who waits for them would wait for as long as packets come. */
TEST(what_went_astray_does_not_wait_for_a_busy_port) {
	struct port_share *s = open_ways();
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint64_t astray, handed, emptied;
	uint16_t n;

	go_astray(s);
	astray = share_held_astray(s);
	handed = share_astray_handed(s);
	server_steer_nothing(&bench->server, RPHY, SECOND);
	for (uint32_t i = 0; i < PIPELINE_BURST / 2; i++)
		assert_true(life_bench_up(bench, 0, &bench->file[SECOND], i));
	n = share_receive(s, pkts, 0);
	assert_int_equal(n, PIPELINE_BURST);
	assert_int_equal(share_held_astray(s), astray - PIPELINE_BURST / 2);
	assert_int_equal(share_tell_apart(s, pkts, n), 0);
	assert_false(share_astray_taken(s, handed));
	while (rte_eth_rx_burst(s->from.port, 0, pkts, 1) == 1)
		rte_pktmbuf_free(pkts[0]);
	emptied = s->emptied;
	for (; astray > PIPELINE_BURST / 2; astray -= PIPELINE_BURST / 2) {
		assert_int_equal(share_held_astray(s), astray - PIPELINE_BURST / 2);
		n = share_receive(s, pkts, 0);
		assert_int_equal(share_tell_apart(s, pkts, n), 0);
		assert_int_equal(s->emptied, emptied + (astray < PIPELINE_BURST));
	}
	assert_true(share_astray_taken(s, handed));
	assert_int_equal(share_astray_handed(s), handed);
	life_bench_settle(bench, 20 * MS);
	steering_bench_close(bench);
}

/* However much has gone astray, and came meanwhile. */
TEST(a_burst_is_no_longer_than_one) {
	struct port_share *s = open_ways();
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n;

	go_astray(s);
	server_steer_nothing(&bench->server, RPHY, SECOND);
	for (uint32_t i = 0; i < PIPELINE_BURST / 2; i++)
		assert_true(life_bench_up(bench, 0, &bench->file[SECOND], i));
	n = share_receive(s, pkts, 0);
	assert_in_range(n, PIPELINE_BURST / 2 + 1, PIPELINE_BURST);
	assert_int_equal(share_tell_apart(s, pkts, n), 0);
	life_bench_settle(bench, 20 * MS);
	assert_int_equal(bench->taken_up[2], PIPELINE_BURST / 2);
	steering_bench_close(bench);
}

ALL_TESTS(NULL, fixture_stop)

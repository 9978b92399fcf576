/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests traffic.h and run.h with a fake uplink: both directions, and the end of a run. */
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "directions/traffic_parts.h"
#include "fake_uplink.h"
#include "fixture.h"
#include "groups/run.h"
#include "test_main.h"
#include "traffic_kit.h"

#define PACKETS 64
#define BURST 4

static struct rig_frame frames[PACKETS];

static void start(bool downstream, struct fake_plan plan) {
	struct traffic_options options = rig_options(&rig, "256", 5);

	options.no_downstream = !downstream;
	options.upstream = true;
	fake_plan = plan;
	fake_plan.pool = rig.pool;
	fake_plan.port = rig.network[1];
	rig_create(&rig, &options);
}

static int tear_down(void **state) {
	traffic_free(rig.traffic);
	rig.traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	return 0;
}

static void receive_all(void) {
	while (traffic_receive(rig.traffic) > 0)
		;
}

/* Asserts the upstream's numbers of packets; those not lost or corrupted must be proven. */
static struct uplink_result assert_uplink(uint64_t sent, uint64_t lost, uint64_t corrupted) {
	struct uplink_result r;

	receive_all();
	traffic_uplink_result(rig.traffic, &r);
	assert_int_equal(r.sent, sent);
	assert_int_equal(r.lost, lost);
	assert_int_equal(r.corrupted, corrupted);
	assert_int_equal(r.proven, sent - lost - corrupted);
	assert_int_equal(r.duplicated + r.reordered, 0);
	assert_int_equal(r.unaccounted, 0);
	assert_int_equal(uplink_result_good(&r), lost + corrupted == 0);
	return r;
}

/* Starts the upstream alone and sends one burst. */
static void send_burst(struct fake_plan plan) {
	start(false, plan);
	assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), plan.burst);
}

/* Receives a packet at the rig's port; NULL: none. */
static struct rte_mbuf *receive_packet(void) {
	struct rte_mbuf *m = NULL;

	rte_eth_rx_burst(rig.network[1], 0, &m, 1);
	return m;
}

static void transmit(struct rte_mbuf *m) {
	assert_int_equal(rte_eth_tx_burst(rig.network[1], 0, &m, 1), 1);
}

/* Executes a run of the upstream alone to its end. */
static struct uplink_result execute_run(struct run *run) {
	struct uplink_result r;

	run->groups = rig_groups(&rig);
	run_traffic(run);
	assert_true(run->done);
	traffic_uplink_result(rig.traffic, &r);
	return r;
}

TEST(both_directions_are_proven) {
	struct traffic_result down;
	struct uplink_result up;

	start(true, (struct fake_plan){.burst = 0});
	rig_collect(&rig, frames, PACKETS, NULL);
	fake_plan.burst = BURST;
	for (unsigned i = 0; i < PACKETS; i++) {
		/* the downstream has stopped, so that only the upstream sends */
		if (i == 0)
			traffic_stop(rig.traffic);
		traffic_send(rig.traffic, rte_rdtsc());
		rig_send_frame(&rig, &frames[i]);
	}
	up = assert_uplink(FAKE_INCOMPLETE, 0, 0);
	assert_int_equal(up.counts.packets, up.sent);
	traffic_finish(rig.traffic);
	assert_int_equal(traffic_in_flight(rig.traffic), 0);
	traffic_result(rig.traffic, &down);
	rig_assert_result(&down, (struct rig_errors){0});
}

TEST(both_directions_send_in_one_call) {
	struct rte_mbuf *m;
	struct traffic_result down;

	start(true, (struct fake_plan){.burst = BURST});
	for (int i = 0; i < 2; i++)
		assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), 32 + BURST);
	assert_int_equal(traffic_in_flight(rig.traffic), 2 * (32 + BURST));
	assert_int_equal(traffic_receive(rig.traffic), 2 * BURST);
	assert_int_equal(traffic_in_flight(rig.traffic), 2 * 32);
	traffic_result(rig.traffic, &down);
	rig_assert_result(&down, (struct rig_errors){.lost = 64});
	assert_uplink(2 * BURST, 0, 0);
	while ((m = receive_packet()) != NULL)
		rte_pktmbuf_free(m);
}

/* A CMTS in the same process may send chains of mbufs. A damaged packet is corrupted, not lost. */
TEST(chained_mbufs_are_joined) {
	struct rte_mbuf *head, *tail;

	start(false, (struct fake_plan){.burst = 9});
	fake_plan.port = rig.network[0]; /* to the rig's port */
	traffic_send(rig.traffic, rte_rdtsc());
	while ((head = receive_packet()) != NULL) {
		uint16_t behind = (uint16_t)(head->data_len - 50);

		if (head->data_len == 1280)
			rte_pktmbuf_mtod(head, uint8_t *)[1279] ^= 1;
		tail = fixture_packet_create(rig.pool, rte_pktmbuf_mtod_offset(head, uint8_t *, 50),
					     behind);
		assert_int_equal(rte_pktmbuf_trim(head, behind), 0);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
		transmit(head);
	}
	assert_int_equal(assert_uplink(9, 0, 3).corrupted_by[UPLINK_CORRUPTION_CONTENTS], 3);
}

static void transmit_oversized_chain(void) {
	static const uint8_t bytes[2000] = {[12] = 0x90};
	struct rte_mbuf *head = fixture_packet_create(rig.pool, bytes, sizeof(bytes));
	struct rte_mbuf *tail = fixture_packet_create(rig.pool, bytes, sizeof(bytes));

	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	transmit(head);
}

TEST(upstream_alone_discards_downstream) {
	struct rig_segment segment = {(const uint8_t *)"frame", 5, true, true};
	struct traffic_result down;
	struct uplink_result up;
	uint8_t depi[RIG_MTU + 14];

	send_burst((struct fake_plan){.burst = BURST});
	rig_send_depi(&rig, depi, rig_build_depi(&rig, 0, &segment, 1, depi));
	transmit_oversized_chain();
	receive_all();
	traffic_uplink_result(rig.traffic, &up);
	assert_int_equal(up.proven, BURST);
	assert_int_equal(up.unexpected[UPLINK_UNEXPECTED_RPHY], 1);
	assert_int_equal(up.unexpected[UPLINK_UNEXPECTED_FOREIGN], 1);
	traffic_result(rig.traffic, &down);
	assert_int_equal(down.sent + down.depi_frames, 0);
}

TEST(unbalanced_account_fails_run) {
	struct uplink_result up;

	send_burst((struct fake_plan){.burst = 10});
	assert_uplink(10, 0, 0);
	rig.traffic->uplink_receiver.proof.proven--;
	traffic_uplink_result(rig.traffic, &up);
	assert_int_equal(up.unaccounted, 1);
	assert_int_equal(up.lost, 0);
	assert_false(uplink_result_good(&up));
}

/* Packets that a modem discards, because its requests are unanswered, are not lost. */
TEST(lost_and_discarded_packets_are_counted) {
	send_burst((struct fake_plan){.burst = 10, .lose_every = 5});
	assert_uplink(10, 2, 0);
	tear_down(state);
	send_burst((struct fake_plan){.burst = 10, .discard = true});
	assert_int_equal(assert_uplink(10, 0, 0).grants.given_up, 1);
}

TEST(old_packets_are_drained) {
	unsigned drained = 0, n;

	start(false, (struct fake_plan){.burst = BURST});
	for (int i = 0; i < 80; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);
		uint16_t port = i % 2 == 0 ? rig.network[1] : rig.rphy[1];

		rte_pktmbuf_append(m, 60);
		assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	}
	while ((n = traffic_drain(rig.traffic)) > 0) {
		/* a burst per port and call, so that a busy port cannot block */
		assert_in_range(n, 1, 64);
		drained += n;
	}
	assert_int_equal(drained, 80);
	assert_int_equal(traffic_receive(rig.traffic), 0);
}

TEST(run_ends_after_all_is_sent) {
	struct run run = {.duration_ns = 2000000};
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 1});
	up = execute_run(&run);
	assert_true(traffic_all_sent(rig.traffic));
	assert_true(up.sent > FAKE_INCOMPLETE);
	assert_uplink(up.sent, 0, 0);
	assert_int_equal(run.upstream.proven, up.proven);
	assert_int_equal(run.upstream.sent_bytes, up.sent_bytes);
	assert_int_equal(run.downstream.sent_bytes, 0);
	assert_true(up.seconds > 0.001 && up.gbps > 0);
}

TEST(run_ends_although_modems_are_stuck) {
	struct run run = {.duration_ns = 1000000};

	start(false, (struct fake_plan){.burst = 1, .stuck = true});
	assert_uplink(execute_run(&run).sent, 0, 0);
	assert_false(traffic_all_sent(rig.traffic));
	tear_down(state);
	/* a stopped run completes incomplete packets */
	run = (struct run){.duration_ns = UINT64_MAX / 2, .stop = 1};
	start(false, (struct fake_plan){.burst = 1});
	assert_true(execute_run(&run).sent >= FAKE_INCOMPLETE);
	assert_true(traffic_all_sent(rig.traffic));
}

/* A sender of captures does not receive: packets in flight have no verdict. */
TEST(send_only_run_does_not_receive) {
	struct run run = {.duration_ns = 1000000, .send_only = true};
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 1, .lose_every = 1});
	rte_pktmbuf_append(m, 60);
	transmit(m);
	up = execute_run(&run);
	assert_true(traffic_all_sent(rig.traffic));
	assert_true(up.sent > FAKE_INCOMPLETE);
	assert_int_equal(up.proven, 0);
	/* the packet that arrived before the run is still in the port */
	assert_int_equal(traffic_drain(rig.traffic), 1);
}

EACH_TEST(NULL, tear_down)
ALL_TESTS(rig_open, rig_close)

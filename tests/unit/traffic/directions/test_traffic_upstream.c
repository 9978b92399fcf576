/* SPDX-License-Identifier: BSD-3-Clause */
/* Both directions at once: what each sends, receives and proves, and when a run ends. */
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

static int end(void **state) {
	traffic_free(rig.traffic);
	rig.traffic = NULL;
	assert_int_equal(rte_mempool_in_use_count(rig.pool), 0);
	return 0;
}

static void receive_all(void) {
	while (traffic_receive(rig.traffic) > 0)
		;
}

/* So many were sent, and all but those that were lost or corrupted are proven. */
static struct uplink_result expect(uint64_t sent, uint64_t lost, uint64_t corrupted) {
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

/* Sends a burst of the upstream alone. */
static void send_burst(struct fake_plan plan) {
	start(false, plan);
	assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), plan.burst);
}

/* The same, so that it comes out at our end: a packet as it is received there. */
static struct rte_mbuf *take_back(void) {
	struct rte_mbuf *m = NULL;

	rte_eth_rx_burst(rig.network[1], 0, &m, 1);
	return m;
}

static void give(struct rte_mbuf *m) {
	assert_int_equal(rte_eth_tx_burst(rig.network[1], 0, &m, 1), 1);
}

/* An upstream alone runs for 1 ms, or until it is stopped. */
static struct uplink_result run_for(struct run *run) {
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
	rig_take(&rig, frames, PACKETS, NULL);
	fake_plan.burst = BURST;
	for (unsigned i = 0; i < PACKETS; i++) {
		/* No downstream is left to send: the burst is the upstream's. */
		if (i == 0)
			traffic_stop(rig.traffic);
		traffic_send(rig.traffic, rte_rdtsc());
		rig_send_frame(&rig, &frames[i]);
	}
	up = expect(FAKE_UNDER_WAY, 0, 0);
	assert_int_equal(up.counts.packets, up.sent);
	traffic_finish(rig.traffic);
	assert_int_equal(traffic_in_flight(rig.traffic), 0);
	traffic_result(rig.traffic, &down);
	rig_expect(&down, (struct rig_wrong){0});
}

TEST(directions_take_turns) {
	struct rte_mbuf *m;
	struct traffic_result down;

	start(true, (struct fake_plan){.burst = BURST});
	for (int i = 0; i < 2; i++)
		assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), 32 + BURST);
	assert_int_equal(traffic_in_flight(rig.traffic), 2 * (32 + BURST));
	assert_int_equal(traffic_receive(rig.traffic), 2 * BURST);
	assert_int_equal(traffic_in_flight(rig.traffic), 2 * 32);
	traffic_result(rig.traffic, &down);
	rig_expect(&down, (struct rig_wrong){.lost = 64});
	expect(2 * BURST, 0, 0);
	while ((m = take_back()) != NULL)
		rte_pktmbuf_free(m);
}

/* Frames may come in chains of buffers from a CMTS in the same process; and damaged, which is not lost. */
TEST(chains_are_put_together) {
	struct rte_mbuf *head, *tail;

	start(false, (struct fake_plan){.burst = 9});
	fake_plan.port = rig.network[0]; /* comes out at our end */
	traffic_send(rig.traffic, rte_rdtsc());
	while ((head = take_back()) != NULL) {
		uint16_t behind = (uint16_t)(head->data_len - 50);

		if (head->data_len == 1280)
			rte_pktmbuf_mtod(head, uint8_t *)[1279] ^= 1;
		tail = fixture_packet(rig.pool, rte_pktmbuf_mtod_offset(head, uint8_t *, 50),
				      behind);
		assert_int_equal(rte_pktmbuf_trim(head, behind), 0);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
		give(head);
	}
	assert_int_equal(expect(9, 0, 3).corrupted_by[UPLINK_CORRUPTION_CONTENTS], 3);
}

static void chained_beyond_any_packet(void) {
	static const uint8_t bytes[2000] = {[12] = 0x90};
	struct rte_mbuf *head = fixture_packet(rig.pool, bytes, sizeof(bytes));
	struct rte_mbuf *tail = fixture_packet(rig.pool, bytes, sizeof(bytes));

	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	give(head);
}

TEST(upstream_alone_discards_what_comes_down) {
	struct rig_segment segment = {(const uint8_t *)"frame", 5, true, true};
	struct traffic_result down;
	struct uplink_result up;
	uint8_t depi[RIG_MTU + 14];

	send_burst((struct fake_plan){.burst = BURST});
	rig_send(&rig, depi, rig_depi(&rig, 0, &segment, 1, depi));
	chained_beyond_any_packet();
	receive_all();
	traffic_uplink_result(rig.traffic, &up);
	assert_int_equal(up.proven, BURST);
	assert_int_equal(up.unexpected[UPLINK_UNEXPECTED_RPHY], 1);
	assert_int_equal(up.unexpected[UPLINK_UNEXPECTED_FOREIGN], 1);
	traffic_result(rig.traffic, &down);
	assert_int_equal(down.sent + down.depi_frames, 0);
}

TEST(an_account_that_does_not_close_is_not_good) {
	struct uplink_result up;

	send_burst((struct fake_plan){.burst = 10});
	expect(10, 0, 0);
	rig.traffic->uplink_receiver.proof.proven--;
	traffic_uplink_result(rig.traffic, &up);
	assert_int_equal(up.unaccounted, 1);
	assert_int_equal(up.lost, 0);
	assert_false(uplink_result_good(&up));
}

/* Packets whose requests nobody answers use up numbers, and are not sent: they are not lost. */
TEST(what_became_of_packets_is_told) {
	send_burst((struct fake_plan){.burst = 10, .lose_every = 5});
	expect(10, 2, 0);
	end(state);
	send_burst((struct fake_plan){.burst = 10, .discard = true});
	assert_int_equal(expect(10, 0, 0).grants.given_up, 1);
}

TEST(old_frames_are_drained) {
	unsigned drained = 0, n;

	start(false, (struct fake_plan){.burst = BURST});
	for (int i = 0; i < 80; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);
		uint16_t port = i % 2 == 0 ? rig.network[1] : rig.rphy[1];

		rte_pktmbuf_append(m, 60);
		assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	}
	while ((n = traffic_drain(rig.traffic)) > 0) {
		/* a burst each: a port that never ends does not hold it up */
		assert_in_range(n, 1, 64);
		drained += n;
	}
	assert_int_equal(drained, 80);
	assert_int_equal(traffic_receive(rig.traffic), 0);
}

TEST(a_run_ends_when_modems_have_sent_all) {
	struct run run = {.duration_ns = 2000000};
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 1});
	up = run_for(&run);
	assert_true(traffic_all_sent(rig.traffic));
	assert_true(up.sent > FAKE_UNDER_WAY);
	expect(up.sent, 0, 0);
	assert_int_equal(run.upstream.proven, up.proven);
	assert_int_equal(run.upstream.sent_bytes, up.sent_bytes);
	assert_int_equal(run.downstream.sent_bytes, 0);
	assert_true(up.seconds > 0.001 && up.gbps > 0);
}

TEST(a_run_does_not_wait_for_ever) {
	struct run run = {.duration_ns = 1000000};

	start(false, (struct fake_plan){.burst = 1, .stuck = true});
	expect(run_for(&run).sent, 0, 0);
	assert_false(traffic_all_sent(rig.traffic));
	end(state);
	/* One that was stopped ends what was begun. */
	run = (struct run){.duration_ns = UINT64_MAX / 2, .stop = 1};
	start(false, (struct fake_plan){.burst = 1});
	assert_true(run_for(&run).sent >= FAKE_UNDER_WAY);
	assert_true(traffic_all_sent(rig.traffic));
}

/* As a capture's sender does: what is in flight is nobody's. */
TEST(a_run_that_only_sends_does_not_receive) {
	struct run run = {.duration_ns = 1000000, .send_only = true};
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 1, .lose_every = 1});
	rte_pktmbuf_append(m, 60);
	give(m);
	up = run_for(&run);
	assert_true(traffic_all_sent(rig.traffic));
	assert_true(up.sent > FAKE_UNDER_WAY);
	assert_int_equal(up.proven, 0);
	/* What came in is still there, from before the run too. */
	assert_int_equal(traffic_drain(rig.traffic), 1);
}

EACH_TEST(NULL, end)
ALL_TESTS(rig_open, rig_close)

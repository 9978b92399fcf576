/* SPDX-License-Identifier: BSD-3-Clause */
/* Both directions at once: what each sends, receives and proves, and when a run ends. */
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "directions/traffic_parts.h"
#include "fake_uplink.h"
#include "groups/run.h"
#include "test_main.h"
#include "traffic_group.h"
#include "wire/bytes.h"

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

static struct uplink_result upstream(void) {
	struct uplink_result r;

	traffic_uplink_result(rig.traffic, &r);
	return r;
}

/* Sends a burst, and takes all that comes back. */
static struct uplink_result sent_and_received(void) {
	traffic_send(rig.traffic, rte_rdtsc());
	receive_all();
	return upstream();
}

static struct uplink_result ran(struct run *run) {
	run->groups = rig_groups(&rig);
	run_traffic(run);
	assert_true(run->done);
	return upstream();
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
	receive_all();
	traffic_finish(rig.traffic);
	assert_int_equal(traffic_in_flight(rig.traffic), 0);
	traffic_result(rig.traffic, &down);
	up = upstream();
	assert_int_equal(down.proven, PACKETS);
	assert_true(traffic_result_good(&down));
	assert_int_equal(up.sent, FAKE_UNDER_WAY);
	assert_int_equal(up.proven, up.sent);
	assert_true(uplink_result_good(&up));
	assert_int_equal(up.counts.packets, up.sent);
}

/* Each gets its burst, and what is in flight is what both have sent. */
TEST(directions_take_turns) {
	struct rte_mbuf *packets[64];
	struct traffic_result down;
	struct uplink_result up;
	uint16_t n;

	start(true, (struct fake_plan){.burst = BURST});
	for (int i = 0; i < 2; i++)
		assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), 32 + BURST);
	assert_int_equal(traffic_in_flight(rig.traffic), 2 * (32 + BURST));
	assert_int_equal(traffic_receive(rig.traffic), 2 * BURST);
	assert_int_equal(traffic_in_flight(rig.traffic), 2 * 32);
	traffic_result(rig.traffic, &down);
	assert_int_equal(down.sent, 64);
	assert_int_equal(down.lost, 64);
	assert_false(traffic_result_good(&down));
	up = upstream();
	assert_true(uplink_result_good(&up));
	n = rte_eth_rx_burst(rig.network[1], 0, packets, 64);
	rte_pktmbuf_free_bulk(packets, n);
}

/* Frames may come in chains of buffers from a CMTS in the same process. */
TEST(chains_are_put_together) {
	struct rte_mbuf *head, *tail;
	struct uplink_result up;
	uint8_t *bytes;

	start(false, (struct fake_plan){.burst = 3});
	fake_plan.port = rig.network[0]; /* comes out at our end */
	traffic_send(rig.traffic, rte_rdtsc());
	while (rte_eth_rx_burst(rig.network[1], 0, &head, 1) == 1) {
		uint16_t behind = (uint16_t)(head->data_len - 50);

		tail = rte_pktmbuf_alloc(rig.pool);
		bytes = (uint8_t *)rte_pktmbuf_append(tail, behind);
		memcpy(bytes, rte_pktmbuf_mtod_offset(head, uint8_t *, 50), behind);
		assert_int_equal(rte_pktmbuf_trim(head, behind), 0);
		assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
		assert_int_equal(rte_eth_tx_burst(rig.network[1], 0, &head, 1), 1);
	}
	receive_all();
	up = upstream();
	assert_int_equal(up.sent, 3);
	assert_true(uplink_result_good(&up));
}

static void chained_beyond_any_packet(void) {
	struct rte_mbuf *head = rte_pktmbuf_alloc(rig.pool), *tail = rte_pktmbuf_alloc(rig.pool);

	memset(rte_pktmbuf_append(head, 2000), 0x08, 2000);
	memset(rte_pktmbuf_append(tail, 2000), 0, 2000);
	store_be16(rte_pktmbuf_mtod_offset(head, uint8_t *, 12), 0x9000);
	assert_int_equal(rte_pktmbuf_chain(head, tail), 0);
	assert_int_equal(rte_eth_tx_burst(rig.network[1], 0, &head, 1), 1);
}

TEST(upstream_alone_discards_what_comes_down) {
	struct uplink_result up;
	uint8_t depi[RIG_MTU + 14];
	struct rig_segment segment = {(const uint8_t *)"frame", 5, true, true};
	struct traffic_result down;

	start(false, (struct fake_plan){.burst = BURST});
	assert_int_equal(traffic_send(rig.traffic, rte_rdtsc()), BURST);
	rig_send(&rig, depi, rig_depi(&rig, 0, &segment, 1, depi));
	chained_beyond_any_packet();
	receive_all();
	up = upstream();
	assert_int_equal(up.proven, BURST);
	assert_int_equal(up.unexpected[UPLINK_UNEXPECTED_RPHY], 1);
	assert_int_equal(up.unexpected[UPLINK_UNEXPECTED_FOREIGN], 1);
	traffic_result(rig.traffic, &down);
	assert_int_equal(down.sent + down.depi_frames, 0);
}

TEST(lost_packets_are_not_good) {
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 10, .lose_every = 5});
	up = sent_and_received();
	assert_int_equal(up.sent, 10);
	assert_int_equal(up.proven, 8);
	assert_int_equal(up.lost, 2);
	assert_int_equal(up.sent, up.proven + up.lost + up.corrupted);
	assert_int_equal(up.unaccounted, 0);
	assert_false(uplink_result_good(&up));
}

TEST(an_account_that_does_not_close_is_not_good) {
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 10});
	up = sent_and_received();
	assert_true(uplink_result_good(&up));
	rig.traffic->uplink_receiver.proof.proven--;
	up = upstream();
	assert_int_equal(up.unaccounted, 1);
	assert_int_equal(up.lost, 0);
	assert_false(uplink_result_good(&up));
}

TEST(damage_is_corrupted_not_lost) {
	struct uplink_result up;
	struct rte_mbuf *m;

	start(false, (struct fake_plan){.burst = 9});
	fake_plan.port = rig.network[0];
	traffic_send(rig.traffic, rte_rdtsc());
	while (rte_eth_rx_burst(rig.network[1], 0, &m, 1) == 1) {
		uint8_t *bytes = rte_pktmbuf_mtod(m, uint8_t *);

		if (m->data_len == 1280)
			bytes[1279] ^= 1;
		assert_int_equal(rte_eth_tx_burst(rig.network[1], 0, &m, 1), 1);
	}
	receive_all();
	up = upstream();
	assert_int_equal(up.sent, 9);
	assert_int_equal(up.proven, 6);
	assert_int_equal(up.corrupted, 3);
	assert_int_equal(up.corrupted_by[UPLINK_CORRUPTION_CONTENTS], 3);
	assert_int_equal(up.lost + up.duplicated, 0);
	assert_false(uplink_result_good(&up));
}

TEST(old_frames_are_drained) {
	struct rte_mbuf *m;
	unsigned drained = 0, n;

	start(false, (struct fake_plan){.burst = BURST});
	for (int port = 0; port < 2; port++) {
		for (int i = 0; i < 40; i++) {
			m = rte_pktmbuf_alloc(rig.pool);
			rte_pktmbuf_append(m, 60);
			assert_int_equal(rte_eth_tx_burst(port == 0 ? rig.network[1] : rig.rphy[1],
							  0, &m, 1),
					 1);
		}
	}
	while ((n = traffic_drain(rig.traffic)) > 0) {
		assert_in_range(n, 1,
				64); /* a burst each: a port that never ends does not hold it up */
		drained += n;
	}
	assert_int_equal(drained, 80);
	assert_int_equal(traffic_receive(rig.traffic), 0);
}

TEST(a_run_ends_when_modems_have_sent_all) {
	struct uplink_result up;
	struct run run = {.duration_ns = 2000000};

	start(false, (struct fake_plan){.burst = 1});
	up = ran(&run);
	assert_true(traffic_all_sent(rig.traffic));
	assert_true(up.sent > FAKE_UNDER_WAY);
	assert_true(uplink_result_good(&up));
	assert_int_equal(run.upstream.proven, up.proven);
	assert_int_equal(run.upstream.sent_bytes, up.sent_bytes);
	assert_int_equal(run.downstream.sent_bytes, 0);
	assert_true(up.seconds > 0.001 && up.gbps > 0);
}

TEST(a_run_does_not_wait_for_ever) {
	struct uplink_result up;
	struct run run = {.duration_ns = 1000000};

	start(false, (struct fake_plan){.burst = 1, .stuck = true});
	up = ran(&run);
	assert_false(traffic_all_sent(rig.traffic));
	assert_int_equal(up.sent, up.proven);
}

/* Packets whose requests nobody answers use up numbers, and are not sent. */
TEST(discarded_packets_are_not_lost) {
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 10, .discard = true});
	up = sent_and_received();
	assert_int_equal(up.grants.given_up, 1);
	assert_int_equal(up.proven, 10);
	assert_int_equal(up.sent, 10);
	assert_int_equal(up.lost, 0);
	assert_int_equal(up.unaccounted, 0);
	assert_true(uplink_result_good(&up));
}

/* As a capture's sender does: what is in flight is nobody's. */
TEST(a_run_that_only_sends_does_not_receive) {
	struct uplink_result up;
	struct run run = {.duration_ns = 1000000, .send_only = true};
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);

	start(false, (struct fake_plan){.burst = 1, .lose_every = 1});
	rte_pktmbuf_append(m, 60);
	assert_int_equal(rte_eth_tx_burst(rig.network[1], 0, &m, 1), 1);
	up = ran(&run);
	assert_true(traffic_all_sent(rig.traffic));
	assert_true(up.sent > FAKE_UNDER_WAY);
	assert_int_equal(up.proven, 0);
	/* What came in is still there, from before the run too. */
	assert_int_equal(traffic_drain(rig.traffic), 1);
}

TEST(a_run_that_was_stopped_ends_what_was_begun) {
	struct run run = {.duration_ns = UINT64_MAX / 2, .stop = 1};
	struct uplink_result up;

	start(false, (struct fake_plan){.burst = 1});
	up = ran(&run);
	assert_true(traffic_all_sent(rig.traffic));
	assert_true(up.sent >= FAKE_UNDER_WAY);
	assert_true(uplink_result_good(&up));
}

EACH_TEST(NULL, end)
ALL_TESTS(open_rig, close_rig)

/* SPDX-License-Identifier: BSD-3-Clause */
/* The way out: frames by a ring to the port, what it does not take, and several that send at once. */
#include "test_main.h"

#include <pthread.h>

#include <rte_ethdev.h>

#include "packets.h"
#include "share_rig.h"

#define RING 32

static struct share_rig storage, *const rig = &storage;
static uint32_t serial;

static void open_sink(struct packet_sink *sink, bool by_ring) {
	rig_prepare(rig, 1);
	rig->sends_by_ring = by_ring;
	rig->ring_size = RING;
	rig_open(rig, SHARE_NETWORK);
	*sink = share_sink(rig->s);
	assert_int_equal(sink->ring != NULL, by_ring);
}

static uint16_t put(const struct packet_sink *sink, unsigned n) {
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint16_t taken;

	for (unsigned i = 0; i < n; i++)
		pkts[i] = rig_packet(rig, 0, serial + i);
	taken = packet_sink_burst(sink, pkts, (uint16_t)n);
	rte_pktmbuf_free_bulk(pkts + taken, n - taken);
	serial += taken;
	return taken;
}

/* Takes what came to the far end, and checks that each sender's frames go on where its `next` stands. */
static unsigned take_far(uint32_t *next) {
	struct rte_mbuf *m;
	unsigned n = 0;

	for (; rte_eth_rx_burst(rig->far, 0, &m, 1) == 1; n++) {
		uint32_t number = packet_serial(rte_pktmbuf_mtod(m, uint8_t *));

		assert_int_equal(number & 0xffff, next[number >> 16]++);
		rte_pktmbuf_free(m);
	}
	return n;
}

/* A port that takes no more: the ring fills, who sends keeps the rest, and all of it goes out in its order. */
TEST(back_pressure) {
	uint64_t taken = 0, sent = 0;
	struct packet_sink sink;
	uint32_t next = serial;
	unsigned refused = 0;

	open_sink(&sink, true);
	for (unsigned i = 0; i < 3 * RIG_PORT / 8; i++) {
		uint16_t now = put(&sink, 8);

		taken += now;
		refused += now < 8;
		sent += pipeline_run(&rig->s->sending);
		assert_int_equal(taken, sent + share_held_out(rig->s));
		assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], sent);
	}
	assert_int_equal(sent, RIG_PORT - 1);
	assert_in_range(share_held_out(rig->s), RING, RING + PIPELINE_BURST);
	assert_true(pipeline_due(&rig->s->sending) == 0);
	assert_true(pipeline_due(&rig->s->receiving) == UINT64_MAX);
	assert_true(refused > 0);
	assert_true(rig->s->counters.values[COUNTER_PORT_SEND_RETRIES] > 0);
	while (share_held_out(rig->s) > 0) {
		take_far(&next);
		sent += pipeline_run(&rig->s->sending);
	}
	take_far(&next);
	assert_int_equal(sent, taken);
	assert_int_equal(next, serial);
	rig_close(rig);
}

/* The ring and the frames that wait for the port, at the end. */
TEST(the_stop_counts_frames) {
	struct packet_sink sink;

	open_sink(&sink, true);
	for (unsigned i = 0; i < RIG_PORT / 16; i++) {
		assert_int_equal(put(&sink, 16), 16);
		pipeline_run(&rig->s->sending);
	}
	assert_int_equal(rig->s->send.count, 1);
	assert_int_equal(put(&sink, 5), 5);
	share_stop(rig->s);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNSENT), 6);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], RIG_PORT - 1);
	rig_close(rig);
}

#define SENDERS 3
#define FRAMES_EACH 900

/* A thread that sends for a group: number by number, again and again where the ring is full. */
struct sender {
	pthread_t thread;
	struct packet_sink sink;
	struct rte_mbuf *frames[FRAMES_EACH];
};

static void *sender_run(void *arg) {
	struct sender *s = arg;

	for (unsigned sent = 0; sent < FRAMES_EACH;) {
		unsigned n = RTE_MIN(7U, FRAMES_EACH - sent);

		sent += packet_sink_burst(&s->sink, s->frames + sent, (uint16_t)n);
	}
	return NULL;
}

/* Each sender's frames come out in their order, all of them, with more senders than cores perhaps. */
TEST(several_send) {
	static struct sender senders[SENDERS];
	uint32_t next[SENDERS] = {0};
	struct packet_sink sink;
	unsigned came = 0;

	open_sink(&sink, true);
	/* a sender that loses its core in the midst of it does not stop the others */
	assert_int_equal(rte_ring_get_prod_sync_type(sink.ring), RTE_RING_SYNC_MT_RTS);
	for (unsigned s = 0; s < SENDERS; s++) {
		senders[s].sink = sink;
		for (uint32_t i = 0; i < FRAMES_EACH; i++)
			senders[s].frames[i] = rig_packet(rig, 0, s << 16 | i);
		assert_int_equal(pthread_create(&senders[s].thread, NULL, sender_run, &senders[s]),
				 0);
	}
	while (came < SENDERS * FRAMES_EACH) {
		pipeline_run(&rig->s->sending);
		came += take_far(next);
	}
	for (unsigned s = 0; s < SENDERS; s++)
		assert_int_equal(pthread_join(senders[s].thread, NULL), 0);
	assert_int_equal(share_held_out(rig->s), 0);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], SENDERS * FRAMES_EACH);
	rig_close(rig);
}

/* Where each sender has a queue of its own, the port is the sink, and `send` has nothing to do. 0 is the number of a port,
 * to which a sink that nobody has set must not send. */
TEST(without_a_ring) {
	struct packet_sink sink, unset = {0};
	uint32_t next = serial;

	open_sink(&sink, false);
	assert_true(rte_eth_dev_is_valid_port(0));
	assert_false(packet_sink_there(&unset));
	assert_int_equal(put(&unset, 3), 0);
	assert_true(packet_sink_there(&sink));
	assert_int_equal(put(&sink, 5), 5);
	assert_int_equal(pipeline_run(&rig->s->sending), 0);
	assert_int_equal(take_far(&next), 5);
	rig_close(rig);
}

ALL_TESTS(rig_begin, rig_end)

/* SPDX-License-Identifier: BSD-3-Clause */
/* The rings of a port, to the groups and from them: order, what is full, groups that come and go, and the accounts. */
#include "test_main.h"

#include <pthread.h>

#include <rte_ethdev.h>

#include "packets.h"
#include "platform/vlan.h"
#include "share_kit.h"
#include "sharing/forget.h"

#include "fixture.h"

#define SIZE 60
#define RING 32

static struct share_kit storage, *const rig = &storage;
static struct packet_sink sink; /* of the port */
static uint32_t serial;

static void open_groups(unsigned count, unsigned ring_size, bool by_ring) {
	rig_prepare(rig, count);
	rig->ring_size = ring_size;
	rig->sends_by_ring = by_ring;
	rig_open(rig, SHARE_NETWORK);
	sink = share_sink(rig->s);
	assert_int_equal(sink.ring != NULL, by_ring);
}

static void send_to(unsigned group) {
	struct rte_mbuf *m = rig_packet(rig, group, serial++);

	assert_int_equal(rte_eth_tx_burst(rig->far, 0, &m, 1), 1);
}

static void receive(struct rte_mbuf *m) {
	assert_int_equal(rte_eth_tx_burst(rig->far, 0, &m, 1), 1);
	pipeline_run(&rig->s->receiving);
}

static void receive_for(unsigned group) {
	receive(rig_packet(rig, group, serial++));
}

/* Takes all that the group has. Returns how many; their numbers rise. */
static unsigned take_in_order(unsigned group, uint32_t *last) {
	struct rte_mbuf *m;
	unsigned all = 0;

	for (; rig_take(rig, group, &m, 1) > 0; all++) {
		uint32_t number = packet_serial(rte_pktmbuf_mtod(m, uint8_t *));

		assert_true(number >= *last);
		*last = number + 1;
		rte_pktmbuf_free(m);
	}
	return all;
}

/* A group that takes nothing loses what its ring does not hold, also of one burst; what came first is what the ring holds, and
 * no other group loses anything. */
TEST(one_ring_is_full) {
	for (unsigned burst = 0; burst < 2; burst++) {
		unsigned ring = burst ? RING / 2 : RING, sent = burst ? RING : RING + 10;
		uint32_t last = 0, first = serial;

		open_groups(2, ring, true);
		for (unsigned i = 0; i < sent; i++) {
			send_to(0);
			send_to(1);
			if (burst && i < sent - 1)
				continue;
			pipeline_run(&rig->s->receiving);
			assert_int_equal(take_in_order(1, &last), burst ? ring : 1);
			rig_check(rig);
		}
		assert_int_equal(rig->s->members[0].full, sent - ring);
		assert_int_equal(rig->s->members[1].full, burst ? sent - ring : 0);
		assert_int_equal(rig_dropped(rig, DROP_PORT_GROUP_FULL),
				 (sent - ring) * (1 + burst));
		assert_int_equal(share_pending_in(rig->s), ring);
		assert_int_equal(take_in_order(0, &first), ring);
		assert_int_equal(first, serial - 1 - 2 * (sent - ring));
		rig_close(rig);
		rig->s = NULL;
	}
}

TEST(the_port_was_empty) {
	struct packet_source source;
	uint32_t last = 0;

	open_groups(1, RIG_RING, true);
	source = share_source(rig->s, 0);
	pipeline_run(&rig->s->receiving);
	assert_int_equal(packet_source_emptied(&source), 1);
	for (unsigned i = 0; i < PIPELINE_BURST + 32; i++)
		send_to(0);
	pipeline_run(&rig->s->receiving);
	pipeline_run(&rig->s->receiving);
	assert_int_equal(packet_source_emptied(&source), 1);
	assert_int_equal(rig->s->full_polls, 1);
	receive_for(0);
	assert_int_equal(packet_source_emptied(&source), 2);
	assert_int_equal(take_in_order(0, &last), PIPELINE_BURST + 33);
}

/* A frame in several buffers is joined; where its first buffer has no room for that, it is dropped. */
TEST(chains) {
	struct rte_mempool *small = fixture_pool("small", 7, RTE_PKTMBUF_HEADROOM + 16);
	uint8_t frame[SIZE];
	uint32_t last = 0;

	open_groups(2, RING, true);
	packet_ipv4(frame, SIZE, serial, rig->addresses[1][0][0].bytes);
	for (unsigned fits = 0; fits < 2; fits++) {
		struct rte_mbuf *m = fixture_packet(fits ? rig->packets : small, frame, 16);
		struct rte_mbuf *end = fixture_packet(rig->packets, frame + 16, SIZE - 16);

		assert_int_equal(rte_pktmbuf_chain(m, end), 0);
		receive(m);
		assert_int_equal(take_in_order(1, &last), fits);
	}
	assert_int_equal(rig_dropped(rig, DROP_PORT_CHAINED), 1);
	fixture_pool_end(small);
}

/* A tag that the device took off and told. */
TEST(stripped_by_the_device) {
	static const struct {
		uint16_t tci;
		bool tagged; /* another tag in the frame */
		enum drop_reason reason; /* DROP_NONE: group 1 gets it */
	} cases[] = {{10, false, DROP_NONE},
		     {0xf00a, false, DROP_NONE},
		     {0, false, DROP_PORT_VLAN_MISSING},
		     {11, false, DROP_PORT_VLAN_UNKNOWN},
		     {10, true, DROP_PORT_VLAN_STACKED}};
	uint32_t last = 0;

	rig_prepare(rig, 2);
	rig->groups[0].network.vlan = 9;
	rig->groups[1].network.vlan = 10;
	rig_open(rig, SHARE_NETWORK);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rte_mbuf *m = rig_packet(rig, 1, serial++);

		if (cases[i].tagged)
			packet_tag(m, 10);
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = cases[i].tci;
		receive(m);
		assert_int_equal(take_in_order(1, &last), cases[i].reason == DROP_NONE);
		if (cases[i].reason != DROP_NONE)
			assert_int_equal(rig_dropped(rig, cases[i].reason), 1);
	}
}

/* A packet for the group comes to it, or is nobody's. */
static void comes(unsigned group, bool there) {
	uint64_t before = rig_dropped(rig, DROP_PORT_UNKNOWN_DESTINATION);
	uint32_t last = 0;

	receive_for(group);
	if (there)
		assert_int_equal(take_in_order(group, &last), 1);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNKNOWN_DESTINATION), before + !there);
	rig_check(rig);
}

static void table_of(unsigned count) {
	rig->count = count;
	share_table_free(share_table_replace(rig->s, rig_table(rig)));
}

static void forget(struct port_share *share, unsigned group) {
	struct share_forgetting f = {.share = share, .group = group};

	while (!share_forget(&f))
		;
}

TEST(groups_come_and_go) {
	open_groups(2, RING, true);
	comes(2, false);
	assert_int_equal(share_member_open(rig->s, 2, RING), 0);
	rig->list[2] = &rig->groups[2];
	table_of(3);
	for (unsigned g = 0; g < 3; g++)
		comes(g, true);
	receive_for(0);
	rig->list[0] = NULL;
	table_of(3);
	share_member_close(rig->s, 0); /* with the packet from above */
	assert_int_equal(rig_dropped(rig, DROP_PORT_STOPPED), 1);
	forget(rig->s, 1);
	for (unsigned g = 0; g < 3; g++)
		comes(g, g == 2);
	assert_int_equal(share_member_open(rig->s, 0, RING), 0);
	rig->list[0] = &rig->groups[0];
	table_of(1);
	assert_null(rig->s->table->groups);
	forget(rig->s, 0);
	comes(0, false);
	table_of(0); /* as when the last group that receives has gone */
	comes(0, false);
}

/* The same of sessions. */
TEST(nobody_is_left) {
	uint8_t frame[RIG_FRAME];

	rig_prepare(rig, 2);
	rig_open(rig, SHARE_RPHY);
	table_of(0);
	rig_send(rig, frame, rig_l2tp(frame, 4, rig->groups[0].rphy.core_mac, 0x10000), false);
	pipeline_run(&rig->s->receiving);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNKNOWN_SESSION), 1);
}

static uint32_t few_buckets(const void *key, uint32_t length, uint32_t initial) {
	return load_be32(key) % 4;
}

/* A bucket that is full has keys behind it. Where one of the bucket goes, one from behind it takes its place, which
 * a walk may have passed. */
TEST(all_keys_of_full_buckets_are_forgotten) {
	const struct rte_hash_parameters p = {.name = "full",
					      .entries = 1024,
					      .key_len = sizeof(struct share_key),
					      .hash_func = few_buckets,
					      .extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE};
	static struct share_table table;
	static struct port_share share = {.table = &table};

	table.groups = rte_hash_create(&p);
	assert_non_null(table.groups);
	for (uint32_t i = 0; i < p.entries; i++) {
		struct share_key key = {0};
		void *groups;

		store_be32(key.value, i);
		/* bits of the groups that have the key */
		groups = (void *)(uintptr_t)(i % 8 == 0 ? 3 : 2);
		assert_int_equal(rte_hash_add_key_data(table.groups, &key, groups), 0);
	}
	forget(&share, 1);
	assert_int_equal(rte_hash_count(table.groups), p.entries / 8);
	rte_hash_free(table.groups);
}

static uint16_t put(const struct packet_sink *to, unsigned n) {
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint16_t taken;

	for (unsigned i = 0; i < n; i++)
		pkts[i] = rig_packet(rig, 0, serial + i);
	taken = packet_sink_burst(to, pkts, (uint16_t)n);
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
	uint32_t next = serial;

	open_groups(1, RING, true);
	for (unsigned i = 0; i < 3 * RIG_PORT / 8; i++) {
		taken += put(&sink, 8);
		sent += pipeline_run(&rig->s->sending);
		assert_int_equal(taken, sent + share_pending_out(rig->s));
		assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], sent);
	}
	assert_int_equal(sent, RIG_PORT - 1);
	assert_in_range(share_pending_out(rig->s), RING, RING + PIPELINE_BURST);
	assert_true(pipeline_due(&rig->s->sending) == 0);
	assert_true(pipeline_due(&rig->s->receiving) == UINT64_MAX);
	assert_true(rig->s->counters.values[COUNTER_PORT_SEND_RETRIES] > 0);
	while (share_pending_out(rig->s) > 0) {
		take_far(&next);
		sent += pipeline_run(&rig->s->sending);
	}
	take_far(&next);
	assert_int_equal(sent, taken);
	assert_int_equal(next, serial);
}

/* What is still in the rings at the end counts under its name, and so do frames that wait for the port; what is still in the
 * port is not received any more. */
TEST(the_stop_counts) {

	open_groups(1, RING, true);
	for (unsigned i = 0; i < RIG_PORT / 16; i++) {
		assert_int_equal(put(&sink, 16), 16);
		pipeline_run(&rig->s->sending);
	}
	assert_int_equal(rig->s->send.count, 1);
	assert_int_equal(put(&sink, 5), 5);
	for (unsigned i = 0; i < 9; i++)
		receive_for(0);
	send_to(0);
	share_close(rig->s);
	assert_int_equal(pipeline_run(&rig->s->receiving), 0);
	share_stop(rig->s);
	assert_int_equal(rig_dropped(rig, DROP_PORT_STOPPED), 9);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_HANDED], 9);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNSENT), 6);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], RIG_PORT - 1);
}

#define SENDERS 3
#define FRAMES_EACH 900

/* A thread that sends for a group: number by number, again and again where the ring is full. */
struct sender {
	pthread_t thread;
	struct rte_mbuf *frames[FRAMES_EACH];
};

static void *sender_run(void *arg) {
	struct sender *s = arg;

	for (unsigned sent = 0; sent < FRAMES_EACH;) {
		unsigned n = RTE_MIN(7U, FRAMES_EACH - sent);

		sent += packet_sink_burst(&sink, s->frames + sent, (uint16_t)n);
	}
	return NULL;
}

TEST(several_send) {
	static struct sender senders[SENDERS];
	uint32_t next[SENDERS] = {0};
	unsigned came = 0;

	open_groups(1, RING, true);
	/* a sender that loses its core in the midst of it does not stop the others */
	assert_int_equal(rte_ring_get_prod_sync_type(sink.ring), RTE_RING_SYNC_MT_RTS);
	for (unsigned s = 0; s < SENDERS; s++) {
		for (uint32_t i = 0; i < FRAMES_EACH; i++)
			senders[s].frames[i] = rig_packet(rig, 0, s << 16 | i);
		pthread_create(&senders[s].thread, NULL, sender_run, &senders[s]);
	}
	while (came < SENDERS * FRAMES_EACH) {
		pipeline_run(&rig->s->sending);
		came += take_far(next);
	}
	for (unsigned s = 0; s < SENDERS; s++)
		pthread_join(senders[s].thread, NULL);
	assert_int_equal(share_pending_out(rig->s), 0);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], SENDERS * FRAMES_EACH);
}

/* Where each sender has a queue of its own, the port is the sink, and `send` has nothing to do. 0 is the number of a port,
 * to which a sink that nobody has set must not send. */
TEST(without_a_ring) {
	struct packet_sink unset = {0};
	uint32_t next = serial;

	open_groups(1, RING, false);
	assert_true(rte_eth_dev_is_valid_port(0));
	assert_false(packet_sink_there(&unset));
	assert_int_equal(put(&unset, 3), 0);
	assert_true(packet_sink_there(&sink));
	assert_int_equal(put(&sink, 5), 5);
	assert_int_equal(pipeline_run(&rig->s->sending), 0);
	assert_int_equal(take_far(&next), 5);
}

static int close_all(void **state) {
	if (rig->s != NULL)
		rig_close(rig);
	rig->s = NULL;
	return 0;
}

EACH_TEST(NULL, close_all)
ALL_TESTS(rig_begin, rig_end)

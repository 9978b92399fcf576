/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the rings of a shared port, to the groups and from them: packet order, full rings, groups
 * added and removed, and counters. */
#include "test_main.h"

#include <pthread.h>

#include <rte_ethdev.h>

#include "packets.h"
#include "platform/vlan.h"
#include "share_kit.h"
#include "sharing/group_removal.h"

#include "fixture.h"

#define SIZE 60
#define RING 32 /* packets */

static struct share_rig storage, *const rig = &storage;
static struct packet_sink sink; /* from groups to the port */
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
	struct rte_mbuf *m = rig_create_packet(rig, group, serial++);

	assert_int_equal(rte_eth_tx_burst(rig->far, 0, &m, 1), 1);
}

static void receive(struct rte_mbuf *m) {
	assert_int_equal(rte_eth_tx_burst(rig->far, 0, &m, 1), 1);
	pipeline_run(&rig->s->receiving);
}

static void receive_for(unsigned group) {
	receive(rig_create_packet(rig, group, serial++));
}

/* Receives all packets of the group. Their numbers rise from `*last`. Returns how many. */
static unsigned receive_in_order(unsigned group, uint32_t *last) {
	struct rte_mbuf *m;
	unsigned count = 0;

	for (; rig_receive(rig, group, &m, 1) > 0; count++) {
		uint32_t number = packet_serial(rte_pktmbuf_mtod(m, uint8_t *));

		assert_true(number >= *last);
		*last = number + 1;
		rte_pktmbuf_free(m);
	}
	return count;
}

/* The ring keeps the earliest packets. Only the group that does not read it loses packets. */
TEST(full_ring_drops_excess_of_its_group_only) {
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
			assert_int_equal(receive_in_order(1, &last), burst ? ring : 1);
			rig_check(rig);
		}
		assert_int_equal(rig->s->members[0].full, sent - ring);
		assert_int_equal(rig->s->members[1].full, burst ? sent - ring : 0);
		assert_int_equal(rig_dropped(rig, DROP_PORT_GROUP_FULL),
				 (sent - ring) * (1 + burst));
		assert_int_equal(share_pending_in(rig->s), ring);
		assert_int_equal(receive_in_order(0, &first), ring);
		assert_int_equal(first, serial - 1 - 2 * (sent - ring));
		rig_close(rig);
		rig->s = NULL;
	}
}

TEST(emptied_counts_polls_of_empty_port) {
	struct packet_source source;
	uint32_t last = 0;

	open_groups(1, RIG_RING_SIZE, true);
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
	assert_int_equal(receive_in_order(0, &last), PIPELINE_BURST + 33);
}

/* A chained mbuf is joined. It is dropped if its first buffer is too small for the frame. */
TEST(chained_mbuf_is_joined_or_dropped) {
	struct rte_mempool *small = fixture_pool_create("small", 7, RTE_PKTMBUF_HEADROOM + 16);
	uint8_t frame[SIZE];
	uint32_t last = 0;

	open_groups(2, RING, true);
	packet_write_ipv4(frame, SIZE, serial, rig->addresses[1][0][0].bytes);
	for (unsigned fits = 0; fits < 2; fits++) {
		struct rte_mbuf *m = fixture_packet_create(fits ? rig->packets : small, frame, 16);
		struct rte_mbuf *end = fixture_packet_create(rig->packets, frame + 16, SIZE - 16);

		assert_int_equal(rte_pktmbuf_chain(m, end), 0);
		receive(m);
		assert_int_equal(receive_in_order(1, &last), fits);
	}
	assert_int_equal(rig_dropped(rig, DROP_PORT_CHAINED), 1);
	fixture_pool_free(small);
}

/* The NIC removed a tag and reported it in the mbuf. */
TEST(tag_removed_by_nic_selects_group) {
	static const struct {
		uint16_t tci;
		bool tagged; /* a second tag is in the frame */
		enum drop_reason reason; /* DROP_NONE: group 1 receives it */
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
		struct rte_mbuf *m = rig_create_packet(rig, 1, serial++);

		if (cases[i].tagged)
			packet_tag(m, 10);
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = cases[i].tci;
		receive(m);
		assert_int_equal(receive_in_order(1, &last), cases[i].reason == DROP_NONE);
		if (cases[i].reason != DROP_NONE)
			assert_int_equal(rig_dropped(rig, cases[i].reason), 1);
	}
}

/* Checks that the group receives its packet if it is in service; else the packet is unmatched. */
static void check_delivery(unsigned group, bool in_service) {
	uint64_t before = rig_dropped(rig, DROP_PORT_UNKNOWN_DESTINATION);
	uint32_t last = 0;

	receive_for(group);
	if (in_service)
		assert_int_equal(receive_in_order(group, &last), 1);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNKNOWN_DESTINATION), before + !in_service);
	rig_check(rig);
}

static void replace_table(unsigned count) {
	rig->count = count;
	share_table_free(share_table_replace(rig->s, rig_build_table(rig)));
}

static void forget(struct port_share *share, unsigned group) {
	struct share_group_removal f = {.share = share, .group = group};

	while (!share_group_remove(&f))
		;
}

TEST(groups_are_added_and_removed_in_service) {
	open_groups(2, RING, true);
	check_delivery(2, false);
	assert_int_equal(share_member_open(rig->s, 2, RING), 0);
	rig->list[2] = &rig->groups[2];
	replace_table(3);
	for (unsigned g = 0; g < 3; g++)
		check_delivery(g, true);
	receive_for(0);
	rig->list[0] = NULL;
	replace_table(3);
	share_member_close(rig->s, 0); /* its ring contains the packet from above */
	assert_int_equal(rig_dropped(rig, DROP_PORT_STOPPED), 1);
	forget(rig->s, 1);
	for (unsigned g = 0; g < 3; g++)
		check_delivery(g, g == 2);
	assert_int_equal(share_member_open(rig->s, 0, RING), 0);
	rig->list[0] = &rig->groups[0];
	replace_table(1);
	assert_null(rig->s->table->groups);
	forget(rig->s, 0);
	check_delivery(0, false);
	replace_table(0); /* no group receives any more */
	check_delivery(0, false);
}

TEST(session_is_unknown_without_groups) {
	uint8_t frame[RIG_FRAME_SIZE];

	rig_prepare(rig, 2);
	rig_open(rig, SHARE_RPHY);
	replace_table(0);
	rig_send(rig, frame, rig_write_l2tp(frame, 4, rig->groups[0].rphy.core_mac, 0x10000),
		 false);
	pipeline_run(&rig->s->receiving);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNKNOWN_SESSION), 1);
}

static uint32_t hash_to_four_buckets(const void *key, uint32_t length, uint32_t initial) {
	return load_be32(key) % 4;
}

/* A full bucket has overflow entries. Removal of a key moves an overflow entry to its slot, which
 * the iterator may have passed already. */
TEST(forget_removes_overflow_keys) {
	const struct rte_hash_parameters p = {.name = "full",
					      .entries = 1024,
					      .key_len = sizeof(struct share_key),
					      .hash_func = hash_to_four_buckets,
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

static uint16_t send_from_group(const struct packet_sink *to, unsigned n) {
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint16_t accepted;

	for (unsigned i = 0; i < n; i++)
		pkts[i] = rig_create_packet(rig, 0, serial + i);
	accepted = packet_sink_burst(to, pkts, (uint16_t)n);
	rte_pktmbuf_free_bulk(pkts + accepted, n - accepted);
	serial += accepted;
	return accepted;
}

/* Receives all frames of the port. Numbers of each sender continue at next[sender]. */
static unsigned receive_far(uint32_t *next) {
	struct rte_mbuf *m;
	unsigned n = 0;

	for (; rte_eth_rx_burst(rig->far, 0, &m, 1) == 1; n++) {
		uint32_t number = packet_serial(rte_pktmbuf_mtod(m, uint8_t *));

		assert_int_equal(number & 0xffff, next[number >> 16]++);
		rte_pktmbuf_free(m);
	}
	return n;
}

/* With a full port, the ring fills and refuses frames. Later, all of them leave in order. */
TEST(full_port_delays_frames_without_loss) {
	uint64_t accepted = 0, sent = 0;
	uint32_t next = serial;

	open_groups(1, RING, true);
	for (unsigned i = 0; i < 3 * RIG_PORT_SIZE / 8; i++) {
		accepted += send_from_group(&sink, 8);
		sent += pipeline_run(&rig->s->sending);
		assert_int_equal(accepted, sent + share_pending_out(rig->s));
		assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], sent);
	}
	assert_int_equal(sent, RIG_PORT_SIZE - 1);
	assert_in_range(share_pending_out(rig->s), RING, RING + PIPELINE_BURST);
	assert_true(pipeline_due(&rig->s->sending) == 0);
	assert_true(pipeline_due(&rig->s->receiving) == UINT64_MAX);
	assert_true(rig->s->counters.values[COUNTER_PORT_SEND_RETRIES] > 0);
	while (share_pending_out(rig->s) > 0) {
		receive_far(&next);
		sent += pipeline_run(&rig->s->sending);
	}
	receive_far(&next);
	assert_int_equal(sent, accepted);
	assert_int_equal(next, serial);
}

/* At the end, packets in rings are dropped as port_stopped, and frames for the port as port_unsent.
 * A closed share receives no more packets. */
TEST(stop_drops_and_counts_pending_packets) {

	open_groups(1, RING, true);
	for (unsigned i = 0; i < RIG_PORT_SIZE / 16; i++) {
		assert_int_equal(send_from_group(&sink, 16), 16);
		pipeline_run(&rig->s->sending);
	}
	assert_int_equal(rig->s->send.count, 1);
	assert_int_equal(send_from_group(&sink, 5), 5);
	for (unsigned i = 0; i < 9; i++)
		receive_for(0);
	send_to(0);
	share_close(rig->s);
	assert_int_equal(pipeline_run(&rig->s->receiving), 0);
	share_stop(rig->s);
	assert_int_equal(rig_dropped(rig, DROP_PORT_STOPPED), 9);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_HANDED], 9);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNSENT), 6);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], RIG_PORT_SIZE - 1);
}

#define SENDERS 3
#define FRAMES_EACH 900

/* A thread that sends frames in order, and retries while the ring is full. */
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

TEST(frames_of_concurrent_senders_stay_in_order) {
	static struct sender senders[SENDERS];
	uint32_t next[SENDERS] = {0};
	unsigned received = 0;

	open_groups(1, RING, true);
	/* a preempted sender must not block the others */
	assert_int_equal(rte_ring_get_prod_sync_type(sink.ring), RTE_RING_SYNC_MT_RTS);
	for (unsigned s = 0; s < SENDERS; s++) {
		for (uint32_t i = 0; i < FRAMES_EACH; i++)
			senders[s].frames[i] = rig_create_packet(rig, 0, s << 16 | i);
		pthread_create(&senders[s].thread, NULL, sender_run, &senders[s]);
	}
	while (received < SENDERS * FRAMES_EACH) {
		pipeline_run(&rig->s->sending);
		received += receive_far(next);
	}
	for (unsigned s = 0; s < SENDERS; s++)
		pthread_join(senders[s].thread, NULL);
	assert_int_equal(share_pending_out(rig->s), 0);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_SENT], SENDERS * FRAMES_EACH);
}

/* Without a ring, the port is the sink. A zeroed sink must not send to port 0. */
TEST(sink_is_port_without_ring) {
	struct packet_sink unset = {0};
	uint32_t next = serial;

	open_groups(1, RING, false);
	assert_true(rte_eth_dev_is_valid_port(0));
	assert_false(packet_sink_is_set(&unset));
	assert_int_equal(send_from_group(&unset, 3), 0);
	assert_true(packet_sink_is_set(&sink));
	assert_int_equal(send_from_group(&sink, 5), 5);
	assert_int_equal(pipeline_run(&rig->s->sending), 0);
	assert_int_equal(receive_far(&next), 5);
}

static int close_all(void **state) {
	if (rig->s != NULL)
		rig_close(rig);
	rig->s = NULL;
	return 0;
}

EACH_TEST(NULL, close_all)
ALL_TESTS(rig_setup, rig_teardown)

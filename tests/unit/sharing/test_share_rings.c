/* SPDX-License-Identifier: BSD-3-Clause */
/* The rings of the groups: order, what is full, groups that come and go, and the accounts. */
#include "test_main.h"

#include <rte_ethdev.h>

#include "packets.h"
#include "platform/vlan.h"
#include "share_rig.h"
#include "sharing/forget.h"

#include "fixture.h"

#define SIZE 60
#define RING 32

static struct share_rig storage, *const rig = &storage;
static uint32_t serial;

static void open_groups(unsigned count, unsigned ring_size) {
	rig_prepare(rig, count);
	rig->ring_size = ring_size;
	rig_open(rig, SHARE_NETWORK);
}

static void receive(struct rte_mbuf *m) {
	assert_int_equal(rte_eth_tx_burst(rig->far, 0, &m, 1), 1);
	pipeline_run(&rig->s->receiving);
}

static void send_to(unsigned group) {
	struct rte_mbuf *m = rig_packet(rig, group, serial++);

	assert_int_equal(rte_eth_tx_burst(rig->far, 0, &m, 1), 1);
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

		open_groups(2, ring);
		for (unsigned i = 0; i < sent; i++) {
			send_to(0);
			send_to(1);
			if (burst && i < sent - 1)
				continue;
			pipeline_run(&rig->s->receiving);
			assert_int_equal(take_in_order(1, &last), burst ? ring : 1);
			rig_check(rig);
		}
		assert_int_equal(rig->s->lanes[0].full, sent - ring);
		assert_int_equal(rig->s->lanes[1].full, burst ? sent - ring : 0);
		assert_int_equal(rig_dropped(rig, DROP_PORT_GROUP_FULL),
				 rig->s->lanes[0].full + rig->s->lanes[1].full);
		assert_int_equal(share_held_in(rig->s), ring);
		assert_int_equal(take_in_order(0, &first), ring);
		assert_int_equal(first, serial - 1 - 2 * (sent - ring));
		rig_close(rig);
	}
}

/* What is still in the rings at the end counts under its name; what is still in the port is not received any more. */
TEST(the_stop_counts) {
	open_groups(3, RING);
	for (unsigned i = 0; i < 9; i++)
		send_to(i % 3);
	pipeline_run(&rig->s->receiving);
	send_to(0);
	share_close(rig->s);
	assert_int_equal(pipeline_run(&rig->s->receiving), 0);
	share_stop(rig->s);
	assert_int_equal(rig_dropped(rig, DROP_PORT_STOPPED), 9);
	assert_int_equal(rig->s->counters.values[COUNTER_PORT_HANDED], 9);
	rig_close(rig);
}

/* Who asks the ring is told of the port behind it: empty with fewer packets than a driver may give. */
TEST(the_port_was_empty) {
	struct packet_source source;
	uint32_t last = 0;

	open_groups(1, RIG_RING);
	source = share_source(rig->s, 0);
	pipeline_run(&rig->s->receiving);
	assert_int_equal(packet_source_emptied(&source), 1);
	for (unsigned i = 0; i < PIPELINE_BURST + 32; i++)
		send_to(0);
	pipeline_run(&rig->s->receiving);
	pipeline_run(&rig->s->receiving);
	assert_int_equal(packet_source_emptied(&source), 1);
	receive(rig_packet(rig, 0, serial++));
	assert_int_equal(packet_source_emptied(&source), 2);
	assert_int_equal(take_in_order(0, &last), PIPELINE_BURST + 33);
	rig_close(rig);
}

/* A frame in several buffers is joined; where its first buffer has no room for that, it is dropped. */
TEST(chains) {
	struct rte_mempool *small = fixture_pool("small", 7, RTE_PKTMBUF_HEADROOM + 16);
	uint8_t frame[SIZE];
	uint32_t last = 0;

	open_groups(2, RING);
	packet_ipv4(frame, SIZE, serial, rig->addresses[1][0][0].bytes);
	for (unsigned fits = 0; fits < 2; fits++) {
		struct rte_mbuf *m = fixture_packet(fits ? rig->packets : small, frame, 16);

		assert_int_equal(
			rte_pktmbuf_chain(m, fixture_packet(rig->packets, frame + 16, SIZE - 16)),
			0);
		receive(m);
		assert_int_equal(take_in_order(1, &last), fits);
	}
	assert_int_equal(rig_dropped(rig, DROP_PORT_CHAINED), 1);
	rig_close(rig);
	fixture_pool_end(small);
}

/* A tag that the device took off and told. */
TEST(stripped_by_the_device) {
	static const struct {
		uint16_t tci;
		bool tagged; /* another tag in the frame */
		enum drop_reason reason; /* DROP_NONE: group 1 gets it */
	} cases[] = {
		{10, false, DROP_NONE},
		{0xf00a, false, DROP_NONE},
		{0, false, DROP_PORT_VLAN_MISSING},
		{11, false, DROP_PORT_VLAN_UNKNOWN},
		{10, true, DROP_PORT_VLAN_STACKED},
	};
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
	rig_close(rig);
}

/* A packet for the group comes to it, or is nobody's. */
static void comes(unsigned group, bool there) {
	uint64_t before = rig_dropped(rig, DROP_PORT_UNKNOWN_DESTINATION);
	uint32_t last = 0;

	receive(rig_packet(rig, group, serial++));
	if (there)
		assert_int_equal(take_in_order(group, &last), 1);
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNKNOWN_DESTINATION), before + !there);
	rig_check(rig);
}

static void table_of(unsigned count) {
	rig->count = count;
	share_table_free(
		share_table_replace(rig->s, share_table_create("test", rig->s->side, rig->list,
							       count, (char[LIVE_LINE]){0})));
}

/* A group comes and another goes while packets are on their way. */
TEST(groups_come_and_go) {
	open_groups(2, RING);
	comes(2, false);
	assert_int_equal(share_lane_open(rig->s, 2, RING), 0);
	rig->list[2] = &rig->groups[2];
	table_of(3);
	for (unsigned g = 0; g < 3; g++)
		comes(g, true);
	receive(rig_packet(rig, 0, serial++));
	rig->list[0] = NULL;
	table_of(3);
	share_lane_close(rig->s, 0); /* with the packet from above */
	assert_int_equal(rig_dropped(rig, DROP_PORT_STOPPED), 1);
	comes(0, false);
	assert_int_equal(share_lane_open(rig->s, 0, RING), 0);
	rig_close(rig);
}

/* As when the last group that receives has gone: what still comes is nobody's. */
TEST(nobody_is_left) {
	uint8_t frame[RIG_FRAME], mac[6];

	open_groups(2, RING);
	table_of(0);
	comes(0, false);
	rig_close(rig);
	rig_prepare(rig, 2);
	rig_open(rig, SHARE_RPHY);
	table_of(0);
	rig_mac(0, 1, mac);
	receive(fixture_packet(rig->packets, frame, rig_l2tp(frame, 4, mac, 0x10000)));
	assert_int_equal(rig_dropped(rig, DROP_PORT_UNKNOWN_SESSION), 1);
	rig_close(rig);
}

static void forget(struct port_share *share, unsigned group) {
	struct share_forgetting f = {.share = share, .group = group};

	while (!share_forget(&f))
		;
}

/* Without another table: by its addresses, and by its VLAN. */
TEST(a_group_is_forgotten) {
	open_groups(3, RING);
	forget(rig->s, 1);
	for (unsigned g = 0; g < 3; g++)
		comes(g, g != 1);
	table_of(1); /* which it has for itself */
	assert_null(rig->s->table->groups);
	forget(rig->s, 0);
	comes(0, false);
	rig_close(rig);
}

static uint32_t few_buckets(const void *key, uint32_t length, uint32_t initial) {
	(void)length;
	(void)initial;
	return load_be32(key) % 4;
}

/* A bucket that is full has keys behind it. Where one of the bucket goes, one from behind it takes its place, which
 * a walk may have passed. */
TEST(all_keys_of_full_buckets_are_forgotten) {
	const struct rte_hash_parameters p = {
		.name = "full",
		.entries = 1024,
		.key_len = sizeof(struct share_key),
		.hash_func = few_buckets,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};
	static struct share_table table;
	static struct port_share share = {.table = &table};
	uintptr_t shared = 3, own = 2; /* bits of the groups that have a key */

	table.groups = rte_hash_create(&p);
	assert_non_null(table.groups);
	for (uint32_t i = 0; i < p.entries; i++) {
		struct share_key key = {0};

		store_be32(key.value, i);
		assert_int_equal(rte_hash_add_key_data(table.groups, &key,
						       (void *)(i % 8 == 0 ? shared : own)),
				 0);
	}
	forget(&share, 1);
	assert_int_equal(rte_hash_count(table.groups), p.entries / 8);
	rte_hash_free(table.groups);
}

ALL_TESTS(rig_begin, rig_end)

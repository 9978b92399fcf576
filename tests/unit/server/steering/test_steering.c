/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares steering by NIC rules with distribution by software: transmitted bytes and counters must
 * be equal. Tests the order in which a group reads its queue and its ring. */
#include "group_file.h"
#include "test_main.h"

#include "sharing/stages.h"
#include "sharing/steered.h"

#include "steering_kit.h"

#define RUN_GROUPS 3
#define RPHY 1 /* index of the port */
#define SECOND 1 /* indexes of groups */
#define THIRD 2

/* The result of a run. */
struct run_result {
	uint64_t digest[RUN_GROUPS][2];
	struct counters down[RUN_GROUPS], up[RUN_GROUPS];
	struct life_totals totals;
	struct flow_nic_calls calls;
};
static struct run_result before, after;

static void send_traffic(const struct service_group *sg, uint32_t *serial, unsigned n,
			 unsigned burst) {
	for (unsigned i = 0; i < n; i++) {
		assert_true(life_kit_send_packet(kit, 0, sg, 100 + 37 * (*serial % 20), *serial));
		assert_true(life_kit_send_burst(kit, 0, sg, (*serial)++));
		if (i % burst == burst - 1)
			life_kit_settle(kit, 20000);
	}
	life_kit_settle(kit, 20000);
}

static void count_group(struct run_result *o, unsigned group) {
	const struct served_group *g = &server->groups[group];

	downstream_counters(g->downstream, &o->down[group]);
	o->up[group] = g->upstream->counters;
}

/* Sends traffic of three groups. The third one is in service for a part of the time. */
static void run_traffic(enum steered_by by, unsigned burst,
			const struct flow_nic_abilities *abilities, struct run_result *o) {
	const struct service_group *third;
	uint32_t serials[RUN_GROUPS] = {0};

	memset(o, 0, sizeof(*o));
	steering_kit_open_nic(kit, by, 2, GROUPS, abilities);
	third = life_kit_load_extra(kit, 3, 0, 1, 2, 0);
	for (unsigned step = 0; step < 6; step++) {
		if (step == 2)
			assert_int_equal(life_kit_add(kit, third), THIRD);
		send_traffic(&kit->file[0], &serials[0], 11, burst);
		send_traffic(third, &serials[2], 7, burst);
		send_traffic(&kit->file[1], &serials[1], 5, burst);
		if (step == 3) {
			life_kit_settle(kit, 5 * MS);
			count_group(o, THIRD);
			life_kit_remove(kit, THIRD, 0);
		}
	}
	life_kit_settle(kit, 20 * MS);
	assert_int_equal(server_pending(server), 0);
	count_group(o, 0);
	count_group(o, SECOND);
	for (unsigned g = 0; g < RUN_GROUPS; g++)
		memcpy(o->digest[g], kit->digest[g + 1], sizeof(o->digest[g]));
	o->totals = life_kit_totals(kit);
	o->calls = flow_nic_calls;
}

/* Checks that the first groups have the same results in both runs. */
static void check_same(unsigned groups) {
	assert_memory_equal(before.digest, after.digest, groups * sizeof(before.digest[0]));
	assert_memory_equal(before.down, after.down, groups * sizeof(before.down[0]));
	assert_memory_equal(before.up, after.up, groups * sizeof(before.up[0]));
}

/* Compares a run without rules with one on NICs with these abilities. */
static void compare_with_software(enum steered_by by, unsigned burst,
				  struct flow_nic_abilities abilities) {
	struct flow_nic_abilities none = flow_nic_all;

	none.capacity = 0;
	run_traffic(by, burst, &none, &before);
	assert_int_equal(before.totals.port_steered, 0);
	assert_int_equal(before.calls.created, 0);
	run_traffic(by, burst, &abilities, &after);
	check_same(2);
	if (abilities.misdirects != 0)
		return;
	check_same(RUN_GROUPS);
	assert_int_equal(before.totals.port_in, after.totals.port_in);
	assert_int_equal(before.totals.port_dropped, after.totals.port_dropped);
	assert_true(before.down[0].values[COUNTER_TRANSMITTED] > 0);
	assert_true(before.up[THIRD].values[COUNTER_TRANSMITTED] > 0);
	assert_true(before.totals.port_dropped > 0);
}

TEST(rules_give_same_result_as_software) {
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		compare_with_software(by, 5, flow_nic_all);
		/* all packets were steered: rules existed before the first packet */
		assert_int_equal(after.totals.port_steered,
				 after.totals.down_in + after.totals.up_in);
		if (by != STEERED_BY_BOTH) /* there, packets of the absent group match a rule */
			assert_int_equal(after.totals.port_misdirected, 0);
		assert_true(after.calls.created >= 2 * RUN_GROUPS);
	}
}

/* Some packets go to queues of other groups or to unassigned queues. */
TEST(misdirected_packets_reach_their_group) {
	struct flow_nic_abilities misdirects = flow_nic_all;

	misdirects.misdirects = 3;
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		compare_with_software(by, 1, misdirects);
		assert_true(after.totals.port_misdirected > 0);
		assert_true(after.totals.port_steered > 0);
	}
}

TEST(rules_beyond_capacity_fall_back_to_software) {
	struct flow_nic_abilities limited = flow_nic_all;

	for (limited.capacity = 1; limited.capacity <= 5; limited.capacity++) {
		compare_with_software(STEERED_BY_VLAN, 5, limited);
		assert_true(after.totals.port_steered > 0);
		assert_true(limited.capacity > 4 || after.calls.refused > 0);
	}
}

/* rte_flow_create() refuses rules that were valid: the port returns to one queue without loss. */
TEST(refused_valid_rule_falls_back_to_software) {
	struct flow_nic_abilities optimistic = flow_nic_all;

	optimistic.mac = false;
	optimistic.validates_all = optimistic.spreads = true;
	compare_with_software(STEERED_BY_MAC, 5, optimistic);
	assert_int_equal(after.totals.port_steered, 0);
	assert_true(after.calls.refused > 0);
}

/* Without rules in the driver, the NIC may spread packets (RSS), so the port has one queue. */
TEST(driver_without_rules_uses_one_queue) {
	struct flow_nic_abilities none = flow_nic_all;

	none.none = none.spreads = true;
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		compare_with_software(by, 5, none);
		assert_int_equal(after.totals.port_steered, 0);
		assert_int_equal(after.calls.created + after.calls.refused, 0);
		/* no port is started with more queues and restarted with one */
		assert_int_equal(after.calls.starts + 2, before.calls.starts);
	}
}

#define BOTH "2 of 2 groups to queues of their own, by "

static void check_text(unsigned port, unsigned steered, const char *expected) {
	char text[STEERING_TEXT];

	assert_int_equal(server_steering_text(server, port, text), steered);
	assert_string_equal(text, expected);
}

/* Texts of the two ports, by configuration of the groups and abilities of the NIC. */
static const struct {
	enum steered_by by;
	bool session; /* rules can match sessions */
	unsigned network, rphy; /* groups with queues of their own */
	const char *network_text, *rphy_text;
} texts[] = {
	{STEERED_BY_SESSION, true, 2, 2, BOTH "MAC address", BOTH "session"},
	{STEERED_BY_SESSION, false, 2, 0, BOTH "MAC address",
	 "off: the device does not accept the rules"},
	{STEERED_OFF, true, 0, 2, "off: as configured", BOTH "session"},
	{STEERED_FIRST, true, 1, 2, "1 of 2 groups to queues of their own, by MAC address",
	 BOTH "session"},
	{STEERED_MIXED, true, 2, 2, BOTH "VLAN, MAC address or session", BOTH "session"},
};

TEST(steering_text_names_groups_and_criteria) {
	const struct server_port *ports = server->ports.list;
	struct flow_nic_abilities abilities = flow_nic_all;

	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		abilities.session = texts[i].session;
		steering_kit_open_nic(kit, texts[i].by, 2, 2, &abilities);
		check_text(0, texts[i].network, texts[i].network_text);
		check_text(1, texts[i].rphy, texts[i].rphy_text);
		if (!texts[i].session)
			assert_int_equal(ports[1].queues, 0);
		if (texts[i].by == STEERED_OFF) {
			assert_int_equal(server_port_descriptors(&ports[0]), 64 + 3 * 1024);
			assert_int_equal(server_port_descriptors(&ports[1]), 64 + 5 * 1024);
		}
	}
}

/* Bursts before and after each change of rules must stay in order, whether the worker of the group
 * runs before or after the port owner. */
TEST(rule_change_keeps_order) {
	const struct service_group *sg = &kit->file[1];
	const struct counters *up;
	steering_kit_open(kit, STEERED_BY_SESSION, 2, 2);
	up = &server->groups[SECOND].upstream->counters;
	for (unsigned step = 0; step < 4; step++) {
		life_kit_send_bursts(kit, 0, sg, 1);
		server_steering_clear(server, 1, SECOND);
		life_kit_send_bursts(kit, 0, sg, 1);
		worker_round(&server->workers[server->shares.owners[1]]);
		life_kit_settle(kit, MS);
		life_kit_send_bursts(kit, 0, sg, 1);
		server_steer(server, 1);
		life_kit_send_bursts(kit, 0, sg, 1);
		worker_round(server->groups[SECOND].upstream_worker);
		assert_int_equal(up->values[COUNTER_RECEIVED], kit->serial - 2);
		life_kit_settle(kit, MS);
	}
	assert_int_equal(kit->received_up[2], kit->serial);
	assert_int_equal(up->drops[DROP_PSP_LATE], 0);
	assert_int_equal(life_kit_totals(kit).port_steered, kit->serial / 2);
}

TEST(rules_are_removed_with_their_group) {
	unsigned rules;

	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		steering_kit_open(kit, by, 2, GROUPS);
		rules = flow_nic_calls.rules;
		life_kit_add(kit, life_kit_load_extra(kit, 3, 0, 1, 2, 0));
		assert_int_equal(flow_nic_calls.rules, rules + rules / 2);
		life_kit_remove(kit, THIRD, 0);
		assert_int_equal(flow_nic_calls.rules, rules);
	}
}

/* A changed session moves its rule; an added session gets one. */
TEST(rules_follow_changed_sessions) {
	uint64_t steered;
	unsigned rules;

	steering_kit_open(kit, STEERED_BY_SESSION, 2, GROUPS);
	rules = flow_nic_calls.rules;
	load_file_groups(2);
	file_groups[1].upstream_channels[0].session += 0x10;
	reload_accepted("service group 2: 1 upstream channel changed");
	assert_int_equal(flow_nic_calls.rules, rules);
	steered = life_kit_totals(kit).port_steered;
	life_kit_send_bursts(kit, LIFE_SHARED, &file_groups[1], 3);
	life_kit_settle(kit, MS);
	assert_int_equal(kit->received_up[2], 3);
	assert_int_equal(life_kit_totals(kit).port_steered, steered + 3);
	file_groups[1].upstream_channels[0].ranging_session = 0x30002; /* an additional session */
	reload_accepted("service group 2: 1 upstream channel changed");
	assert_int_equal(flow_nic_calls.rules, rules + 1);
}

/* Opens the kit; the second group has a queue of the R-PHY port. Returns that port. */
static struct port_share *open_with_queue(void) {
	steering_kit_open(kit, STEERED_BY_SESSION, 2, 2);
	life_kit_settle(kit, 20 * MS); /* all packets from before the queue was assigned are read */
	return server->shares.of[RPHY];
}

static uint16_t receive(struct port_share *s, struct rte_mbuf **pkts) {
	struct packet_source from;

	share_queue_source(s, SECOND, &from);
	return from.receive(from.context, pkts, PIPELINE_BURST);
}

/* A period of `emptied` ends when the port was found empty twice and the queue once. */
TEST(emptied_counts_when_port_and_queue_were_empty) {
	struct port_share *s = open_with_queue();
	struct share_queue *w = &s->members[SECOND].queue;
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint64_t periods = w->emptied;

	w->began = s->emptied = 10;
	for (unsigned period = 0; period < 3; period++) {
		assert_int_equal(receive(s, pkts), 0);
		s->emptied++;
		assert_int_equal(receive(s, pkts), 0);
		assert_int_equal(w->emptied, periods + period);
		s->emptied++;
		assert_int_equal(receive(s, pkts), 0);
		assert_int_equal(w->emptied, periods + period + 1);
	}
}

/* A paused ring is not read; after share_ring_resume() it is read once the queue is empty. */
TEST(resumed_ring_is_read_after_queue) {
	struct port_share *s = open_with_queue();
	struct rte_mbuf *pkts[PIPELINE_BURST];

	assert_true(share_queue_settled(s, SECOND));
	share_ring_pause(s, SECOND);
	assert_int_equal(receive(s, pkts), 0);
	assert_false(share_queue_settled(s, SECOND));
	share_ring_resume(s, SECOND);
	assert_true(life_kit_send_burst(kit, 0, &kit->file[SECOND], 0));
	assert_int_equal(receive(s, pkts), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_false(share_queue_settled(s, SECOND));
	assert_int_equal(receive(s, pkts), 0);
	assert_true(share_queue_settled(s, SECOND));
}

/* Misdirects a burst of packets; the port owner does not run meanwhile. */
static void misdirect_burst(const struct port_share *s) {
	flow_nic.misdirects = 1;
	while (share_misdirected(s) < PIPELINE_BURST) {
		assert_in_range(kit->serial, 0, 1000);
		life_kit_send_bursts(kit, 0, &kit->file[0], 1);
		worker_round(server->groups[SECOND].upstream_worker);
	}
	flow_nic.misdirects = 0;
}

/* Misdirected packets are dequeued although the port never becomes empty. */
TEST(misdirected_packets_are_read_from_busy_port) {
	struct port_share *s = open_with_queue();
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint64_t misdirected, handed, emptied;
	uint16_t n;

	misdirect_burst(s);
	misdirected = share_misdirected(s);
	handed = share_misdirected_handed(s);
	server_steering_clear(server, RPHY, SECOND);
	life_kit_send_bursts(kit, 0, &kit->file[SECOND], PIPELINE_BURST / 2);
	n = share_receive(s, pkts, 0);
	assert_int_equal(n, PIPELINE_BURST);
	assert_int_equal(share_misdirected(s), misdirected - PIPELINE_BURST / 2);
	assert_int_equal(share_distribute(s, pkts, n), 0);
	assert_false(share_misdirected_dequeued(s, handed));
	while (rte_eth_rx_burst(s->from.port, 0, pkts, 1) == 1)
		rte_pktmbuf_free(pkts[0]);
	emptied = s->emptied;
	for (; misdirected > PIPELINE_BURST / 2; misdirected -= PIPELINE_BURST / 2) {
		assert_int_equal(share_misdirected(s), misdirected - PIPELINE_BURST / 2);
		n = share_receive(s, pkts, 0);
		assert_int_equal(share_distribute(s, pkts, n), 0);
		assert_int_equal(s->emptied, emptied + (misdirected < PIPELINE_BURST));
	}
	assert_true(share_misdirected_dequeued(s, handed));
	assert_int_equal(share_misdirected_handed(s), handed);
	life_kit_settle(kit, 20 * MS);
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)

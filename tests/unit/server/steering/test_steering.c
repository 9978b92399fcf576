/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups get the same whether a card brings their packets to queues of their own or software tells them apart: all
 * bytes that leave, and all that they count. Then a group's way from its queue and its ring, call by call.
 */
#include "group_file.h"
#include "test_main.h"

#include "sharing/stages.h"
#include "sharing/steered.h"

#include "steering_kit.h"

#define RUN_GROUPS 3 /* of run() */
#define RPHY 1 /* index of the port */
#define SECOND 1 /* numbers of groups */
#define THIRD 2

/* What came of a run. */
struct outcome {
	uint64_t digest[RUN_GROUPS][2];
	struct counters down[RUN_GROUPS], up[RUN_GROUPS];
	struct life_totals totals;
	struct flow_card_calls calls;
};
static struct outcome before, after;

static void traffic(const struct service_group *sg, uint32_t *serial, unsigned n, unsigned burst) {
	for (unsigned i = 0; i < n; i++) {
		assert_true(life_kit_down(bench, 0, sg, 100 + 37 * (*serial % 20), *serial));
		assert_true(life_kit_up(bench, 0, sg, (*serial)++));
		if (i % burst == burst - 1)
			life_kit_settle(bench, 20000);
	}
	life_kit_settle(bench, 20000);
}

static void count_group(struct outcome *o, unsigned group) {
	const struct served_group *g = &server->groups[group];

	downstream_counters(g->downstream, &o->down[group]);
	o->up[group] = g->upstream->counters;
}

/* Two groups; a third one comes, has traffic and goes, and what comes for it then is for nobody. */
static void run(enum steered_by by, unsigned burst, const struct flow_card_abilities *card,
		struct outcome *o) {
	const struct service_group *third;
	uint32_t serials[RUN_GROUPS] = {0};

	memset(o, 0, sizeof(*o));
	steering_kit_with(bench, by, 2, GROUPS, card);
	third = life_kit_group(bench, 3, 0, 1, 2, 0);
	for (unsigned turn = 0; turn < 6; turn++) {
		if (turn == 2)
			assert_int_equal(life_kit_add(bench, third), THIRD);
		traffic(&bench->file[0], &serials[0], 11, burst);
		traffic(third, &serials[2], 7, burst);
		traffic(&bench->file[1], &serials[1], 5, burst);
		if (turn == 3) {
			life_kit_settle(bench, 5 * MS);
			count_group(o, THIRD);
			life_kit_remove(bench, THIRD, 0);
		}
	}
	life_kit_settle(bench, 20 * MS);
	assert_int_equal(server_pending(server), 0);
	count_group(o, 0);
	count_group(o, SECOND);
	for (unsigned g = 0; g < RUN_GROUPS; g++)
		memcpy(o->digest[g], bench->digest[g + 1], sizeof(o->digest[g]));
	o->totals = life_kit_totals(bench);
	o->calls = flow_card_calls;
}

/* The first groups had the same in both runs. */
static void check_same(unsigned groups) {
	assert_memory_equal(before.digest, after.digest, groups * sizeof(before.digest[0]));
	assert_memory_equal(before.down, after.down, groups * sizeof(before.down[0]));
	assert_memory_equal(before.up, after.up, groups * sizeof(before.up[0]));
}

/* What software makes of it is the same as what a card does of these abilities. */
static void run_both(enum steered_by by, unsigned burst, struct flow_card_abilities card) {
	struct flow_card_abilities none = flow_card_all;

	none.most = 0;
	run(by, burst, &none, &before);
	assert_int_equal(before.totals.port_steered, 0);
	assert_int_equal(before.calls.created, 0);
	run(by, burst, &card, &after);
	check_same(2);
	if (card.errs != 0)
		return;
	check_same(RUN_GROUPS);
	assert_int_equal(before.totals.port_in, after.totals.port_in);
	assert_int_equal(before.totals.port_dropped, after.totals.port_dropped);
	assert_true(before.down[0].values[COUNTER_TRANSMITTED] > 0);
	assert_true(before.up[THIRD].values[COUNTER_TRANSMITTED] > 0);
	assert_true(before.totals.port_dropped > 0);
}

TEST(the_same_by_queues) {
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		run_both(by, 5, flow_card_all);
		/* all that the groups received: they knew of it by the first packet */
		assert_int_equal(after.totals.port_steered,
				 after.totals.down_in + after.totals.up_in);
		if (by != STEERED_BY_BOTH) /* packets for a group that is not there match a rule */
			assert_int_equal(after.totals.port_strayed, 0);
		assert_true(after.calls.created >= 2 * RUN_GROUPS);
	}
}

/* Some packets come to the queue of another group, or to one of nobody's that is read by software. */
TEST(a_card_that_errs) {
	struct flow_card_abilities errs = flow_card_all;

	errs.errs = 3;
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		run_both(by, 1, errs);
		assert_true(after.totals.port_strayed > 0);
		assert_true(after.totals.port_steered > 0);
	}
}

TEST(a_card_with_few_places) {
	struct flow_card_abilities few = flow_card_all;

	for (few.most = 1; few.most <= 5; few.most++) {
		run_both(STEERED_BY_VLAN, 5, few);
		assert_true(after.totals.port_steered > 0);
		assert_true(few.most > 4 || after.calls.refused > 0);
	}
}

/* What it says it takes it does not make: one queue again, and nothing is lost by that. */
TEST(a_card_that_says_yes) {
	struct flow_card_abilities yes = flow_card_all;

	yes.mac = false;
	yes.says_yes = yes.spreads = true;
	run_both(STEERED_BY_MAC, 5, yes);
	assert_int_equal(after.totals.port_steered, 0);
	assert_true(after.calls.refused > 0);
}

/*
 * A driver without rules, as those of clouds, whose card spreads over all queues that there are (RSS by an address, or by a
 * key of its own, which cannot be asked for): one queue, and each packet is with its group, whatever tells these apart.
 */
TEST(a_card_without_rules) {
	struct flow_card_abilities none = flow_card_all;

	none.none = none.spreads = true;
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		run_both(by, 5, none);
		assert_int_equal(after.totals.port_steered, 0);
		assert_int_equal(after.calls.created + after.calls.refused, 0);
		/* nor is a port started with queues for which nobody will have buffers */
		assert_int_equal(after.calls.starts + 2, before.calls.starts);
	}
}

#define BOTH "2 of 2 groups to queues of their own, by "

static void check_text(unsigned port, unsigned steered, const char *says) {
	char text[STEERING_TEXT];

	assert_int_equal(server_steering_text(server, port, text), steered);
	assert_string_equal(text, says);
}

/* By what groups differ, whether rules may look at sessions, and what is told of the two ports. */
static const struct {
	enum steered_by by;
	bool session;
	unsigned network, rphy; /* groups with queues of their own */
	const char *network_says, *rphy_says;
} told[] = {
	{STEERED_BY_SESSION, true, 2, 2, BOTH "MAC address", BOTH "session"},
	{STEERED_BY_SESSION, false, 2, 0, BOTH "MAC address",
	 "off: the device takes no rules for it"},
	{STEERED_OFF, true, 0, 2, "off: as asked for", BOTH "session"},
	{STEERED_FIRST, true, 1, 2, "1 of 2 groups to queues of their own, by MAC address",
	 BOTH "session"},
	{STEERED_MIXED, true, 2, 2, BOTH "VLAN, MAC address or session", BOTH "session"},
};

TEST(what_is_told) {
	const struct server_port *ports = server->ports.list;
	struct flow_card_abilities card = flow_card_all;

	for (size_t i = 0; i < ARRAY_COUNT(told); i++) {
		card.session = told[i].session;
		steering_kit_with(bench, told[i].by, 2, 2, &card);
		check_text(0, told[i].network, told[i].network_says);
		check_text(1, told[i].rphy, told[i].rphy_says);
		if (!told[i].session)
			assert_int_equal(ports[1].queues, 0);
		if (told[i].by == STEERED_OFF) {
			assert_int_equal(server_port_descriptors(&ports[0]), 64 + 3 * 1024);
			assert_int_equal(server_port_descriptors(&ports[1]), 64 + 5 * 1024);
		}
	}
}

/*
 * The second group's bursts: the first of two before its rules change, the other behind that. It has its turn before
 * the owner of the port, or behind it: each before its ring has what came first, or when that has what came last.
 */
TEST(order_when_rules_change) {
	const struct service_group *sg = &bench->file[1];
	const struct counters *up;
	steering_kit_open(bench, STEERED_BY_SESSION, 2, 2);
	up = &server->groups[SECOND].upstream->counters;
	for (unsigned turn = 0; turn < 4; turn++) {
		life_kit_ups(bench, 0, sg, 1);
		server_steer_nothing(server, 1, SECOND);
		life_kit_ups(bench, 0, sg, 1);
		worker_round(&server->workers[server->shares.owners[1]]);
		life_kit_settle(bench, MS);
		life_kit_ups(bench, 0, sg, 1);
		server_steer(server, 1);
		life_kit_ups(bench, 0, sg, 1);
		worker_round(server->groups[SECOND].upstream_worker);
		assert_int_equal(up->values[COUNTER_RECEIVED], bench->serial - 2);
		life_kit_settle(bench, MS);
	}
	assert_int_equal(bench->taken_up[2], bench->serial);
	assert_int_equal(up->drops[DROP_PSP_LATE], 0);
	assert_int_equal(life_kit_totals(bench).port_steered, bench->serial / 2);
}

TEST(rules_go_with_a_group) {
	unsigned rules;

	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		steering_kit_open(bench, by, 2, GROUPS);
		rules = flow_card_calls.rules;
		life_kit_add(bench, life_kit_group(bench, 3, 0, 1, 2, 0));
		assert_int_equal(flow_card_calls.rules, rules + rules / 2);
		life_kit_remove(bench, THIRD, 0);
		assert_int_equal(flow_card_calls.rules, rules);
	}
}

/* A group whose session another one takes in its place has a rule for that. */
TEST(rules_follow_a_change) {
	uint64_t steered;
	unsigned rules;

	steering_kit_open(bench, STEERED_BY_SESSION, 2, GROUPS);
	rules = flow_card_calls.rules;
	load_next(2);
	next[1].upstream_channels[0].session += 0x10;
	reload("service group 2: 1 upstream channel changed");
	assert_int_equal(flow_card_calls.rules, rules);
	steered = life_kit_totals(bench).port_steered;
	life_kit_ups(bench, LIFE_SHARED, &next[1], 3);
	life_kit_settle(bench, MS);
	assert_int_equal(bench->taken_up[2], 3);
	assert_int_equal(life_kit_totals(bench).port_steered, steered + 3);
	next[1].upstream_channels[0].ranging_session = 0x30002; /* one more, and the other stays */
	reload("service group 2: 1 upstream channel changed");
	assert_int_equal(flow_card_calls.rules, rules + 1);
}

/* Of the second group, which has a queue of the R-PHY port. */
static struct port_share *open_ways(void) {
	steering_kit_open(bench, STEERED_BY_SESSION, 2, 2);
	life_kit_settle(bench, 20 * MS); /* what came before it had a queue has passed */
	return server->shares.of[RPHY];
}

static uint16_t take(struct port_share *s, struct rte_mbuf **pkts) {
	struct packet_source from;

	share_way_source(s, SECOND, &from);
	return from.take(from.taker, pkts, PIPELINE_BURST);
}

/* The port was empty twice since the last time, and the queue once. */
TEST(a_time_ends_when_all_has_passed) {
	struct port_share *s = open_ways();
	struct share_way *w = &s->members[SECOND].way;
	struct rte_mbuf *pkts[PIPELINE_BURST];
	uint64_t times = w->emptied;

	w->began = s->emptied = 10;
	for (unsigned time = 0; time < 3; time++) {
		assert_int_equal(take(s, pkts), 0);
		s->emptied++;
		assert_int_equal(take(s, pkts), 0);
		assert_int_equal(w->emptied, times + time);
		s->emptied++;
		assert_int_equal(take(s, pkts), 0);
		assert_int_equal(w->emptied, times + time + 1);
	}
}

/* Its ring is shut until it is said to open, and then until the queue is empty. */
TEST(a_ring_opens_behind_the_queue) {
	struct port_share *s = open_ways();
	struct rte_mbuf *pkts[PIPELINE_BURST];

	assert_true(share_way_settled(s, SECOND));
	share_ring_pause(s, SECOND);
	assert_int_equal(take(s, pkts), 0);
	assert_false(share_way_settled(s, SECOND));
	share_ring_resume(s, SECOND);
	assert_true(life_kit_up(bench, 0, &bench->file[SECOND], 0));
	assert_int_equal(take(s, pkts), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_false(share_way_settled(s, SECOND));
	assert_int_equal(take(s, pkts), 0);
	assert_true(share_way_settled(s, SECOND));
}

/* A burst of them, as the card errs and the owner of the port is not asked meanwhile. */
static void go_astray(const struct port_share *s) {
	flow_card.errs = 1;
	while (share_misdirected(s) < PIPELINE_BURST) {
		assert_in_range(bench->serial, 0, 1000);
		life_kit_ups(bench, 0, &bench->file[0], 1);
		worker_round(server->groups[SECOND].upstream_worker);
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
	astray = share_misdirected(s);
	handed = share_misdirected_handed(s);
	server_steer_nothing(server, RPHY, SECOND);
	life_kit_ups(bench, 0, &bench->file[SECOND], PIPELINE_BURST / 2);
	n = share_receive(s, pkts, 0);
	assert_int_equal(n, PIPELINE_BURST);
	assert_int_equal(share_misdirected(s), astray - PIPELINE_BURST / 2);
	assert_int_equal(share_tell_apart(s, pkts, n), 0);
	assert_false(share_misdirected_taken(s, handed));
	while (rte_eth_rx_burst(s->from.port, 0, pkts, 1) == 1)
		rte_pktmbuf_free(pkts[0]);
	emptied = s->emptied;
	for (; astray > PIPELINE_BURST / 2; astray -= PIPELINE_BURST / 2) {
		assert_int_equal(share_misdirected(s), astray - PIPELINE_BURST / 2);
		n = share_receive(s, pkts, 0);
		assert_int_equal(share_tell_apart(s, pkts, n), 0);
		assert_int_equal(s->emptied, emptied + (astray < PIPELINE_BURST));
	}
	assert_true(share_misdirected_taken(s, handed));
	assert_int_equal(share_misdirected_handed(s), handed);
	life_kit_settle(bench, 20 * MS);
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles and latencies are switched while packets pass: figures are those since then, of each packet once. */
#include "test_main.h"

#include "server/measure.h"

#include "group_file.h"

#define TURNS 60
#define SOME 7

static struct served_group *group(unsigned number) {
	return &server->groups[number];
}

/* As many of both directions of the first group. */
static void carry(unsigned packets) {
	life_kit_traffic(bench, LIFE_SHARED, &bench->file[0], packets);
	life_kit_settle(bench, 20 * MS);
}

static uint64_t stage_packets(const struct pipeline *p, const char *name) {
	for (unsigned i = 0; i < p->count; i++) {
		if (strcmp(p->stages[i].name, name) == 0)
			return p->accounts[i].packets;
	}
	fail_msg("no stage %s", name);
	return 0;
}

/* Packets that the stages of each list have, and those that their cycles go over. */
static void cycles_are_of(uint64_t packets) {
	const struct served_group *g = group(0);

	assert_int_equal(stage_packets(&g->downstream->enqueue, "classify"), packets);
	assert_int_equal(stage_packets(&g->downstream->dequeue, "hand_over"), packets);
	assert_int_equal(stage_packets(&g->downstream->lower_mac, "frame"), packets);
	assert_int_equal(stage_packets(&g->upstream->list, "validate"), packets);
	assert_int_equal(downstream_accounted(g->downstream), packets);
	assert_int_equal(upstream_accounted(g->upstream), packets);
	assert_int_equal(stage_packets(&server->shares.of[0]->receiving, "receive"), packets);
}

static void latencies_are_of(uint64_t packets) {
	struct latency *both[] = {&group(0)->downstream->latency, &group(0)->upstream->latency};

	for (unsigned l = 0; l < 2; l++) {
		latency_readers_lock();
		latency_collect(both[l]);
		latency_readers_unlock();
		assert_int_equal(both[l]->whole->total_count, packets);
	}
}

/* To ask again for what it is begins nothing anew, and moves no time. */
TEST(cycles_are_those_since) {
	struct server_measure was;

	life_kit_open(bench, 2, 2);
	assert_true(server->measures.cycles.on && !server->measures.latency.on);
	was = server->measures.cycles;
	carry(SOME);
	cycles_are_of(SOME);
	server_account(server, true);
	cycles_are_of(SOME);
	assert_int_equal(server->measures.cycles.since, was.since);
	assert_int_equal(server->measures.cycles.until, was.until);
	server_account(server, false);
	assert_true(server->measures.cycles.until > was.since);
	was = server->measures.cycles;
	carry(1);
	cycles_are_of(SOME);
	server_account(server, false);
	assert_int_equal(server->measures.cycles.until, was.until);
	server_account(server, true);
	assert_true(server->measures.cycles.since > was.until);
	cycles_are_of(0);
	carry(2 * SOME);
	cycles_are_of(2 * SOME);
	server_account(server, false);
	server_account(server, true);
	cycles_are_of(0);
}

TEST(latencies_are_those_since) {
	life_kit_open(bench, 2, 2);
	carry(1);
	assert_false(latency_measured(&group(0)->downstream->latency));
	for (unsigned turn = 1; turn < 4; turn++) {
		assert_int_equal(server_latency(server, true), 0);
		latencies_are_of(0);
		carry(turn * SOME);
		latencies_are_of(turn * SOME);
		assert_int_equal(server_latency(server, true), 0);
		latencies_are_of(turn * SOME);
		assert_int_equal(server_latency(server, false), 0);
		carry(1);
		latencies_are_of(turn * SOME);
	}
}

TEST(groups_that_come_join_in) {
	const struct served_group *g;

	for (unsigned on = 0; on < 2; on++) {
		life_kit_open(bench, 2, 3);
		server_account(server, on);
		assert_int_equal(server_latency(server, on), 0);
		g = group(life_kit_add(bench, life_kit_group(bench, 3, 0, 1, 2, 0)));
		assert_int_equal(g->downstream->enqueue.accounting, on);
		assert_int_equal(g->downstream->lower_mac.accounting, on);
		assert_int_equal(g->upstream->list.accounting, on);
		assert_int_equal(g->downstream->latency.on, on);
		assert_int_equal(g->upstream->latency.on, on);
	}
}

/* Its worker has switched it off: what it counted in between is the same in both. */
static void switch_turn(struct life_script *script, unsigned turn) {
	const struct downstream *d = group(0)->downstream;
	uint64_t before;

	server_account(server, true);
	life_check(script, server_latency(server, turn % 3 != 0) == 0, "no memory");
	for (unsigned i = 0; i < turn % 7; i++)
		server_synchronize(server);
	server_account(server, false);
	before = downstream_accounted(d);
	life_check(script, stage_packets(&d->enqueue, "classify") == before,
		   "cycles are of other packets than those they go over");
	server_synchronize(server);
	life_check(script, stage_packets(&d->enqueue, "classify") == before,
		   "it is measured still");
	life_check(script, server_latency(server, turn % 2 != 0) == 0, "no memory");
}

TEST(switched_under_traffic) {
	struct life_script script = {.turn = switch_turn, .turns = TURNS};

	life_kit_open(bench, 2, 2);
	life_play(bench, &script);
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)

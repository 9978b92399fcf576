/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests switching cycle accounting and latency measurement on and off under traffic. The results
 * cover exactly the packets since the latest start. */
#include "test_main.h"

#include "server/measure.h"

#include "group_file.h"

#define STEPS 60
#define PACKETS 7

static struct served_group *group(unsigned number) {
	return &server->groups[number];
}

/* Forwards packets of the first group in both directions. */
static void forward_packets(unsigned packets) {
	life_kit_send_both(kit, LIFE_SHARED, &kit->file[0], packets);
	life_kit_settle(kit, 20 * MS);
}

static uint64_t stage_packets(const struct pipeline *p, const char *name) {
	for (unsigned i = 0; i < p->count; i++) {
		if (strcmp(p->stages[i].name, name) == 0)
			return p->accounts[i].packets;
	}
	fail_msg("no stage %s", name);
	return 0;
}

/* Checks that the cycles of each stage list cover `packets` packets. */
static void check_cycles(uint64_t packets) {
	const struct served_group *g = group(0);

	assert_int_equal(stage_packets(&g->downstream->enqueue, "classify"), packets);
	assert_int_equal(stage_packets(&g->downstream->dequeue, "hand_over"), packets);
	assert_int_equal(stage_packets(&g->downstream->lower_mac, "frame"), packets);
	assert_int_equal(stage_packets(&g->upstream->list, "validate"), packets);
	assert_int_equal(downstream_accounted_packets(g->downstream), packets);
	assert_int_equal(upstream_accounted_packets(g->upstream), packets);
	assert_int_equal(stage_packets(&server->shares.of[0]->receiving, "receive"), packets);
}

static void check_latencies(uint64_t packets) {
	struct latency *both[] = {&group(0)->downstream->latency, &group(0)->upstream->latency};

	for (unsigned l = 0; l < 2; l++) {
		latency_readers_lock();
		latency_collect(both[l]);
		latency_readers_unlock();
		assert_int_equal(both[l]->whole->total_count, packets);
	}
}

/* Switching on or off repeatedly has no effect. */
TEST(cycles_cover_packets_since_start) {
	struct server_measure previous;

	life_kit_open(kit, 2, 2);
	assert_true(server->measures.cycles.on && !server->measures.latency.on);
	previous = server->measures.cycles;
	forward_packets(PACKETS);
	check_cycles(PACKETS);
	server_account(server, true);
	check_cycles(PACKETS);
	assert_int_equal(server->measures.cycles.since, previous.since);
	assert_int_equal(server->measures.cycles.until, previous.until);
	server_account(server, false);
	assert_true(server->measures.cycles.until > previous.since);
	previous = server->measures.cycles;
	forward_packets(1);
	check_cycles(PACKETS);
	server_account(server, false);
	assert_int_equal(server->measures.cycles.until, previous.until);
	server_account(server, true);
	assert_true(server->measures.cycles.since > previous.until);
	check_cycles(0);
	forward_packets(2 * PACKETS);
	check_cycles(2 * PACKETS);
	server_account(server, false);
	server_account(server, true);
	check_cycles(0);
}

TEST(latencies_cover_packets_since_start) {
	life_kit_open(kit, 2, 2);
	forward_packets(1);
	assert_false(latency_measured(&group(0)->downstream->latency));
	for (unsigned step = 1; step < 4; step++) {
		assert_int_equal(server_latency(server, true), 0);
		check_latencies(0);
		forward_packets(step * PACKETS);
		check_latencies(step * PACKETS);
		assert_int_equal(server_latency(server, true), 0);
		check_latencies(step * PACKETS);
		assert_int_equal(server_latency(server, false), 0);
		forward_packets(1);
		check_latencies(step * PACKETS);
	}
}

TEST(added_group_is_measured) {
	const struct served_group *g;

	for (unsigned on = 0; on < 2; on++) {
		life_kit_open(kit, 2, 3);
		server_account(server, on);
		assert_int_equal(server_latency(server, on), 0);
		g = group(life_kit_add(kit, life_kit_load_extra(kit, 3, 0, 1, 2, 0)));
		assert_int_equal(g->downstream->enqueue.accounting, on);
		assert_int_equal(g->downstream->lower_mac.accounting, on);
		assert_int_equal(g->upstream->list.accounting, on);
		assert_int_equal(g->downstream->latency.on, on);
		assert_int_equal(g->upstream->latency.on, on);
	}
}

/* Switches off accounting: stages and pipelines must have counted the same packets. */
static void switch_step(struct life_script *script, unsigned step) {
	const struct downstream *d = group(0)->downstream;
	uint64_t before;

	server_account(server, true);
	life_check(script, server_latency(server, step % 3 != 0) == 0,
		   "latency measurement: out of memory");
	for (unsigned i = 0; i < step % 7; i++)
		server_synchronize(server);
	server_account(server, false);
	before = downstream_accounted_packets(d);
	life_check(script, stage_packets(&d->enqueue, "classify") == before,
		   "stage and pipeline counted different packets");
	server_synchronize(server);
	life_check(script, stage_packets(&d->enqueue, "classify") == before,
		   "packets are counted after accounting was switched off");
	life_check(script, server_latency(server, step % 2 != 0) == 0,
		   "latency measurement: out of memory");
}

TEST(measurement_is_switched_under_traffic) {
	struct life_script script = {.step = switch_step, .steps = STEPS};

	life_kit_open(kit, 2, 2);
	life_run_script(kit, &script);
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)

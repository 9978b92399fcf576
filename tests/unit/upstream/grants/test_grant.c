/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to grants: what is asked for in bytes and minislots, MAPs and UCDs on their ways, and what is not there. */
#include "test.h"

#include <string.h>

#include "fixture.h"
#include "upstream_grants.h"
#include "wire/ucd.h"

#define DATA_SID 0x20 /* modem 1: flow 2, no segment headers, channel 0 */
#define FLOW 2
#define BONDED 0 /* flow of modem 0: clusters 0 and 3 */
#define CLUSTER_SID 0x11 /* of its cluster 3, on channel 2 alone */

static void close_all(void) {
	empty();
	bench_close(bench);
}

/* A group whose flows ask for more than a channel has does not begin, and one that ends leaves nothing behind. */
static void begins_whole_or_not_at_all(void **state) {
	struct rte_malloc_socket_stats before, after;
	struct flow_grants *g;
	struct us_resources r;

	(void)state;
	open_with(1024);
	r = bench->u->r;
	upstream_free(bench->u);
	before = fixture_memory();
	bench->u = upstream_create(&bench->sg, &r);
	assert_non_null(bench->u);
	upstream_free(bench->u);
	g = &bench->sg.modems[0].upstream_flows[0].grants;
	*g = (struct flow_grants){.scheduling = SCHEDULING_UNSOLICITED_GRANT,
				  .request_multiplier = 4,
				  .grant_size = UINT16_MAX,
				  .grants_per_interval = 127,
				  .grant_interval = BENCH_MS};
	assert_null(upstream_create(&bench->sg, &r));
	after = fixture_memory();
	assert_int_equal(after.alloc_count, before.alloc_count);
	assert_int_equal(after.heap_allocsz_bytes, before.heap_allocsz_bytes);
	*g = (struct flow_grants){.request_multiplier = 4};
	bench->u = upstream_create(&bench->sg, &r);
	assert_non_null(bench->u);
	close_all();
}

/* UCDs first, then MAPs as they are due; each goes to the R-PHY device before it goes to modems. */
static void ways_of_messages(void **state) {
	static const uint16_t streams[] = {0, 3, 1, 5, 2, 5, 6}; /* of channels 1, 2, 3 */
	unsigned maps = 0, ucds = 0;
	struct seen s;

	(void)state;
	open_with(1024);
	assert_int_equal(upstream_grants_due(bench->u), 0);
	assert_int_equal(run(), BENCH_CHANNELS);
	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		struct ucd ucd;

		assert_true(next(&s));
		assert_int_equal(s.stream, streams[i]);
		assert_int_equal(s.slack, MESSAGE_ANY_TIME);
		assert_int_equal(ucd_read(&ucd, s.m.type, s.m.body, s.m.body_size), UCD_OK);
		assert_int_equal(ucd_check(&ucd), UCD_OK);
		ucds++;
	}
	assert_false(next(&s));
	while (maps < 60) {
		uint64_t due = upstream_grants_due(bench->u);

		assert_true(due > bench->clock.now);
		bench->clock.now = due - 1;
		assert_int_equal(run(), 0);
		bench->clock.now = due;
		assert_true(run() > 0);
		while (next(&s)) {
			assert_int_equal(s.m.type, MANAGEMENT_MAP);
			assert_int_equal(s.slack, 200);
			assert_int_equal(s.due, due);
			assert_int_equal(s.map.channel, s.stream == 3 ? 1 : s.map.channel);
			maps += s.stream < path.pseudowires;
		}
	}
	assert_int_equal(bench_count(bench, COUNTER_MAPS), maps);
	assert_int_equal(bench_count(bench, COUNTER_UCDS), BENCH_CHANNELS);
	assert_true(bytes[0] > 0 && bytes[1] == 0 && bytes[2] > bytes[3] && bytes[3] > 0);
	assert_int_equal(path.total, bytes[0] + bytes[2] + bytes[3]);
	bench->clock.now = 1000 * BENCH_MS;
	run();
	assert_int_equal(bench_count(bench, COUNTER_UCDS), 2 * BENCH_CHANNELS);
	upstream_stop_granting(bench->u);
	assert_true(upstream_grants_due(bench->u) == UINT64_MAX);
	bench->clock.now *= 2;
	assert_int_equal(run(), 0);
	close_all();
}

static uint64_t granted(void) {
	struct maps_counts c;

	maps_counts(bench->u->grant.maps, MAPS_NONE, &c);
	return c.asked_bytes;
}

/* Minislots are those of a burst; 30.72 Mbps are not this channel's rate, but 100 Mbps: 156 bytes in 12.5 us. */
static void what_is_asked_for(void **state) {
	const struct us_request legacy = {
		.modem = 1, .flow = FLOW, .channel = 0, .size = 11, .kind = REQUEST_FRAME};
	const struct us_request units = {.modem = 0,
					 .flow = BONDED,
					 .channel = 2,
					 .size = 100,
					 .kind = REQUEST_RECORD,
					 .n_bytes = true,
					 .cluster = 3};
	struct us_request wrong = units, few = legacy;

	(void)state;
	open_with(1024);
	ask(legacy);
	assert_int_equal(granted(), 10 * 156);
	ask(units);
	assert_int_equal(granted(), 10 * 156 + 400);
	wrong.cluster = 2; /* the flow has 0 and 3 */
	ask(wrong);
	wrong.cluster = 0;
	ask(wrong);
	assert_int_equal(granted(), 10 * 156 + 800);
	few.size = 1; /* nothing beside the preamble */
	ask(few);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS_TAKEN), 3);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS_NO_FLOW), 1);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS_NOTHING), 1);
	close_all();
}

/* While nothing is granted DOCSIS time follows the system's, so that it does not jump when grants go on. */
static void time_goes_on_meanwhile(void **state) {
	const struct docsis_clock *time;
	uint64_t look, maps;

	(void)state;
	open_with(1024);
	time = &bench->u->grant.clock;
	clock_start_at(&bench->clock, 0);
	upstream_follow_clock(bench->u);
	run();
	upstream_stop_granting(bench->u);
	look = time->look_at;
	while (bench->clock.now < look)
		clock_tick(&bench->clock);
	maps = bench_count(bench, COUNTER_MAPS);
	assert_int_equal(run(), 0);
	assert_true(time->look_at > look);
	assert_int_equal(bench_count(bench, COUNTER_MAPS), maps);
	upstream_resume_granting(bench->u);
	run(); /* of those before none is in time */
	assert_true(upstream_grants_due(bench->u) >= bench->clock.now);
	bench->clock.now = upstream_grants_due(bench->u);
	assert_true(run() > 0);
	assert_true(bench_count(bench, COUNTER_MAPS) > maps);
	close_all();
}

/* A flow that is removed gets nothing; unsolicited grants beyond the channel are refused, and counted. */
static void flows_that_change(void **state) {
	const struct us_request r = {
		.modem = 1, .flow = FLOW, .channel = 0, .size = 255, .kind = REQUEST_FRAME};
	struct upstream_service_flow f;
	struct us_grant_flow *g;

	(void)state;
	open_with(1024);
	f = bench->modems[1].upstream_flows[0];
	g = calloc(1, us_grant_flow_size(&f));
	assert_non_null(g);
	grants_of(DATA_SID, 1);
	ask(r);
	assert_true(grants_of(DATA_SID, 8) > 0);
	us_grant_set_flow(bench->u, FLOW, NULL, 0);
	ask(r);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS_NO_FLOW), 1);
	assert_int_equal(grants_of(DATA_SID, 8), 0);
	f.grants.scheduling = SCHEDULING_UNSOLICITED_GRANT;
	f.grants.grant_size = 1000;
	f.grants.grants_per_interval = 1;
	f.grants.grant_interval = 5 * BENCH_MS;
	us_grant_flow_fill(g, &f);
	us_grant_set_flow(bench->u, FLOW, g, 4);
	assert_true(grants_of(DATA_SID, 60) >= 5);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 0);
	f.grants.grant_size = 60000;
	us_grant_flow_fill(g, &f);
	us_grant_set_flow(bench->u, FLOW, g, 4);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 1);
	grants_of(DATA_SID, 3);
	assert_int_equal(grants_of(DATA_SID, 8), 0);
	free(g);
	close_all();
}

/* No grant is longer than what the upstream takes as one burst, as if 252 kB a MAP were there for it. */
static void grants_that_are_long(void **state) {
	const struct us_request r = {.modem = 0,
				     .flow = BONDED,
				     .channel = 2,
				     .size = 50000,
				     .kind = REQUEST_RECORD,
				     .n_bytes = true,
				     .cluster = 3};
	const uint32_t minislot = 71; /* bytes: 135 us at 1 Gbps, a part of 237 */

	(void)state;
	open_with(1024);
	grants_of(CLUSTER_SID, 1);
	ask(r);
	ask(r); /* 400 kB */
	longest = 0;
	assert_true(grants_of(CLUSTER_SID, 40) >= 7);
	assert_int_equal(longest, US_GRANT_BYTES / minislot);
	close_all();
}

/* Data alone keep unsolicited grants of a flow with activity detection: there are no requests. */
static void data_that_comes(void **state) {
	static const uint8_t nothing[64];
	struct upstream_service_flow f;
	struct us_grant_flow *g;

	(void)state;
	open_with(1024);
	f = bench->modems[1].upstream_flows[0];
	f.grants.scheduling = SCHEDULING_UNSOLICITED_GRANT_ACTIVITY;
	f.grants.grant_size = 1000;
	f.grants.grants_per_interval = 1;
	f.grants.grant_interval = f.grants.poll_interval = 10 * BENCH_MS;
	f.grants.active_timeout = 40 * BENCH_MS;
	g = calloc(1, us_grant_flow_size(&f));
	assert_non_null(g);
	us_grant_flow_fill(g, &f);
	us_grant_set_flow(bench->u, FLOW, g, 4);
	for (int i = 0; i < 50; i++) {
		bench_burst(bench, bench_session(0), DATA_SID, nothing, sizeof(nothing));
		pipeline_run(upstream_pipeline(bench->u, 0));
		grants_of(DATA_SID, 3);
	}
	assert_in_range(grants_of(DATA_SID, 15), 1, 15);
	grants_of(DATA_SID, 90);
	assert_int_equal(grants_of(DATA_SID, 30), 0); /* polls alone */
	bench_burst(bench, bench_session(0), DATA_SID, nothing, sizeof(nothing));
	pipeline_run(upstream_pipeline(bench->u, 0));
	assert_in_range(grants_of(DATA_SID, 15), 1, 15);
	free(g);
	bench->any_drops = true; /* of frames of zeros */
	close_all();
}

/* Follows a system's clock that has jumped, and what is asked for before is granted after it. */
static void jump(int64_t ns) {
	const struct us_request r = {
		.modem = 1, .flow = FLOW, .channel = 0, .size = 255, .kind = REQUEST_FRAME};
	struct docsis_clock *c = &bench->u->grant.clock;
	uint64_t maps = bench_count(bench, COUNTER_MAPS), jumps = c->jumps;
	uint64_t now = upstream_grants_due(bench->u);
	struct seen s;

	ask(r);
	empty();
	bench->clock.now = now;
	assert_true(docsis_clock_follow(c, now, c->system + (now - c->from) + (uint64_t)ns));
	c->look_at = UINT64_MAX; /* this one, and not the machine's */
	run();
	assert_in_range(upstream_grants_due(bench->u), now + 1, now + 4 * BENCH_MS);
	while (next(&s)) /* made at once */
		assert_in_range(s.due, now - BENCH_MS, now);
	bench->clock.now = upstream_grants_due(bench->u);
	run();
	assert_true(bench_count(bench, COUNTER_MAPS) > maps);
	while (next(&s))
		assert_int_equal(s.due, bench->clock.now);
	assert_true(grants_of(DATA_SID, 8) > 0);
	assert_int_equal(bench_count(bench, COUNTER_CLOCK_JUMPS), jumps + 1);
}

static void a_clock_that_jumps(void **state) {
	(void)state;
	open_with(1024);
	grants_of(DATA_SID, 1);
	jump(INT64_C(3600000000000));
	for (int i = 0; i < 10; i++)
		jump(-INT64_C(
			10000000000)); /* a whole number of MAPs of SC-QAM: one is due at once */
	jump(-INT64_C(3400000000000));
	jump(100000000);
	close_all();
}

/* A ring that is full, and buffers that are gone: counted, and MAPs go on. */
static void nowhere_to_go(void **state) {
	uint64_t made, unsent;

	(void)state;
	open_with(8);
	for (unsigned i = 0; i < 20; i++) {
		bench->clock.now = upstream_grants_due(bench->u);
		run();
	}
	made = bench_count(bench, COUNTER_MESSAGES_MADE);
	unsent = bench_count(bench, COUNTER_MESSAGES_UNSENT);
	assert_int_equal(made, 7);
	assert_true(unsent > 20);
	assert_int_equal(bench_count(bench, COUNTER_MAPS) + bench_count(bench, COUNTER_UCDS) > 20,
			 1);
	empty();
	assert_int_equal(rte_mempool_in_use_count(bench->frames), 0);
	close_all();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_whole_or_not_at_all),
		cmocka_unit_test(ways_of_messages),
		cmocka_unit_test(what_is_asked_for),
		cmocka_unit_test(time_goes_on_meanwhile),
		cmocka_unit_test(flows_that_change),
		cmocka_unit_test(a_clock_that_jumps),
		cmocka_unit_test(grants_that_are_long),
		cmocka_unit_test(nowhere_to_go),
		cmocka_unit_test(data_that_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

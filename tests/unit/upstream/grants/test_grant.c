/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests to grants: what is asked for in bytes and minislots, MAPs and UCDs on their ways, and what is not there. */

#include "upstream_grants.h"
#include "wire/ucd.h"

#define DATA_SID 0x20 /* modem 1: flow 2, no segment headers, channel 0 */
#define FLOW 2
#define BONDED 0 /* flow of modem 0: clusters 0 and 3 */
#define SECOND INT64_C(1000000000)
#define CLUSTER_SID 0x11 /* of its cluster 3, on channel 2 alone */

/* Minislots of the flow of DATA_SID, and N bytes of a cluster of a bonded one. */
static const struct us_request most = {
	.modem = 1, .flow = FLOW, .channel = 0, .size = 255, .kind = REQUEST_FRAME};
static const struct us_request bonded = {.modem = 0,
					 .flow = BONDED,
					 .channel = 2,
					 .size = 100,
					 .kind = REQUEST_RECORD,
					 .n_bytes = true,
					 .cluster = 3};

EACH_CASE(grants)

/* A group whose flows ask for more than a channel has does not begin, and one that ends leaves nothing behind. */
CASE(begins_whole_or_not_at_all, .prepare = scheduled) {
	struct rte_malloc_socket_stats before, after;
	struct flow_grants *g;
	struct us_resources r;

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
}

/* UCDs first, then MAPs as they are due; each goes to the R-PHY device before it goes to modems. */
CASE(ways_of_messages, .prepare = scheduled) {
	static const uint16_t streams[] = {0, 3, 1, 5, 2, 5, 6}; /* of channels 1, 2, 3 */
	unsigned maps = 0, ucds = 0;
	struct seen s;

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
	assert_int_equal(bench_count(COUNTER_MAPS), maps);
	assert_int_equal(bench_count(COUNTER_UCDS), BENCH_CHANNELS);
	assert_true(bytes[0] > 0 && bytes[1] == 0 && bytes[2] > bytes[3] && bytes[3] > 0);
	assert_int_equal(path.total, bytes[0] + bytes[2] + bytes[3]);
	bench->clock.now = 1000 * BENCH_MS;
	run();
	assert_int_equal(bench_count(COUNTER_UCDS), 2 * BENCH_CHANNELS);
	upstream_stop_granting(bench->u);
	assert_true(upstream_grants_due(bench->u) == UINT64_MAX);
	bench->clock.now *= 2;
	assert_int_equal(run(), 0);
}

/* Minislots are those of a burst; 30.72 Mbps are not this channel's rate, but 100 Mbps: 156 bytes in 12.5 us. */
CASE(what_is_asked_for, .prepare = scheduled) {
	struct us_request legacy = most;
	struct us_request wrong = bonded;

	legacy.size = 11;
	ask(legacy);
	assert_int_equal(asked_bytes(), 10 * 156);
	ask(bonded);
	assert_int_equal(asked_bytes(), 10 * 156 + 400);
	wrong.cluster = 2; /* the flow has 0 and 3 */
	ask(wrong);
	wrong.cluster = 0;
	ask(wrong);
	assert_int_equal(asked_bytes(), 10 * 156 + 800);
	legacy.size = 1; /* nothing beside the preamble */
	ask(legacy);
	assert_int_equal(bench_count(COUNTER_REQUESTS_TAKEN), 3);
	assert_int_equal(bench_count(COUNTER_REQUESTS_NO_FLOW), 1);
	assert_int_equal(bench_count(COUNTER_REQUESTS_NOTHING), 1);
}

/* While nothing is granted DOCSIS time follows the system's, so that it does not jump when grants go on. */
CASE(time_goes_on_meanwhile, .prepare = scheduled) {
	const struct docsis_clock *time;
	uint64_t look, maps;

	time = &bench->u->grant.clock;
	clock_start_at(&bench->clock, 0);
	upstream_follow_clock(bench->u);
	run();
	upstream_stop_granting(bench->u);
	look = time->look_at;
	while (bench->clock.now < look)
		clock_tick(&bench->clock);
	maps = bench_count(COUNTER_MAPS);
	assert_int_equal(run(), 0);
	assert_true(time->look_at > look);
	assert_int_equal(bench_count(COUNTER_MAPS), maps);
	upstream_resume_granting(bench->u);
	run(); /* of those before none is in time */
	assert_true(upstream_grants_due(bench->u) >= bench->clock.now);
	bench->clock.now = upstream_grants_due(bench->u);
	assert_true(run() > 0);
	assert_true(bench_count(COUNTER_MAPS) > maps);
}

/* No grant is longer than what the upstream takes as one burst, as if 252 kB a MAP were there for it. */
CASE(grants_that_are_long, .prepare = scheduled) {
	struct us_request r = bonded;
	const uint32_t minislot = 71; /* bytes: 135 us at 1 Gbps, a part of 237 */

	r.size = 50000;
	grants_of(CLUSTER_SID, 1);
	ask(r);
	ask(r); /* 400 kB */
	longest = 0;
	assert_true(grants_of(CLUSTER_SID, 40) >= 7);
	assert_int_equal(longest, US_GRANT_BYTES / minislot);
}

static const struct flow_grants activity = {.scheduling = SCHEDULING_UNSOLICITED_GRANT_ACTIVITY,
					    .request_multiplier = 4,
					    .grant_size = 1000,
					    .grants_per_interval = 1,
					    .grant_interval = 10 * BENCH_MS,
					    .poll_interval = 10 * BENCH_MS,
					    .active_timeout = 40 * BENCH_MS};

static void data_keeps_grants_coming(void) {
	static const uint8_t nothing[64];

	for (int i = 0; i < 50; i++) {
		bench_burst(bench_session(0), DATA_SID, nothing, sizeof(nothing));
		pipeline_run(upstream_pipeline(bench->u, 0));
		grants_of(DATA_SID, 3);
	}
	assert_in_range(grants_of(DATA_SID, 15), 1, 15);
	grants_of(DATA_SID, 90);
	assert_int_equal(grants_of(DATA_SID, 30), 0); /* polls alone */
	bench_burst(bench_session(0), DATA_SID, nothing, sizeof(nothing));
	pipeline_run(upstream_pipeline(bench->u, 0));
	assert_in_range(grants_of(DATA_SID, 15), 1, 15);
	bench->any_drops = true; /* of frames of zeros */
}

/* Data alone keep unsolicited grants of a flow with activity detection, as a change sets it: there are no requests. */
CASE(data_that_comes, .prepare = scheduled) {
	static uint8_t room[4096] __rte_cache_aligned;
	struct us_grant_flow *g = (void *)room;
	struct upstream_service_flow f = bench->modems[1].upstream_flows[0];

	f.grants = activity;
	assert_in_range(us_grant_flow_size(&f), 1, sizeof(room));
	us_grant_flow_fill(g, &f);
	us_grant_set_flow(&bench->u->grant, FLOW, g, 4);
	data_keeps_grants_coming();
}

/* The same of a flow that was there from the beginning. */
CASE(data_that_comes_from_the_beginning, .prepare = scheduled) {
	struct us_resources r = bench->u->r;
	struct flow_grants *g = &bench->modems[1].upstream_flows[0].grants;
	const struct flow_grants before = *g;

	upstream_free(bench->u);
	*g = activity;
	bench->u = upstream_create(&bench->sg, &r);
	*g = before;
	assert_non_null(bench->u);
	data_keeps_grants_coming();
}

/* Follows a system's clock that has jumped, and what is asked for before is granted after it. */
static void jump(int64_t ns) {
	struct docsis_clock *c = &bench->u->grant.clock;
	uint64_t maps = bench_count(COUNTER_MAPS), jumps = c->jumps;
	uint64_t now = upstream_grants_due(bench->u);
	struct seen s;

	ask(most);
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
	assert_true(bench_count(COUNTER_MAPS) > maps);
	while (next(&s))
		assert_int_equal(s.due, bench->clock.now);
	assert_true(grants_of(DATA_SID, 8) > 0);
	assert_int_equal(bench_count(COUNTER_CLOCK_JUMPS), jumps + 1);
}

CASE(a_clock_that_jumps, .prepare = scheduled) {
	grants_of(DATA_SID, 1);
	jump(3600 * SECOND);
	for (int i = 0; i < 10; i++)
		jump(-10 * SECOND); /* a whole number of MAPs of SC-QAM: one is due at once */
	jump(-3400 * SECOND);
	jump(100000000);
}

static void short_ring(void) {
	schedule(8);
}

/* A ring that is full, and buffers that are gone: counted, and MAPs go on. */
CASE(nowhere_to_go, .prepare = short_ring) {
	uint64_t made, unsent;

	for (unsigned i = 0; i < 20; i++) {
		bench->clock.now = upstream_grants_due(bench->u);
		run();
	}
	made = bench_count(COUNTER_MESSAGES_MADE);
	unsent = bench_count(COUNTER_MESSAGES_UNSENT);
	assert_int_equal(made, 7);
	assert_true(unsent > 20);
	assert_true(bench_count(COUNTER_MAPS) + bench_count(COUNTER_UCDS) > 20);
	empty();
	assert_int_equal(rte_mempool_in_use_count(bench->frames), 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the stage grant: bandwidth requests in bytes and minislots, MAPs and UCDs, and what happens
 * if capacity, buffers or space in the message ring is short. */

#include "upstream_grants.h"
#include "wire/ucd.h"

#define DATA_SID 0x20 /* of modem 1, flow 2: no segment headers, channel 0 */
#define FLOW 2
#define BONDED 0 /* flow of modem 0, clusters 0 and 3 */
#define SECOND INT64_C(1000000000) /* ns */
#define CLUSTER_SID 0x11 /* of its cluster 3, only on channel 2 */

/* A request in minislots, and one in units of N bytes for a cluster of the bonded flow. */
static const struct us_request minislot_request = {
	.modem = 1, .flow = FLOW, .channel = 0, .size = 255, .kind = REQUEST_FRAME};
static const struct us_request cluster_request = {.modem = 0,
						  .flow = BONDED,
						  .channel = 2,
						  .size = 100,
						  .kind = REQUEST_RECORD,
						  .n_bytes = true,
						  .cluster = 3};

BEFORE_EACH_CASE(check_has_scheduler)

/* Creation fails if grants exceed the capacity of a channel. Nothing leaks then, nor at an end. */
CASE(excessive_grants_fail_creation, .prepare = with_scheduler) {
	struct rte_malloc_socket_stats before, after;
	struct flow_grants *g;
	struct us_resources r;

	r = kit->u->r;
	upstream_free(kit->u);
	before = fixture_heap_stats();
	kit->u = upstream_create(&kit->sg, &r);
	assert_non_null(kit->u);
	upstream_free(kit->u);
	g = &kit->sg.modems[0].upstream_flows[0].grants;
	*g = (struct flow_grants){.scheduling = SCHEDULING_UNSOLICITED_GRANT,
				  .request_multiplier = 4,
				  .grant_size = UINT16_MAX,
				  .grants_per_interval = 127,
				  .grant_interval = KIT_MS};
	assert_null(upstream_create(&kit->sg, &r));
	after = fixture_heap_stats();
	assert_int_equal(after.alloc_count, before.alloc_count);
	assert_int_equal(after.heap_allocsz_bytes, before.heap_allocsz_bytes);
	*g = (struct flow_grants){.request_multiplier = 4};
	kit->u = upstream_create(&kit->sg, &r);
	assert_non_null(kit->u);
}

/* UCDs first, then MAPs when due. Each goes to the R-PHY device first, then to modems. */
CASE(messages_go_to_device_then_modems, .prepare = with_scheduler) {
	static const uint16_t streams[] = {0, 3, 1, 5, 2, 5, 6}; /* of upstream channels 1, 2, 3 */
	unsigned maps = 0, ucds = 0;
	struct message s;

	assert_int_equal(upstream_grants_due(kit->u), 0);
	assert_int_equal(run_scheduler(), KIT_CHANNELS);
	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		struct ucd ucd;

		assert_true(next_message(&s));
		assert_int_equal(s.stream, streams[i]);
		assert_int_equal(s.slack, MESSAGE_ANY_TIME);
		assert_int_equal(ucd_read(&ucd, s.m.type, s.m.body, s.m.body_size), UCD_OK);
		assert_int_equal(ucd_check(&ucd), UCD_OK);
		ucds++;
	}
	assert_false(next_message(&s));
	while (maps < 60) {
		uint64_t due = upstream_grants_due(kit->u);

		assert_true(due > kit->clock.now);
		kit->clock.now = due - 1;
		assert_int_equal(run_scheduler(), 0);
		kit->clock.now = due;
		assert_true(run_scheduler() > 0);
		while (next_message(&s)) {
			assert_int_equal(s.m.type, MANAGEMENT_MAP);
			assert_int_equal(s.slack, 200);
			assert_int_equal(s.due, due);
			assert_int_equal(s.map.channel, s.stream == 3 ? 1 : s.map.channel);
			maps += s.stream < messages.pseudowires;
		}
	}
	assert_int_equal(kit_counter(COUNTER_MAPS), maps);
	assert_int_equal(kit_counter(COUNTER_UCDS), KIT_CHANNELS);
	assert_true(message_bytes[0] > 0 && message_bytes[1] == 0 &&
		    message_bytes[2] > message_bytes[3] && message_bytes[3] > 0);
	assert_int_equal(messages.total, message_bytes[0] + message_bytes[2] + message_bytes[3]);
	kit->clock.now = 1000 * KIT_MS;
	run_scheduler();
	assert_int_equal(kit_counter(COUNTER_UCDS), 2 * KIT_CHANNELS);
	upstream_stop_granting(kit->u);
	assert_true(upstream_grants_due(kit->u) == UINT64_MAX);
	kit->clock.now *= 2;
	assert_int_equal(run_scheduler(), 0);
}

/* Requests in minislots include the burst overhead. 100 Mbps are 156 bytes in 12.5 us. */
CASE(requests_are_converted_to_bytes, .prepare = with_scheduler) {
	struct us_request legacy = minislot_request;
	struct us_request wrong = cluster_request;

	legacy.size = 11;
	send_request(legacy);
	assert_int_equal(requested_bytes(), 10 * 156);
	send_request(cluster_request);
	assert_int_equal(requested_bytes(), 10 * 156 + 400);
	wrong.cluster = 2; /* the flow has 0 and 3 */
	send_request(wrong);
	wrong.cluster = 0;
	send_request(wrong);
	assert_int_equal(requested_bytes(), 10 * 156 + 800);
	legacy.size = 1; /* the burst overhead alone */
	send_request(legacy);
	assert_int_equal(kit_counter(COUNTER_REQUESTS_TAKEN), 3);
	assert_int_equal(kit_counter(COUNTER_REQUESTS_NO_FLOW), 1);
	assert_int_equal(kit_counter(COUNTER_REQUESTS_NOTHING), 1);
}

/* Without MAPs, DOCSIS time still follows the system's clock: it must not jump when they resume. */
CASE(docsis_time_runs_without_maps, .prepare = with_scheduler) {
	const struct docsis_clock *time;
	uint64_t sample_at, maps;

	time = &kit->u->grant.clock;
	clock_start_at(&kit->clock, 0);
	upstream_follow_clock(kit->u);
	run_scheduler();
	upstream_stop_granting(kit->u);
	sample_at = time->sample_at;
	while (kit->clock.now < sample_at)
		clock_tick(&kit->clock);
	maps = kit_counter(COUNTER_MAPS);
	assert_int_equal(run_scheduler(), 0);
	assert_true(time->sample_at > sample_at);
	assert_int_equal(kit_counter(COUNTER_MAPS), maps);
	upstream_resume_granting(kit->u);
	run_scheduler(); /* the MAPs of the pause are late */
	assert_true(upstream_grants_due(kit->u) >= kit->clock.now);
	kit->clock.now = upstream_grants_due(kit->u);
	assert_true(run_scheduler() > 0);
	assert_true(kit_counter(COUNTER_MAPS) > maps);
}

/* No grant is longer than the upstream accepts as one burst, although a MAP has 252 kB. */
CASE(long_request_gets_several_grants, .prepare = with_scheduler) {
	struct us_request r = cluster_request;
	const uint32_t minislot = 71; /* bytes: 135 us at 1 Gbps, divided by 237 */

	r.size = 50000;
	count_grants_of(CLUSTER_SID, 1);
	send_request(r);
	send_request(r); /* 400 kB */
	longest_grant = 0;
	assert_true(count_grants_of(CLUSTER_SID, 40) >= 7);
	assert_int_equal(longest_grant, US_GRANT_BYTES / minislot);
}

static const struct flow_grants ugs_ad = {.scheduling = SCHEDULING_UNSOLICITED_GRANT_ACTIVITY,
					  .request_multiplier = 4,
					  .grant_size = 1000,
					  .grants_per_interval = 1,
					  .grant_interval = 10 * KIT_MS,
					  .poll_interval = 10 * KIT_MS,
					  .active_timeout = 40 * KIT_MS};

/* Grants continue while data arrive, end without data, and start again with data. */
static void check_data_keeps_grants(void) {
	static const uint8_t nothing[64];

	for (int i = 0; i < 50; i++) {
		kit_send_burst(kit_session(0), DATA_SID, nothing, sizeof(nothing));
		pipeline_run(upstream_pipeline(kit->u, 0));
		count_grants_of(DATA_SID, 3);
	}
	assert_in_range(count_grants_of(DATA_SID, 15), 1, 15);
	count_grants_of(DATA_SID, 90);
	assert_int_equal(count_grants_of(DATA_SID, 30), 0); /* only polls */
	kit_send_burst(kit_session(0), DATA_SID, nothing, sizeof(nothing));
	pipeline_run(upstream_pipeline(kit->u, 0));
	assert_in_range(count_grants_of(DATA_SID, 15), 1, 15);
	kit->ignore_drops = true; /* the frames are zeros */
}

/* Data without requests keeps the unsolicited grants of a UGS-AD flow, which a change has added. */
CASE(data_keeps_grants_of_added_flow, .prepare = with_scheduler) {
	static uint8_t buffer[4096] __rte_cache_aligned;
	struct us_grant_flow *g = (void *)buffer;
	struct upstream_service_flow f = kit->modems[1].upstream_flows[0];

	f.grants = ugs_ad;
	assert_in_range(us_grant_flow_size(&f), 1, sizeof(buffer));
	us_grant_flow_fill(g, &f);
	us_grant_set_flow(&kit->u->grant, FLOW, g, 4);
	check_data_keeps_grants();
}

/* The same for a flow of the configuration. */
CASE(data_keeps_grants_of_configured_flow, .prepare = with_scheduler) {
	struct us_resources r = kit->u->r;
	struct flow_grants *g = &kit->modems[1].upstream_flows[0].grants;
	const struct flow_grants before = *g;

	upstream_free(kit->u);
	*g = ugs_ad;
	kit->u = upstream_create(&kit->sg, &r);
	*g = before;
	assert_non_null(kit->u);
	check_data_keeps_grants();
}

/* Lets the system's clock jump. What was requested before is granted after it. */
static void jump_clock(int64_t ns) {
	struct docsis_clock *c = &kit->u->grant.clock;
	uint64_t maps = kit_counter(COUNTER_MAPS), jumps = c->jumps;
	uint64_t now = upstream_grants_due(kit->u);
	struct message s;

	send_request(minislot_request);
	discard_messages();
	kit->clock.now = now;
	assert_true(docsis_clock_follow(c, now, c->system + (now - c->from) + (uint64_t)ns));
	c->sample_at = UINT64_MAX; /* ignore the machine's clock */
	run_scheduler();
	assert_in_range(upstream_grants_due(kit->u), now + 1, now + 4 * KIT_MS);
	while (next_message(&s)) /* already due */
		assert_in_range(s.due, now - KIT_MS, now);
	kit->clock.now = upstream_grants_due(kit->u);
	run_scheduler();
	assert_true(kit_counter(COUNTER_MAPS) > maps);
	while (next_message(&s))
		assert_int_equal(s.due, kit->clock.now);
	assert_true(count_grants_of(DATA_SID, 8) > 0);
	assert_int_equal(kit_counter(COUNTER_CLOCK_JUMPS), jumps + 1);
}

CASE(clock_jumps_keep_maps_and_requests, .prepare = with_scheduler) {
	count_grants_of(DATA_SID, 1);
	jump_clock(3600 * SECOND);
	for (int i = 0; i < 10; i++)
		jump_clock(-10 * SECOND); /* a whole number of SC-QAM MAPs: one is due at once */
	jump_clock(-3400 * SECOND);
	jump_clock(100000000);
}

static void with_short_ring(void) {
	use_scheduler(8);
}

/* If the ring is full or buffers are short, messages are counted as unsent, and MAPs continue. */
CASE(full_message_ring_counts_unsent, .prepare = with_short_ring) {
	uint64_t made, unsent;

	for (unsigned i = 0; i < 20; i++) {
		kit->clock.now = upstream_grants_due(kit->u);
		run_scheduler();
	}
	made = kit_counter(COUNTER_MESSAGES_MADE);
	unsent = kit_counter(COUNTER_MESSAGES_UNSENT);
	assert_int_equal(made, 7);
	assert_true(unsent > 20);
	assert_true(kit_counter(COUNTER_MAPS) + kit_counter(COUNTER_UCDS) > 20);
	discard_messages();
	assert_int_equal(rte_mempool_in_use_count(kit->frames), 0);
}

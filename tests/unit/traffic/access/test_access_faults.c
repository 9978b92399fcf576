/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests access.h with lost, late and invalid MAPs and misbehaving modems: all bytes are counted. */
#include "access_kit.h"
#include "test_main.h"

#include "random/random.h"

TEST(late_maps_are_ignored) {
	access_queue(kit.access, 0, 1000, 0);
	kit_map(20, 10, {100, DATA, 2});
	kit_send_at(0, frame_time(20) - MAP_LEAD_MIN + 1);
	assert_int_equal(kit_run(frame_time(21)), 0);
	assert_int_equal(kit_counts().late_maps, 1);
	assert_int_equal(kit_counts().late_grants, 1);
	assert_int_equal(kit_counts().late_bytes, 2 * MINISLOT_BYTES - HEADER);
	kit_map(40, 30, {100, DATA, 2});
	kit_send_at(0, frame_time(40) - MAP_LEAD_MIN); /* just in time */
	assert_int_equal(kit_run(frame_time(41)), 1);
	assert_int_equal(kit_counts().late_maps, 1);
}

TEST(propagation_and_skew_delay_maps) {
	kit_restart(1, 3);
	kit_set_modem(1, (struct access_modem){.propagation = PROPAGATION + 50});
	kit_set_modem(2, (struct access_modem){.skew = -100});
	kit_map(20, 10, {100, DATA, 2}, {101, DATA, 2}, {102, DATA, 2}, {CONTENTION, 30});
	kit_send_at(0, frame_time(20) - MAP_LEAD_MIN);
	access_queue(kit.access, 1, 10, 0); /* the contention region is late for it, too */
	assert_int_equal(kit_run(frame_time(24)), 1);
	assert_int_equal(kit.events[0].flow, 0);
	assert_int_equal(kit_counts().late_grants, 2);
	assert_int_equal(kit_counts().late_maps, 0); /* in time for flow 0 */
}

TEST(skew_shifts_bursts) {
	kit_set_modem(0, (struct access_modem){.skew = 300});
	kit_send_map(0, 20, 10, {100, DATA, 2});
	assert_int_equal(kit_run(frame_time(24)), 1);
	assert_int_equal(kit.events[0].at, frame_time(20) + 300);
	assert_int_equal(kit.events[0].end, frame_time(21) + 300);
	assert_int_equal(kit.events[0].skew, 300);
}

TEST(lost_maps_are_counted) {
	unsigned received = 0;

	kit_set_modem(0, (struct access_modem){.map_loss = 250000});
	for (uint32_t frame = 20; frame < 20020; frame += 10) {
		received += kit_run(frame_time(frame) - MAP_LEAD);
		kit_send_map(0, frame, frame - 10, {100, DATA, 1});
	}
	received += kit_run(frame_time(20020));
	assert_int_equal(received + kit_counts().lost_grants, 2000);
	assert_in_range(kit_counts().lost_grants, 440, 560);
	assert_int_equal(kit_counts().lost_bytes,
			 kit_counts().lost_grants * (MINISLOT_BYTES - HEADER));
}

TEST(invalid_maps_are_ignored) {
	kit_map(20, 10, {100, DATA, 2});
	kit.map.ucd_count++;
	kit_send(0);
	assert_int_equal(kit_counts().wrong_ucd, 1);
	access_set_ucd(kit.access, 0, kit.map.ucd_count);
	kit_send(0);
	assert_int_equal(kit_counts().wrong_ucd, 1);
	access_set_ucd(kit.access, 0, --kit.map.ucd_count);
	kit_send(0); /* minislots of an earlier MAP */
	kit_map(22, 12, {100, DATA, 2});
	kit.map.elements[1].iuc = DATA; /* no null element */
	kit_send(0);
	kit_map(23, 13, {100, DATA, 2});
	kit.map.elements[0].offset = 5; /* not in order */
	kit_send(0);
	kit_map(24, 14, {100, DATA, 2});
	kit.map.count = UINT16_MAX; /* more elements than the limit */
	kit.map.elements[1].iuc = DATA;
	kit_send(0);
	assert_int_equal(kit_counts().wrong_maps, 4);
	/* more than a second ahead */
	kit_map(25 + 204800000 / FRAME, 20, {100, DATA, 2});
	kit_send_at(0, frame_time(24));
	assert_int_equal(kit_counts().wrong_maps, 5);
	assert_int_equal(kit_run(frame_time(25)), 1);
	kit_map(40, 30, {100, DATA, 2});
	kit.map.elements[0].sid = 4000;
	kit_send(0);
	assert_int_equal(kit_counts().unknown_grants, 1);
}

TEST(silent_modem_uses_no_grant) {
	kit_set_modem(0, (struct access_modem){.conduct = ACCESS_SILENT});
	access_queue(kit.access, 0, 1000, 0);
	kit_send_map(0, 20, 10, {100, DATA, 3}, {100, MAP_REQUEST, 1}, {CONTENTION, 50});
	assert_int_equal(kit_run(frame_time(30)), 0);
	assert_int_equal(kit_counts().silent_bytes, 3 * MINISLOT_BYTES - HEADER);
}

TEST(modem_exceeds_grant) {
	kit_set_modem(0, (struct access_modem){.conduct = ACCESS_BEYOND, .excess = 9});
	access_queue(kit.access, 0, 1000, 0);
	kit_send_map(0, 20, 10, {100, DATA, 3});
	kit_expect(30, {.bytes = 12 * MINISLOT_BYTES - HEADER, .request = 432});
	assert_int_equal(kit.events[0].minislots, 12);
	assert_int_equal(kit.events[0].granted, 3 * MINISLOT_BYTES - HEADER);
	assert_int_equal(kit.events[0].end, frame_time(22));
	assert_int_equal(kit_counts().beyond, 9 * MINISLOT_BYTES);
}

TEST(modem_requests_endlessly) {
	kit_set_modem(0, (struct access_modem){.conduct = ACCESS_ENDLESS, .excess = 5000});
	kit_set_flow(0, (struct access_flow){.header_bytes = HEADER});
	kit_send_map(0, 20, 10, {100, DATA, 3}, {CONTENTION, 97});
	kit_run(frame_time(30));
	/* a burst, and a request per frame except during back-off */
	assert_in_range(kit.count, 7, 11);
	assert_int_equal(kit_counts().requested, 5000 * kit.count);
	assert_int_equal(kit_counts().unused, 3 * MINISLOT_BYTES - HEADER);
}

TEST(removed_flow_discards_bytes) {
	struct access_flow none = {0};

	kit_restart(1, 2);
	access_queue(kit.access, 0, 1000, 0);
	access_queue(kit.access, 1, 10, 0);
	kit_send_map(0, 20, 10, {100, DATA, 3});
	assert_null(access_set_flow(kit.access, 0, &none, 0));
	assert_null(access_set_flow(kit.access, 0, &none, 0));
	access_queue(kit.access, 0, 1000, 0); /* the flow is removed */
	assert_int_equal(access_waiting(kit.access, 0), 0);
	assert_int_equal(kit_counts().discarded, 1000);
	kit_set_flow(0,
		     (struct access_flow){.header_bytes = HEADER}); /* new flow with the old SID */
	access_queue(kit.access, 0, 40, 0);
	assert_int_equal(kit_run(frame_time(22)), 0);
	assert_int_equal(kit_counts().lost_bytes, 3 * MINISLOT_BYTES - HEADER);
	kit_send_map(0, 40, 30, {CONTENTION, 50});
	kit_run(frame_time(46));
	assert_int_equal(kit_counts().contention, 2);
}

TEST(invalid_settings_are_rejected) {
	static const struct {
		uint32_t number, modem;
		struct access_sid sids[2];
		uint32_t sid_count, outstanding;
	} flows[] = {
		{0, 0, {{0, 100}, {0, 102}}, 2}, /* two SIDs on one channel */
		{1, 0, {{0, 100}}, 1}, /* SID of flow 0 */
		{2, 0, {{0, 102}}, 1},
		{0, 0, {{1, 102}}, 1},
		{0, 0, {{0, MAP_SID_BROADCAST}}, 1},
		{0, 0, {{0, 102}}, 1, ACCESS_OUTSTANDING + 1},
		{0, 2, {{0, 102}}, 1},
	};
	struct access_channel channel = {.frame = 1, .frame_minislots = 1, .minislot_bytes = 1};
	struct access_config config = {&channel, 1, 1, 1, 0, 0};
	struct access_modem modem = {0};
	const char *why = NULL;

	assert_null(access_create(&config, &why)); /* no minislots per request */
	assert_non_null(strstr(why, "request"));
	channel.request_minislots = 1;
	config.channel_count = 65;
	assert_null(access_create(&config, &why));
	config.channel_count = 1;
	config.flows = 0;
	assert_null(access_create(&config, NULL));
	kit_restart(1, 2);
	for (size_t i = 0; i < ARRAY_COUNT(flows); i++) {
		struct access_flow flow = {.modem = flows[i].modem,
					   .sids = flows[i].sids,
					   .sid_count = flows[i].sid_count,
					   .outstanding = flows[i].outstanding};

		assert_non_null(access_set_flow(kit.access, flows[i].number, &flow, 0));
	}
	assert_false(access_set_modem(kit.access, 2, &modem));
}

/* Random MAPs and settings. Asserts that the byte counters add up. Returns a hash of the events. */
static uint64_t run_random(uint64_t seed) {
	struct random random = {seed};
	uint64_t sum = 0;

	kit_restart(3, 40);
	for (uint32_t i = 0; i < 40; i++) {
		struct access_modem m = {0};

		m.propagation = 1 + random_below(&random, 100000);
		m.skew = (int32_t)random_below(&random, 2000) - 1000;
		m.map_loss = random_below(&random, 100000);
		m.conduct = i % 10 < 4 ? (enum access_conduct)(i % 10) : ACCESS_HONEST;
		m.excess = random_below(&random, 50);
		kit_set_modem(i, m);
	}
	for (uint32_t frame = 20; frame < 4000; frame += 1 + random_below(&random, 4)) {
		struct kit_element elements[12];

		kit_run(frame_time(frame));
		for (unsigned i = 0; i < kit.count; i++) {
			const struct access_event *e = &kit.events[i];

			sum = sum * 31 + e->time + e->bytes + e->minislot + e->request + e->flow;
			if (e->kind == ACCESS_GIVEN_UP)
				access_discard(kit.access, e->flow, 300);
		}
		for (unsigned i = random_below(&random, 10); i > 0; i--)
			access_queue(kit.access, random_below(&random, 40),
				     random_below(&random, 3000), kit.now);
		if (random_below(&random, 50) == 0)
			kit_set_flow(random_below(&random, 40),
				     (struct access_flow){.outstanding = 3, .request_unit = 4});
		for (unsigned i = 0; i < ARRAY_COUNT(elements); i++)
			elements[i] = (struct kit_element){
				random_below(&random, 3) == 0
					? MAP_SID_BROADCAST
					: (uint16_t)(99 + random_below(&random, 42)),
				(uint8_t)random_below(&random, 16),
				(uint16_t)random_below(&random, 8)};
		kit_build_map(frame + random_below(&random, 12),
			      frame > 20 ? frame - random_below(&random, 20) : 0, elements,
			      random_below(&random, ARRAY_COUNT(elements)));
		kit.map.data_start = (uint8_t)random_below(&random, 5);
		kit_send_at((uint16_t)random_below(&random, 3), kit.now);
		kit_check_balance();
	}
	return sum;
}

TEST(random_maps_keep_balance) {
	for (uint64_t seed = 1; seed < 30; seed++)
		assert_int_equal(run_random(seed), run_random(seed));
	assert_int_not_equal(run_random(1), run_random(2));
}

EACH_TEST(kit_set_up, kit_tear_down)

/* SPDX-License-Identifier: BSD-3-Clause */
/* MAPs that are lost, late or wrong, and modems that do as they like: what they do is counted, to the byte. */
#include "access_kit.h"
#include "test_main.h"

#include "random/random.h"

TEST(late_maps_are_ignored) {
	access_queue(kit.access, 0, 1000, 0);
	kit_map(20, 10, {100, DATA, 2});
	kit_send_at(0, kit_at(20) - NEEDED + 1);
	assert_int_equal(kit_run(kit_at(21)), 0);
	assert_int_equal(kit_counts().late_maps, 1);
	assert_int_equal(kit_counts().late_grants, 1);
	assert_int_equal(kit_counts().late_bytes, 2 * MINISLOT - HEADER);
	kit_map(40, 30, {100, DATA, 2});
	kit_send_at(0, kit_at(40) - NEEDED); /* just in time */
	assert_int_equal(kit_run(kit_at(41)), 1);
	assert_int_equal(kit_counts().late_maps, 1);
}

TEST(distance_and_clocks_decide) {
	kit_restart(1, 3);
	kit_modem(1, (struct access_modem){.propagation = PROPAGATION + 50});
	kit_modem(2, (struct access_modem){.skew = -100});
	kit_map(20, 10, {100, DATA, 2}, {101, DATA, 2}, {102, DATA, 2}, {FOR_ALL, 30});
	kit_send_at(0, kit_at(20) - NEEDED);
	access_queue(kit.access, 1, 10, 0); /* nor are the MAP's opportunities for it */
	assert_int_equal(kit_run(kit_at(24)), 1);
	assert_int_equal(kit.events[0].flow, 0);
	assert_int_equal(kit_counts().late_grants, 2);
	assert_int_equal(kit_counts().late_maps, 0); /* not for all */
}

TEST(skewed_bursts) {
	kit_modem(0, (struct access_modem){.skew = 300});
	kit_hear(0, 20, 10, {100, DATA, 2});
	assert_int_equal(kit_run(kit_at(24)), 1);
	assert_int_equal(kit.events[0].at, kit_at(20) + 300);
	assert_int_equal(kit.events[0].end, kit_at(21) + 300);
	assert_int_equal(kit.events[0].skew, 300);
}

TEST(lost_maps) {
	unsigned heard = 0;

	kit_modem(0, (struct access_modem){.map_loss = 250000});
	for (uint32_t frame = 20; frame < 20020; frame += 10) {
		heard += kit_run(kit_at(frame) - HEARD);
		kit_hear(0, frame, frame - 10, {100, DATA, 1});
	}
	heard += kit_run(kit_at(20020));
	assert_int_equal(heard + kit_counts().lost_grants, 2000);
	assert_in_range(kit_counts().lost_grants, 440, 560);
	assert_int_equal(kit_counts().lost_bytes, kit_counts().lost_grants * (MINISLOT - HEADER));
}

TEST(wrong_maps_are_ignored) {
	kit_map(20, 10, {100, DATA, 2});
	kit.map.ucd_count++;
	kit_send(0);
	assert_int_equal(kit_counts().wrong_ucd, 1);
	access_set_ucd(kit.access, 0, kit.map.ucd_count);
	kit_send(0);
	assert_int_equal(kit_counts().wrong_ucd, 1);
	access_set_ucd(kit.access, 0, --kit.map.ucd_count);
	kit_send(0); /* minislots that are described already */
	kit_map(22, 12, {100, DATA, 2});
	kit.map.elements[1].iuc = DATA; /* no end */
	kit_send(0);
	kit_map(23, 13, {100, DATA, 2});
	kit.map.elements[0].offset = 5; /* not in order */
	kit_send(0);
	kit_map(24, 14, {100, DATA, 2});
	kit.map.count = UINT16_MAX; /* more elements than there can be */
	kit.map.elements[1].iuc = DATA;
	kit_send(0);
	assert_int_equal(kit_counts().wrong_maps, 4);
	/* of a clock that then goes back by a second */
	kit_map(25 + 204800000 / FRAME, 20, {100, DATA, 2});
	kit_send_at(0, kit_at(24));
	assert_int_equal(kit_counts().wrong_maps, 5);
	assert_int_equal(kit_run(kit_at(25)), 1);
	kit_map(40, 30, {100, DATA, 2});
	kit.map.elements[0].sid = 4000;
	kit_send(0);
	assert_int_equal(kit_counts().unknown_grants, 1);
}

TEST(silent_modems) {
	kit_modem(0, (struct access_modem){.conduct = ACCESS_SILENT});
	access_queue(kit.access, 0, 1000, 0);
	kit_hear(0, 20, 10, {100, DATA, 3}, {100, MAP_REQUEST, 1}, {FOR_ALL, 50});
	assert_int_equal(kit_run(kit_at(30)), 0);
	assert_int_equal(kit_counts().silent_bytes, 3 * MINISLOT - HEADER);
}

TEST(modems_beyond_their_grant) {
	kit_modem(0, (struct access_modem){.conduct = ACCESS_BEYOND, .excess = 9});
	access_queue(kit.access, 0, 1000, 0);
	kit_hear(0, 20, 10, {100, DATA, 3});
	kit_comes(30, {.bytes = 12 * MINISLOT - HEADER, .request = 432});
	assert_int_equal(kit.events[0].minislots, 12);
	assert_int_equal(kit.events[0].granted, 3 * MINISLOT - HEADER);
	assert_int_equal(kit.events[0].end, kit_at(22));
	assert_int_equal(kit_counts().beyond, 9 * MINISLOT);
}

TEST(modems_that_ask_without_end) {
	kit_modem(0, (struct access_modem){.conduct = ACCESS_ENDLESS, .excess = 5000});
	kit_flow(0, (struct access_flow){.header_bytes = HEADER});
	kit_hear(0, 20, 10, {100, DATA, 3}, {FOR_ALL, 97});
	kit_run(kit_at(30));
	/* a burst, and one in each frame but where it backs off */
	assert_in_range(kit.count, 7, 11);
	assert_int_equal(kit_counts().asked, 5000 * kit.count);
	assert_int_equal(kit_counts().unused, 3 * MINISLOT - HEADER);
}

TEST(flows_that_go) {
	struct access_flow none = {0};

	kit_restart(1, 2);
	access_queue(kit.access, 0, 1000, 0);
	access_queue(kit.access, 1, 10, 0);
	kit_hear(0, 20, 10, {100, DATA, 3});
	assert_null(access_set_flow(kit.access, 0, &none, 0));
	assert_null(access_set_flow(kit.access, 0, &none, 0));
	access_queue(kit.access, 0, 1000, 0); /* there is no such flow any more */
	assert_int_equal(access_waiting(kit.access, 0), 0);
	assert_int_equal(kit_counts().discarded, 1000);
	kit_flow(0,
		 (struct access_flow){.header_bytes = HEADER}); /* another one, by the same SID */
	access_queue(kit.access, 0, 40, 0);
	assert_int_equal(kit_run(kit_at(22)), 0);
	assert_int_equal(kit_counts().lost_bytes, 3 * MINISLOT - HEADER);
	kit_hear(0, 40, 30, {FOR_ALL, 50});
	kit_run(kit_at(46));
	assert_int_equal(kit_counts().contention, 2);
}

TEST(mistakes_in_settings) {
	static const struct {
		uint32_t number, modem;
		struct access_sid sids[2];
		uint32_t sid_count, outstanding;
	} flows[] = {
		{0, 0, {{0, 100}, {0, 102}}, 2}, /* two on one channel */
		{1, 0, {{0, 100}}, 1}, /* another one's */
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

	assert_null(access_create(&config, &why)); /* requests without a minislot */
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

/* What no CMTS sends: all bytes are somewhere still, and the same seed says the same. */
static uint64_t soak(uint64_t seed) {
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
		kit_modem(i, m);
	}
	for (uint32_t frame = 20; frame < 4000; frame += 1 + random_below(&random, 4)) {
		struct kit_part parts[12];

		kit_run(kit_at(frame));
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
			kit_flow(random_below(&random, 40),
				 (struct access_flow){.outstanding = 3, .request_unit = 4});
		for (unsigned i = 0; i < ARRAY_COUNT(parts); i++)
			parts[i] = (struct kit_part){
				random_below(&random, 3) == 0
					? MAP_SID_BROADCAST
					: (uint16_t)(99 + random_below(&random, 42)),
				(uint8_t)random_below(&random, 16),
				(uint16_t)random_below(&random, 8)};
		kit_map_of(frame + random_below(&random, 12),
			   frame > 20 ? frame - random_below(&random, 20) : 0, parts,
			   random_below(&random, ARRAY_COUNT(parts)));
		kit.map.data_start = (uint8_t)random_below(&random, 5);
		kit_send_at((uint16_t)random_below(&random, 3), kit.now);
		kit_balance();
	}
	return sum;
}

TEST(random_maps) {
	for (uint64_t seed = 1; seed < 30; seed++)
		assert_int_equal(soak(seed), soak(seed));
	assert_int_not_equal(soak(1), soak(2));
}

EACH_TEST(kit_begin, kit_finish)

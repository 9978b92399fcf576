/* SPDX-License-Identifier: BSD-3-Clause */
/* MAPs that are lost, late or wrong, and modems that do as they like: what they do is counted, to the byte. */
#include "access_rig.h"

#include "random/random.h"

static void prepare_grant(struct access_rig *r, uint32_t frame, uint16_t minislots) {
	rig_map(r, frame, frame - 10);
	rig_element(r, 100, DATA, minislots);
	rig_end(r);
}

static void test_late_maps_are_ignored(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000, 0);
	prepare_grant(&r, 20, 2);
	rig_send_at(&r, 0, rig_at(20) - NEEDED + 1);
	assert_int_equal(rig_run(&r, rig_at(21)), 0);
	assert_int_equal(rig_counts(&r).late_maps, 1);
	assert_int_equal(rig_counts(&r).late_grants, 1);
	assert_int_equal(rig_counts(&r).late_bytes, 2 * MINISLOT - HEADER);
	prepare_grant(&r, 40, 2);
	rig_send_at(&r, 0, rig_at(40) - NEEDED); /* just in time */
	assert_int_equal(rig_run(&r, rig_at(41)), 1);
	assert_int_equal(rig_counts(&r).late_maps, 1);
	rig_close(&r);
}

/* In one MAP: too late for who is far away, or whose clock is ahead. */
static void test_distance_and_clocks_decide(void **state) {
	struct access_modem far = rig_modem_settings(), ahead = far;
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 3);
	far.propagation += 50;
	ahead.skew = -100;
	rig_modem(&r, 1, far);
	rig_modem(&r, 2, ahead);
	rig_map(&r, 20, 10);
	for (uint16_t i = 0; i < 3; i++)
		rig_element(&r, (uint16_t)(100 + i), DATA, 2);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 30);
	rig_end(&r);
	rig_send_at(&r, 0, rig_at(20) - NEEDED);
	access_queue(r.access, 1, 10, 0); /* nor are the MAP's opportunities for it */
	assert_int_equal(rig_run(&r, rig_at(24)), 1);
	assert_int_equal(r.events[0].flow, 0);
	assert_int_equal(rig_counts(&r).late_grants, 2);
	assert_int_equal(rig_counts(&r).late_maps, 0); /* not for all */
	rig_close(&r);
}

static void test_skewed_bursts(void **state) {
	struct access_modem behind = rig_modem_settings();
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	behind.skew = 300;
	rig_modem(&r, 0, behind);
	prepare_grant(&r, 20, 2);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(24)), 1);
	assert_int_equal(r.events[0].at, rig_at(20) + 300);
	assert_int_equal(r.events[0].end, rig_at(21) + 300);
	assert_int_equal(r.events[0].skew, 300);
	rig_close(&r);
}

static void test_lost_maps(void **state) {
	struct access_modem deaf = rig_modem_settings();
	struct access_rig r;
	unsigned heard = 0;

	(void)state;
	rig_open(&r, 1, 1);
	deaf.map_loss = 250000;
	rig_modem(&r, 0, deaf);
	for (uint32_t frame = 20; frame < 20020; frame += 10) {
		rig_run(&r, rig_at(frame) - HEARD);
		heard += r.count;
		prepare_grant(&r, frame, 1);
		rig_send(&r, 0);
	}
	heard += rig_run(&r, rig_at(20020));
	assert_int_equal(heard + rig_counts(&r).lost_grants, 2000);
	assert_in_range(rig_counts(&r).lost_grants, 440, 560);
	assert_int_equal(rig_counts(&r).lost_bytes,
			 rig_counts(&r).lost_grants * (MINISLOT - HEADER));
	rig_close(&r);
}

static void test_wrong_maps_are_ignored(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	prepare_grant(&r, 20, 2);
	r.map.ucd_count++;
	rig_send(&r, 0);
	assert_int_equal(rig_counts(&r).wrong_ucd, 1);
	access_set_ucd(r.access, 0, r.map.ucd_count);
	rig_send(&r, 0);
	assert_int_equal(rig_counts(&r).wrong_ucd, 1);
	rig_send(&r, 0); /* minislots that are described already */
	prepare_grant(&r, 22, 2);
	r.map.ucd_count++;
	r.map.elements[1].iuc = DATA; /* no end */
	rig_send(&r, 0);
	prepare_grant(&r, 23, 2);
	r.map.ucd_count++;
	r.map.elements[0].offset = 5; /* not in order */
	rig_send(&r, 0);
	prepare_grant(&r, 24, 2);
	r.map.ucd_count++;
	r.map.count = UINT16_MAX; /* more elements than there can be */
	r.map.elements[1].iuc = DATA;
	rig_send(&r, 0);
	assert_int_equal(rig_counts(&r).wrong_maps, 4);
	prepare_grant(&r, 25 + 204800000 / FRAME,
		      2); /* of a clock that then goes back by a second */
	r.map.ucd_count++;
	rig_send_at(&r, 0, rig_at(24));
	assert_int_equal(rig_counts(&r).wrong_maps, 5);
	assert_int_equal(rig_run(&r, rig_at(25)), 1);
	prepare_grant(&r, 40, 2);
	r.map.ucd_count++;
	r.map.elements[0].sid = 4000;
	rig_send(&r, 0);
	assert_int_equal(rig_counts(&r).unknown_grants, 1);
	rig_close(&r);
}

static void test_silent_modems(void **state) {
	struct access_modem silent = rig_modem_settings();
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	silent.conduct = ACCESS_SILENT;
	rig_modem(&r, 0, silent);
	access_queue(r.access, 0, 1000, 0);
	rig_map(&r, 20, 10);
	rig_element(&r, 100, DATA, 3);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 50);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(30)), 0);
	assert_int_equal(rig_counts(&r).silent_bytes, 3 * MINISLOT - HEADER);
	rig_close(&r);
}

static void test_modems_beyond_their_grant(void **state) {
	struct access_modem long_bursts = rig_modem_settings();
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	long_bursts.conduct = ACCESS_BEYOND;
	long_bursts.excess = 9;
	rig_modem(&r, 0, long_bursts);
	access_queue(r.access, 0, 1000, 0);
	prepare_grant(&r, 20, 3);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(30)), 1);
	assert_int_equal(r.events[0].minislots, 12);
	assert_int_equal(r.events[0].granted, 3 * MINISLOT - HEADER);
	assert_int_equal(r.events[0].bytes, 12 * MINISLOT - HEADER);
	assert_int_equal(r.events[0].end, rig_at(22));
	assert_int_equal(rig_counts(&r).beyond, 9 * MINISLOT);
	rig_close(&r);
}

static void test_modems_that_ask_without_end(void **state) {
	struct access_modem endless = rig_modem_settings();
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	endless.conduct = ACCESS_ENDLESS;
	endless.excess = 5000;
	rig_modem(&r, 0, endless);
	rig_flow(&r, 0, (struct access_flow){.header_bytes = HEADER});
	rig_map(&r, 20, 10);
	rig_element(&r, 100, DATA, 3);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 97);
	rig_end(&r);
	rig_send(&r, 0);
	rig_run(&r, rig_at(30));
	assert_in_range(r.count, 7, 11); /* a burst, and one in each frame but where it backs off */
	assert_int_equal(rig_counts(&r).asked, 5000 * r.count);
	assert_int_equal(rig_counts(&r).unused, 3 * MINISLOT - HEADER);
	rig_close(&r);
}

static void test_flows_that_go(void **state) {
	struct access_flow none = {0};
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 2);
	access_queue(r.access, 0, 1000, 0);
	access_queue(r.access, 1, 10, 0);
	prepare_grant(&r, 20, 3);
	rig_send(&r, 0);
	assert_null(access_set_flow(r.access, 0, &none, 0));
	assert_null(access_set_flow(r.access, 0, &none, 0));
	access_queue(r.access, 0, 1000, 0); /* there is no such flow any more */
	assert_int_equal(access_waiting(r.access, 0), 0);
	assert_int_equal(rig_counts(&r).discarded, 1000);
	rig_flow(&r, 0,
		 (struct access_flow){.header_bytes = HEADER}); /* another one, by the same SID */
	access_queue(r.access, 0, 40, 0);
	assert_int_equal(rig_run(&r, rig_at(22)), 0);
	assert_int_equal(rig_counts(&r).lost_bytes, 3 * MINISLOT - HEADER);
	rig_map(&r, 40, 30);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 50);
	rig_end(&r);
	rig_send(&r, 0);
	rig_run(&r, rig_at(46));
	assert_int_equal(rig_counts(&r).contention, 2);
	rig_close(&r);
}

static void test_mistakes_in_settings(void **state) {
	struct access_sid sids[] = {{0, 100}, {0, 101}};
	struct access_flow flow = {.sids = sids, .sid_count = 2};
	struct access_channel channel = {.frame = 1, .frame_minislots = 1, .minislot_bytes = 1};
	struct access_config config = {&channel, 1, 1, 1, 0, 0};
	struct access_modem modem = {0};
	const char *why = NULL;
	struct access_rig r;

	(void)state;
	assert_null(access_create(&config, &why)); /* requests without a minislot */
	assert_non_null(strstr(why, "request"));
	channel.request_minislots = 1;
	config.channel_count = 65;
	assert_null(access_create(&config, &why));
	config.channel_count = 1;
	config.flows = 0;
	assert_null(access_create(&config, NULL));
	rig_open(&r, 1, 2);
	assert_non_null(access_set_flow(r.access, 0, &flow, 0)); /* two on one channel */
	flow.sid_count = 1;
	assert_non_null(access_set_flow(r.access, 1, &flow, 0)); /* another one's */
	assert_non_null(access_set_flow(r.access, 2, &flow, 0));
	sids[0].channel = 1;
	assert_non_null(access_set_flow(r.access, 0, &flow, 0));
	sids[0] = (struct access_sid){0, MAP_SID_BROADCAST};
	assert_non_null(access_set_flow(r.access, 0, &flow, 0));
	sids[0].sid = 7;
	flow.outstanding = ACCESS_OUTSTANDING + 1;
	assert_non_null(access_set_flow(r.access, 0, &flow, 0));
	flow.outstanding = 0;
	flow.modem = 2;
	assert_non_null(access_set_flow(r.access, 0, &flow, 0));
	assert_false(access_set_modem(r.access, 2, &modem));
	rig_close(&r);
}

/* What no CMTS sends: all bytes are somewhere still, and the same seed says the same. */
static uint64_t soak(uint64_t seed) {
	static struct access_rig r;
	struct random random = {seed};
	uint64_t sum = 0;

	rig_open(&r, 3, 40);
	for (uint32_t i = 0; i < 40; i++) {
		struct access_modem m = rig_modem_settings();

		m.propagation = random_below(&random, 100000);
		m.skew = (int32_t)random_below(&random, 2000) - 1000;
		m.map_loss = random_below(&random, 100000);
		m.conduct = i % 10 < 4 ? (enum access_conduct)(i % 10) : ACCESS_HONEST;
		m.excess = random_below(&random, 50);
		rig_modem(&r, i, m);
	}
	for (uint32_t frame = 20; frame < 4000; frame += 1 + random_below(&random, 4)) {
		rig_run(&r, rig_at(frame));
		for (unsigned i = 0; i < r.count; i++) {
			const struct access_event *e = &r.events[i];

			sum = sum * 31 + e->time + e->bytes + e->minislot + e->request + e->flow;
			if (e->kind == ACCESS_GIVEN_UP)
				access_discard(r.access, e->flow, 300);
		}
		for (unsigned i = random_below(&random, 10); i > 0; i--)
			access_queue(r.access, random_below(&random, 40),
				     random_below(&random, 3000), r.now);
		if (random_below(&random, 50) == 0)
			rig_flow(&r, random_below(&random, 40),
				 (struct access_flow){.outstanding = 3, .request_unit = 4});
		rig_map(&r, frame + random_below(&random, 12),
			frame > 20 ? frame - random_below(&random, 20) : 0);
		r.map.data_start = (uint8_t)random_below(&random, 5);
		for (unsigned i = random_below(&random, 9); i > 0; i--)
			rig_element(&r,
				    random_below(&random, 3) == 0
					    ? MAP_SID_BROADCAST
					    : (uint16_t)(99 + random_below(&random, 42)),
				    (uint8_t)random_below(&random, 16),
				    (uint16_t)random_below(&random, 8));
		rig_end(&r);
		for (unsigned i = random_below(&random, 3); i > 0; i--)
			rig_pending(&r, (uint16_t)(100 + random_below(&random, 40)));
		rig_send_at(&r, (uint16_t)random_below(&random, 3), r.now);
		rig_balance(&r);
	}
	rig_close(&r);
	return sum;
}

static void test_random_maps(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed < 30; seed++)
		assert_int_equal(soak(seed), soak(seed));
	assert_int_not_equal(soak(1), soak(2));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_maps_are_ignored),
		cmocka_unit_test(test_distance_and_clocks_decide),
		cmocka_unit_test(test_skewed_bursts),
		cmocka_unit_test(test_lost_maps),
		cmocka_unit_test(test_wrong_maps_are_ignored),
		cmocka_unit_test(test_silent_modems),
		cmocka_unit_test(test_modems_beyond_their_grant),
		cmocka_unit_test(test_modems_that_ask_without_end),
		cmocka_unit_test(test_flows_that_go),
		cmocka_unit_test(test_mistakes_in_settings),
		cmocka_unit_test(test_random_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

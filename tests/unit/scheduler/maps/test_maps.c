/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of the upstream scheduler one by one: what a request gets, and where it stands in the MAP. */
#include "maps_rig.h"
#include "test.h"

#include <string.h>

static struct map last; /* of channel 0 */

static void keep(struct rig *r, uint32_t channel, const struct map *map) {
	(void)r;
	if (channel == 0)
		last = *map;
}

static void create(struct rig *r, struct maps_channel channel, uint32_t count) {
	struct maps_channel channels[RIG_CHANNELS];

	for (uint32_t i = 0; i < count; i++) {
		channels[i] = channel;
		channels[i].id = (uint8_t)(i + 1);
	}
	rig_create(r, channels, count, 100);
	r->on_map = keep;
	rig_run(r, MS(10));
}

/* The next round of MAPs, and no more. */
static void next_map(struct rig *r) {
	rig_run(r, maps_due(r->m));
}

static const struct map_element *find(uint16_t sid, uint8_t iuc) {
	for (uint32_t i = 0; i < last.count; i++)
		if (last.elements[i].sid == sid && last.elements[i].iuc == iuc)
			return &last.elements[i];
	return NULL;
}

static uint32_t length_of(const struct map_element *e) {
	return (uint32_t)e[1].offset - e->offset;
}

static const struct maps_flow best_effort = {.header_bytes = 8};

static void a_request_is_granted_in_the_next_map(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 1);
	assert_null(rig_flow(&r, 4, 1, best_effort));
	assert_int_equal(rig_ask(&r, 4, 1000), MAPS_TAKEN);
	next_map(&r);
	assert_non_null(find(5, MAP_PROFILE_13));
	assert_int_equal(find(5, MAP_PROFILE_13)->offset, 0);
	assert_int_equal(length_of(find(5, MAP_PROFILE_13)), 1008 / 48);
	assert_int_equal(rig_counts(&r).granted_bytes, 1000);
	assert_int_equal(rig_counts(&r).owed_bytes, 0);
	next_map(&r);
	assert_null(find(5, MAP_PROFILE_13));
	rig_free(&r);
}

static void a_burst_has_its_overhead(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_sc_qam(1), 1);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	rig_ask(&r, 0, 24 * 10 - 8);
	next_map(&r);
	assert_int_equal(length_of(find(1, MAP_ADVANCED_LONG)), 10 + 2);
	rig_ask(&r, 0, 24 * 6 - 8);
	next_map(&r);
	assert_int_equal(length_of(find(1, MAP_ADVANCED_SHORT)), 6 + 2);
	rig_ask(&r, 0, 24 * 6 - 7);
	next_map(&r);
	assert_int_equal(length_of(find(1, MAP_ADVANCED_LONG)), 7 + 2);
	rig_free(&r);
}

static void requests_add_up(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 1);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	rig_ask(&r, 0, 1000);
	rig_ask(&r, 0, 500);
	assert_int_equal(rig_ask(&r, 0, 0), MAPS_NOTHING);
	assert_int_equal(rig_counts(&r).owed_bytes, 1500);
	assert_int_equal(rig_ask(&r, 1, 100), MAPS_NO_FLOW);
	assert_int_equal(rig_ask(&r, 100, 100), MAPS_NO_FLOW);
	assert_int_equal(rig_ask(&r, UINT32_MAX, 100), MAPS_NO_FLOW);
	assert_int_equal(maps_request(r.m, &(struct maps_request){.cluster = 1, .bytes = 1}, r.now),
			 MAPS_NO_FLOW);
	assert_int_equal(rig_ask(&r, 0, UINT32_MAX), MAPS_CUT);
	assert_int_equal(rig_counts(&r).owed_bytes, 16 << 20);
	assert_int_equal(rig_ask(&r, 0, 1), MAPS_CUT);
	assert_int_equal(rig_counts(&r).asked_bytes, 16 << 20);
	assert_int_equal(rig_counts(&r).verdicts[MAPS_TAKEN], 2);
	assert_int_equal(rig_counts(&r).verdicts[MAPS_CUT], 2);
	assert_int_equal(rig_counts(&r).verdicts[MAPS_NO_FLOW], 4);
	assert_int_equal(rig_counts(&r).verdicts[MAPS_NOTHING], 1);
	rig_free(&r);
}

static void who_waits_is_told(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 1);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	assert_null(rig_flow(&r, 1, 1, (struct maps_flow){.priority = 7}));
	rig_ask(&r, 1, 1 << 20);
	rig_ask(&r, 0, 1000);
	next_map(&r);
	assert_int_equal(r.pendings[0][1], 1);
	assert_int_equal(r.pendings[0][2], 1); /* granted a part */
	assert_int_equal(r.granted[0][1], 0);
	for (int i = 0; i < 5; i++)
		next_map(&r);
	assert_int_equal(r.granted[0][1], 0);
	next_map(&r);
	assert_int_equal(r.pendings[0][1], 6);
	assert_int_equal(r.granted[0][1], 21);
	assert_int_equal(rig_counts(&r).owed_bytes, 0);
	assert_int_equal(rig_counts(&r).pendings, 6 + 6);
	rig_free(&r);
}

/* Told to wait is also who waits for a rate; on the channel where the request was heard. */
static void who_waits_for_a_rate_is_told(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 3);
	assert_null(rig_flow(&r, 0, 7, (struct maps_flow){.sustained = 8000}));
	for (int i = 0; i < 5; i++)
		maps_request(r.m, &(struct maps_request){.flow = 0, .channel = 1, .bytes = 1000},
			     r.now);
	next_map(&r);
	next_map(&r);
	assert_int_equal(rig_counts(&r).granted_bytes, 2048);
	assert_int_equal(r.pendings[1][1], 2);
	assert_int_equal(r.pendings[0][1] + r.pendings[2][1], 0);
	rig_free(&r);
}

static void the_head_of_a_map(void **state) {
	struct rig r;
	uint64_t number;

	(void)state;
	create(&r, rig_ofdma(9), 1);
	next_map(&r);
	number = last.alloc_start / (15 * 235);
	assert_int_equal(last.alloc_start % (15 * 235), 0);
	assert_int_equal(r.now, number * 15 * 27648 - MS(1));
	/* 2 ms are 14.8 frames */
	assert_int_equal(last.ack_time, last.alloc_start - 15 * 235);
	assert_int_equal(last.channel, 1);
	assert_int_equal(last.ucd_count, 3);
	assert_int_equal(last.data_start, 2);
	assert_int_equal(last.data_end, 10);
	assert_int_equal(last.count, 2); /* a region for requests, and the end */
	assert_int_equal(last.elements[0].sid, MAP_SID_BROADCAST);
	assert_int_equal(last.elements[1].offset, 15 * 235);
	rig_free(&r);
}

/* Of what is asked for at once by one flow all channels carry their part, each in one grant. */
static void bonded_flows_are_spread(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 4);
	assert_null(rig_flow(&r, 0, 0xf, best_effort));
	rig_ask(&r, 0, 400000);
	next_map(&r);
	assert_int_equal(rig_counts(&r).owed_bytes, 0);
	assert_int_equal(rig_counts(&r).grants, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_in_range(r.granted[i][1], 100000 / 48 - 200, 100000 / 48 + 200);
	rig_ask(&r, 0, 2000); /* little stays together */
	next_map(&r);
	assert_int_equal(rig_counts(&r).grants, 5);
	rig_free(&r);
}

static void grants_stay_within_bounds(void **state) {
	struct maps_channel c = rig_ofdma(1);
	struct rig r;

	(void)state;
	c.max_burst_minislots = 100;
	create(&r, c, 2);
	assert_null(rig_flow(&r, 0, 3, best_effort));
	assert_null(rig_flow(&r, 1, 3, (struct maps_flow){.max_burst = 1500, .header_bytes = 8}));
	rig_ask(&r, 0, 1 << 20);
	rig_ask(&r, 1, 1 << 20);
	next_map(&r);
	assert_int_equal(r.longest[0][1], 100);
	assert_int_equal(r.longest[1][1], 100);
	assert_int_equal(r.longest[0][2], 32); /* 1,500 bytes, of which 8 are the header's */
	assert_int_equal(rig_counts(&r).granted_bytes, 2 * (4800 - 8) + 2 * 1492);
	next_map(&r);
	assert_int_equal(rig_counts(&r).granted_bytes, 4 * (4800 - 8) + 4 * 1492);
	rig_free(&r);
}

/* Clusters take turns when nothing is owed in one; each is granted by its own SID. */
static void clusters_have_their_own(void **state) {
	struct maps_sid first[] = {{0, 7}}, second[] = {{1, 8}};
	struct maps_cluster clusters[] = {{first, 1}, {second, 1}};
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 2);
	assert_null(maps_set_flow(
		r.m, 0, &(struct maps_flow){.clusters = clusters, .cluster_count = 2}, r.now));
	maps_request(r.m, &(struct maps_request){.cluster = 1, .bytes = 480}, r.now);
	maps_request(r.m, &(struct maps_request){.cluster = 0, .bytes = 4800}, r.now);
	next_map(&r);
	assert_int_equal(r.granted[0][7], 100);
	assert_int_equal(r.granted[1][8], 10);
	assert_int_equal(rig_counts(&r).owed_bytes, 0);
	rig_free(&r);
}

static void changes_forget(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 1);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	rig_ask(&r, 0, 1000);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	assert_int_equal(rig_counts(&r).forgotten_bytes, 1000);
	next_map(&r);
	assert_null(find(1, MAP_PROFILE_13));
	rig_ask(&r, 0, 500);
	assert_null(rig_flow(&r, 0, 0, best_effort));
	assert_int_equal(rig_ask(&r, 0, 100), MAPS_NO_FLOW);
	assert_int_equal(rig_counts(&r).forgotten_bytes, 1500);
	assert_int_equal(rig_counts(&r).owed_bytes, 0);
	assert_null(rig_flow(&r, 0, 0, best_effort)); /* again */
	next_map(&r);
	rig_check_counts(&r);
	rig_free(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_granted_in_the_next_map),
		cmocka_unit_test(a_burst_has_its_overhead),
		cmocka_unit_test(requests_add_up),
		cmocka_unit_test(who_waits_is_told),
		cmocka_unit_test(who_waits_for_a_rate_is_told),
		cmocka_unit_test(the_head_of_a_map),
		cmocka_unit_test(bonded_flows_are_spread),
		cmocka_unit_test(grants_stay_within_bounds),
		cmocka_unit_test(clusters_have_their_own),
		cmocka_unit_test(changes_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

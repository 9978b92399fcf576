/* SPDX-License-Identifier: BSD-3-Clause */
/* What a change means to the upstream scheduler: flows that take SIDs and promises over from each other. */
#include "us_change_rig.h"

#include "upstream/change/internal.h"
#include "upstream_grants.h"

#define CROWD 150
#define FIRST 8 /* place of the crowd's first flow */
#define LARGE 15000 /* bytes of a grant: half of what the channel has */
#define SMALL 100

static struct live_change many[CROWD];
static struct modem moved[CROWD];
static struct upstream_service_flow flows[2][CROWD]; /* of changes in turn */
static unsigned turn;

static struct upstream_service_flow *flow_of(unsigned m) {
	return &bench->modems[BENCH_MODEMS + m].upstream_flows[0];
}

/* A crowd on channel 0, with room for what changes. */
static void open_crowd(void) {
	changes.count = 0;
	bench_prepare(bench);
	bench_crowd(bench, CROWD);
	bench->room = &crowded;
	schedule(1024);
}

static void start(void) {
	bench_start(bench);
	assert_true(upstream_grants(bench->u));
	assert_int_equal(bench->u->tables.places.own[BENCH_MODEMS]->flows[0].flow, FIRST);
	grants_of(1, 1); /* time begins */
}

/* Modem `m` of the crowd as it is, to be changed. */
static struct upstream_service_flow *moves(unsigned m) {
	moved[m] = bench->modems[BENCH_MODEMS + m];
	flows[turn][m] = *flow_of(m);
	moved[m].upstream_flows = &flows[turn][m];
	return &flows[turn][m];
}

/* What is served like this. */
static void unsolicited(struct upstream_service_flow *f, uint16_t size) {
	f->grants.scheduling = SCHEDULING_UNSOLICITED_GRANT;
	f->grants.grant_size = size;
	f->grants.grants_per_interval = 1;
	f->grants.grant_interval = 5 * BENCH_MS / 2;
}

/* The first `count` of the crowd become what was made of them, in this order; returns the steps. */
static unsigned crowd_changes(unsigned count) {
	struct live_changes all = {.list = many, .count = count, .room = CROWD};
	struct us_change *c;
	unsigned steps = 1;

	for (unsigned m = 0; m < count; m++)
		many[m] = (struct live_change){LIVE_MODEM, BENCH_MODEMS + m, {&moved[m]}};
	c = us_change_begin(bench->u, &bench->sg, &all, NULL, why);
	assert_non_null(c);
	for (; !us_change_take(c); steps++)
		bench_round(bench);
	pass(c);
	us_change_end(c);
	for (unsigned m = 0; m < count; m++)
		bench->modems[BENCH_MODEMS + m] = moved[m];
	turn ^= 1;
	return steps;
}

/* Data grants of each modem of the crowd in the MAPs that come. */
static void granted(unsigned rounds, unsigned found[CROWD]) {
	memset(found, 0, CROWD * sizeof(found[0]));
	for (; rounds > 0; rounds--) {
		struct seen s;

		bench->clock.now = upstream_grants_due(bench->u);
		run();
		while (next(&s)) {
			for (unsigned e = 0;
			     s.stream < path.pseudowires && s.m.type == MANAGEMENT_MAP &&
			     e + 1 < s.map.count && s.map.elements[e].iuc != MAP_NULL;
			     e++) {
				unsigned m = s.map.elements[e].sid - BENCH_CROWD_SID;

				if (m < CROWD && map_iuc_is_data(s.map.elements[e].iuc))
					found[m]++;
			}
		}
	}
}

/* By a record, in units of the flow. */
static void asks(unsigned m, uint16_t size) {
	ask((struct us_request){.modem = BENCH_MODEMS + m,
				.flow = FIRST + m,
				.size = size,
				.kind = REQUEST_RECORD,
				.n_bytes = true});
}

/* Each gets the SID of the next one, and is granted what it asks for. */
static void sids_change_hands(void **state) {
	unsigned found[CROWD];

	(void)state;
	open_crowd();
	start();
	for (unsigned m = 0; m < CROWD; m++)
		moves(m)->clusters = flow_of((m + 1) % CROWD)->clusters;
	/* a SID that is taken over costs its part of a step */
	assert_in_range(crowd_changes(CROWD), 34, 60);
	asks(0, 25);
	granted(4, found);
	assert_true(found[0] == 0 && found[1] > 0);
	for (unsigned m = 0; m < CROWD; m++)
		asks(m, 25);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 0);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS_NO_FLOW), 0);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS_TAKEN), CROWD + 1);
	granted(30, found);
	for (unsigned m = 0; m < CROWD; m++)
		assert_true(found[m] > 0);
	empty();
	bench_close(bench);
}

/* The upstream scheduler looks for a place for each cluster: two flows of many are no single step. */
static void clusters_cost_their_part(void **state) {
	static struct upstream_sid sids[2][SG_MAX_SID_CLUSTERS];
	static struct sid_cluster clusters[2][SG_MAX_SID_CLUSTERS];
	unsigned before;

	(void)state;
	open_crowd();
	start();
	for (unsigned m = 0; m < 2; m++)
		moves(m)->grants.request_multiplier = 16;
	before = crowd_changes(2);
	for (unsigned m = 0; m < 2; m++) {
		struct upstream_service_flow *f = moves(m);

		for (unsigned c = 0; c < SG_MAX_SID_CLUSTERS; c++) {
			sids[m][c] = flow_of(m)->clusters[0].sids[0];
			if (c > 0)
				sids[m][c].sid = (uint16_t)(BENCH_CROWD_SID + CROWD +
							    m * SG_MAX_SID_CLUSTERS + c);
			clusters[m][c] = (struct sid_cluster){(uint8_t)c, &sids[m][c], 1};
		}
		f->clusters = clusters[m];
		f->cluster_count = SG_MAX_SID_CLUSTERS;
	}
	assert_in_range(crowd_changes(2), before + 1, before + 4);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 0);
	empty();
	bench_close(bench);
}

static uint64_t asked_bytes(void) {
	struct maps_counts counts;

	maps_counts(bench->u->grant.maps, MAPS_NONE, &counts);
	return counts.asked_bytes;
}

/* What is asked for counts in the units that the flow has now. */
static void units_change(void **state) {
	uint64_t asked;

	(void)state;
	open_crowd();
	start();
	moves(0)->grants.request_multiplier = 16;
	crowd_changes(1);
	asks(1, 10);
	asked = asked_bytes();
	asks(0, 10);
	assert_int_equal(asked, 10 * 4);
	assert_int_equal(asked_bytes() - asked, 10 * 16);
	empty();
	bench_close(bench);
}

/* Of the downstream channels 10 to 13 only 11 carries MAPs of no upstream channel. */
static void who_carries_maps_stays(void **state) {
	(void)state;
	open_crowd();
	start();
	for (uint32_t slot = 0; slot < CHANNELS; slot++) {
		will_be(LIVE_CHANNEL, slot, NULL);
		if (slot == 1)
			change();
		else
			refused("carries MAPs");
	}
	empty();
	bench_close(bench);
}

/* Two flows change their rates, of which the channel has no room for twice the larger one. */
static void rates_change_hands(void **state) {
	unsigned found[CROWD];

	(void)state;
	for (unsigned first = 0; first < 2; first++) {
		open_crowd();
		unsolicited(flow_of(0), first == 0 ? SMALL : LARGE);
		unsolicited(flow_of(1), first == 0 ? LARGE : SMALL);
		start();
		moves(0)->grants.grant_size = flow_of(1)->grants.grant_size;
		moves(1)->grants.grant_size = flow_of(0)->grants.grant_size;
		crowd_changes(2);
		assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 0);
		granted(90, found);
		assert_true(found[0] > 5 && found[1] > 5);
		empty();
		bench_close(bench);
	}
}

/* What the channel has no room for comes with a later change that makes some, whosever it is. */
static void comes_later(unsigned changed) {
	unsigned found[CROWD];

	open_crowd();
	unsolicited(flow_of(0), LARGE);
	start();
	moves(0);
	unsolicited(moves(1), LARGE);
	crowd_changes(2);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 1);
	granted(90, found);
	assert_true(found[0] > 5);
	assert_int_equal(found[1], 0);
	for (unsigned m = 0; m < changed; m++)
		moves(m); /* nothing of them is new: there is no more room */
	crowd_changes(changed);
	granted(90, found);
	assert_true(found[0] > 5);
	assert_int_equal(found[1], 0);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 1);
	for (unsigned m = 0; m < changed; m++)
		moves(m);
	moved[0].upstream_flows->grants.grant_size = SMALL;
	crowd_changes(changed);
	granted(90, found);
	assert_true(found[0] > 5 && found[1] > 5);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 1);
	empty();
	bench_close(bench);
}

static void who_was_refused_comes_later(void **state) {
	(void)state;
	comes_later(1);
	comes_later(2);
}

/* Who was refused and goes is forgotten: the next one in its place is told of anew. */
static void who_was_refused_goes(void **state) {
	unsigned found[CROWD];

	(void)state;
	open_crowd();
	unsolicited(flow_of(0), LARGE);
	start();
	unsolicited(moves(1), LARGE);
	moves(0);
	crowd_changes(2);
	will_be(LIVE_MODEM, BENCH_MODEMS + 1, NULL);
	change();
	assert_int_equal(bench->u->grant.refused_count, 0);
	will_be(LIVE_MODEM, BENCH_MODEMS + 1, &moved[1]);
	change();
	assert_int_equal(bench->u->grant.refused_count, 1);
	assert_int_equal(bench_count(bench, COUNTER_GRANTS_REFUSED), 2);
	granted(90, found);
	assert_true(found[0] > 5);
	assert_int_equal(found[1], 0);
	empty();
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sids_change_hands),
		cmocka_unit_test(clusters_cost_their_part),
		cmocka_unit_test(units_change),
		cmocka_unit_test(who_carries_maps_stays),
		cmocka_unit_test(rates_change_hands),
		cmocka_unit_test(who_was_refused_comes_later),
		cmocka_unit_test(who_was_refused_goes),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}

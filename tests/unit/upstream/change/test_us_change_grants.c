/* SPDX-License-Identifier: BSD-3-Clause */
/* What a change means to the upstream scheduler: flows that take SIDs and promises over from each other. */
#include "us_change_kit.h"

#include "upstream/change/internal.h"
#include "upstream_grants.h"

#define FIRST 8 /* place of the crowd's first flow */
#define LARGE 15000 /* bytes of a grant: half of what the channel has */
#define SMALL 100

static struct modem moved[CROWD];
static struct upstream_service_flow flows[2][CROWD]; /* of changes in turn */
static unsigned turn;

static struct upstream_service_flow *flow_of(unsigned m) {
	return &bench->modems[BENCH_MODEMS + m].upstream_flows[0];
}

/* What is served like this. */
static void unsolicited(struct upstream_service_flow *f, uint16_t size) {
	f->grants.scheduling = SCHEDULING_UNSOLICITED_GRANT;
	f->grants.grant_size = size;
	f->grants.grants_per_interval = 1;
	f->grants.grant_interval = 5 * BENCH_MS / 2;
}

/* A crowd on channel 0, with room for what changes. */
static void crowd(void) {
	with_crowd();
	schedule(1024);
}

static void large_first(void) {
	crowd();
	unsolicited(flow_of(0), LARGE);
}

static void ready(void) {
	assert_true(upstream_grants(bench->u));
	assert_int_equal(bench->u->tables.slots.own[BENCH_MODEMS]->flows[0].flow, FIRST);
	grants_of(1, 1); /* time begins */
}

/* Modem `m` of the crowd as it is, to be changed. */
static struct upstream_service_flow *moves(unsigned m) {
	moved[m] = bench->modems[BENCH_MODEMS + m];
	flows[turn][m] = *flow_of(m);
	moved[m].upstream_flows = &flows[turn][m];
	return &flows[turn][m];
}

/* The first `count` of the crowd become what was made of them, in this order; returns the steps. */
static unsigned crowd_changes(unsigned count) {
	struct us_change *c;
	unsigned steps = 1;

	for (unsigned m = 0; m < count; m++)
		will_be(LIVE_MODEM, BENCH_MODEMS + m, &moved[m]);
	for (c = begin(); !us_change_apply(c); steps++)
		bench_round();
	pass_and_finish(c);
	for (unsigned m = 0; m < count; m++)
		bench->modems[BENCH_MODEMS + m] = moved[m];
	turn ^= 1;
	return steps;
}

/* Data grants of a modem of the crowd that grants_count() has found. */
static unsigned granted(unsigned m) {
	return data_grants[BENCH_CROWD_SID + m];
}

static void only_first_is_granted(void) {
	grants_count(90);
	assert_true(granted(0) > 5);
	assert_int_equal(granted(1), 0);
}

static void both_are_granted(void) {
	grants_count(90);
	assert_true(granted(0) > 5 && granted(1) > 5);
}

/* By a record, in units of the flow. */
static void asks(unsigned m, uint16_t size) {
	ask((struct us_request){.modem = BENCH_MODEMS + m,
				.flow = FIRST + m,
				.size = size,
				.kind = REQUEST_RECORD,
				.n_bytes = true});
}

EACH_CASE(ready)

/* Each gets the SID of the next one, and is granted what it asks for. */
CASE(sids_change_hands, .prepare = crowd) {
	for (unsigned m = 0; m < CROWD; m++)
		moves(m)->clusters = flow_of((m + 1) % CROWD)->clusters;
	/* a SID that is taken over costs its part of a step */
	assert_in_range(crowd_changes(CROWD), 34, 60);
	asks(0, 25);
	grants_count(4);
	assert_true(granted(0) == 0 && granted(1) > 0);
	for (unsigned m = 0; m < CROWD; m++)
		asks(m, 25);
	assert_int_equal(bench_count(COUNTER_GRANTS_REFUSED), 0);
	assert_int_equal(bench_count(COUNTER_REQUESTS_NO_FLOW), 0);
	assert_int_equal(bench_count(COUNTER_REQUESTS_TAKEN), CROWD + 1);
	grants_count(30);
	for (unsigned m = 0; m < CROWD; m++)
		assert_true(granted(m) > 0);
}

CASE(clusters_cost_their_part, .prepare = crowd) {
	static struct upstream_sid sids[2][SG_MAX_SID_CLUSTERS];
	static struct sid_cluster clusters[2][SG_MAX_SID_CLUSTERS];
	unsigned before;

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
	assert_int_equal(bench_count(COUNTER_GRANTS_REFUSED), 0);
}

CASE(units_change, .prepare = crowd) {
	uint64_t asked;

	moves(0)->grants.request_multiplier = 16;
	crowd_changes(1);
	asks(1, 10);
	asked = asked_bytes();
	asks(0, 10);
	assert_int_equal(asked, 10 * 4);
	assert_int_equal(asked_bytes() - asked, 10 * 16);
}

/* Of the downstream channels 10 to 13 only 11 carries MAPs of no upstream channel. */
CASE(who_carries_maps_stays, .prepare = crowd) {
	for (uint32_t slot = 0; slot < CHANNELS; slot++) {
		will_be(LIVE_CHANNEL, slot, NULL);
		if (slot == 1)
			change();
		else
			refused("carries MAPs");
	}
}

static void large_and_small(void) {
	large_first();
	unsolicited(flow_of(1), SMALL);
}

CASE(rates_change_hands, .prepare = large_and_small) {
	for (unsigned i = 0; i < 2; i++) {
		uint16_t first = flow_of(0)->grants.grant_size;

		moves(0)->grants.grant_size = flow_of(1)->grants.grant_size;
		moves(1)->grants.grant_size = first;
		crowd_changes(2);
		assert_int_equal(bench_count(COUNTER_GRANTS_REFUSED), 0);
		both_are_granted();
	}
}

/* What the channel has no room for comes with a later change that makes some, whosever it is. */
static void comes_later(unsigned changed) {
	moves(0);
	unsolicited(moves(1), LARGE);
	crowd_changes(2);
	assert_int_equal(bench_count(COUNTER_GRANTS_REFUSED), 1);
	only_first_is_granted();
	for (unsigned m = 0; m < changed; m++)
		moves(m); /* nothing of them is new: there is no more room */
	crowd_changes(changed);
	only_first_is_granted();
	assert_int_equal(bench_count(COUNTER_GRANTS_REFUSED), 1);
	for (unsigned m = 0; m < changed; m++)
		moves(m);
	moved[0].upstream_flows->grants.grant_size = SMALL;
	crowd_changes(changed);
	both_are_granted();
	assert_int_equal(bench_count(COUNTER_GRANTS_REFUSED), 1);
}

CASE(who_was_refused_comes_later, .prepare = large_first) {
	comes_later(1);
}

CASE(who_was_refused_comes_with_another, .prepare = large_first) {
	comes_later(2);
}

/* Who was refused and goes is forgotten: the next one in its place is told of anew. */
CASE(who_was_refused_goes, .prepare = large_first) {
	unsolicited(moves(1), LARGE);
	moves(0);
	crowd_changes(2);
	change_to(LIVE_MODEM, BENCH_MODEMS + 1, NULL);
	assert_int_equal(bench->u->grant.refused_count, 0);
	change_to(LIVE_MODEM, BENCH_MODEMS + 1, &moved[1]);
	assert_int_equal(bench->u->grant.refused_count, 1);
	assert_int_equal(bench_count(COUNTER_GRANTS_REFUSED), 2);
	only_first_is_granted();
}

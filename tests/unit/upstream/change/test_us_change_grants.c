/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests live changes with an upstream scheduler: flows get SIDs and grants of others. */
#include "us_change_kit.h"

#include "upstream/change/internal.h"
#include "upstream_grants.h"

#define FIRST 8 /* index of the first added modem's flow */
#define LARGE 15000 /* bytes per grant: half of the channel's capacity */
#define SMALL 100

static struct modem changed_modems[ADDED];
static struct upstream_service_flow flows[2][ADDED]; /* of alternating changes */
static unsigned current;

static struct upstream_service_flow *added_flow(unsigned m) {
	return &kit->modems[KIT_MODEMS + m].upstream_flows[0];
}

/* Gives the flow unsolicited grants of `size` bytes. */
static void set_unsolicited(struct upstream_service_flow *f, uint16_t size) {
	f->grants.scheduling = SCHEDULING_UNSOLICITED_GRANT;
	f->grants.grant_size = size;
	f->grants.grants_per_interval = 1;
	f->grants.grant_interval = 5 * KIT_MS / 2;
}

/* Adds modems on channel 0, with spare capacity. */
static void use_scheduled_modems(void) {
	use_added_modems();
	use_scheduler(1024);
}

static void use_large_grant(void) {
	use_scheduled_modems();
	set_unsolicited(added_flow(0), LARGE);
}

static void check_ready(void) {
	assert_true(upstream_grants(kit->u));
	assert_int_equal(kit->u->tables.slots.modem_data[KIT_MODEMS]->flows[0].flow, FIRST);
	count_grants_of(1, 1); /* starts DOCSIS time */
}

/* Copies added modem `m` for a change. Returns the flow of the copy. */
static struct upstream_service_flow *copy_modem(unsigned m) {
	changed_modems[m] = kit->modems[KIT_MODEMS + m];
	flows[current][m] = *added_flow(m);
	changed_modems[m].upstream_flows = &flows[current][m];
	return &flows[current][m];
}

/* Applies the copies of the first `count` added modems. Returns the number of steps. */
static unsigned change_modems(unsigned count) {
	struct us_change *c;
	unsigned steps = 1;

	for (unsigned m = 0; m < count; m++)
		add_change(LIVE_MODEM, KIT_MODEMS + m, &changed_modems[m]);
	for (c = begin_change(); !us_change_apply(c); steps++)
		kit_run_round();
	flush_and_end(c);
	for (unsigned m = 0; m < count; m++)
		kit->modems[KIT_MODEMS + m] = changed_modems[m];
	current ^= 1;
	return steps;
}

/* Data grants of an added modem in the latest count_grants(). */
static unsigned granted(unsigned m) {
	return data_grants[KIT_ADDED_SID + m];
}

static void check_only_first_granted(void) {
	count_grants(90);
	assert_true(granted(0) > 5);
	assert_int_equal(granted(1), 0);
}

static void check_both_granted(void) {
	count_grants(90);
	assert_true(granted(0) > 5 && granted(1) > 5);
}

/* Sends a request record, in units of the flow. */
static void request_units(unsigned m, uint16_t size) {
	send_request((struct us_request){.modem = KIT_MODEMS + m,
					 .flow = FIRST + m,
					 .size = size,
					 .kind = REQUEST_RECORD,
					 .n_bytes = true});
}

BEFORE_EACH_CASE(check_ready)

/* Each flow gets the SID of the next one, and the grants that it requests. */
CASE(flows_swap_sids, .prepare = use_scheduled_modems) {
	for (unsigned m = 0; m < ADDED; m++)
		copy_modem(m)->clusters = added_flow((m + 1) % ADDED)->clusters;
	/* each SID that changes its flow costs a part of a step */
	assert_in_range(change_modems(ADDED), 34, 60);
	request_units(0, 25);
	count_grants(4);
	assert_true(granted(0) == 0 && granted(1) > 0);
	for (unsigned m = 0; m < ADDED; m++)
		request_units(m, 25);
	assert_int_equal(kit_counter(COUNTER_GRANTS_REFUSED), 0);
	assert_int_equal(kit_counter(COUNTER_REQUESTS_NO_FLOW), 0);
	assert_int_equal(kit_counter(COUNTER_REQUESTS_TAKEN), ADDED + 1);
	count_grants(30);
	for (unsigned m = 0; m < ADDED; m++)
		assert_true(granted(m) > 0);
}

CASE(sid_clusters_cost_steps, .prepare = use_scheduled_modems) {
	static struct upstream_sid sids[2][SG_MAX_SID_CLUSTERS];
	static struct sid_cluster clusters[2][SG_MAX_SID_CLUSTERS];
	unsigned before;

	for (unsigned m = 0; m < 2; m++)
		copy_modem(m)->grants.request_multiplier = 16;
	before = change_modems(2);
	for (unsigned m = 0; m < 2; m++) {
		struct upstream_service_flow *f = copy_modem(m);

		for (unsigned c = 0; c < SG_MAX_SID_CLUSTERS; c++) {
			sids[m][c] = added_flow(m)->clusters[0].sids[0];
			if (c > 0)
				sids[m][c].sid = (uint16_t)(KIT_ADDED_SID + ADDED +
							    m * SG_MAX_SID_CLUSTERS + c);
			clusters[m][c] = (struct sid_cluster){(uint8_t)c, &sids[m][c], 1};
		}
		f->clusters = clusters[m];
		f->cluster_count = SG_MAX_SID_CLUSTERS;
	}
	assert_in_range(change_modems(2), before + 1, before + 4);
	assert_int_equal(kit_counter(COUNTER_GRANTS_REFUSED), 0);
}

CASE(request_unit_changes, .prepare = use_scheduled_modems) {
	uint64_t before;

	copy_modem(0)->grants.request_multiplier = 16;
	change_modems(1);
	request_units(1, 10);
	before = requested_bytes();
	request_units(0, 10);
	assert_int_equal(before, 10 * 4);
	assert_int_equal(requested_bytes() - before, 10 * 16);
}

/* Of the downstream channels 10 to 13, only 11 carries no MAPs. */
CASE(channel_with_maps_cannot_be_removed, .prepare = use_scheduled_modems) {
	for (uint32_t slot = 0; slot < CHANNELS; slot++) {
		add_change(LIVE_CHANNEL, slot, NULL);
		if (slot == 1)
			run_change();
		else
			check_refused("carries MAPs");
	}
}

static void use_large_and_small_grant(void) {
	use_large_grant();
	set_unsolicited(added_flow(1), SMALL);
}

CASE(flows_swap_grant_sizes, .prepare = use_large_and_small_grant) {
	for (unsigned i = 0; i < 2; i++) {
		uint16_t first = added_flow(0)->grants.grant_size;

		copy_modem(0)->grants.grant_size = added_flow(1)->grants.grant_size;
		copy_modem(1)->grants.grant_size = first;
		change_modems(2);
		assert_int_equal(kit_counter(COUNTER_GRANTS_REFUSED), 0);
		check_both_granted();
	}
}

/* Grants beyond the capacity of the channel are refused. A later change that frees capacity admits
 * them, whichever modems it changes. */
static void check_admitted_later(unsigned changed) {
	copy_modem(0);
	set_unsolicited(copy_modem(1), LARGE);
	change_modems(2);
	assert_int_equal(kit_counter(COUNTER_GRANTS_REFUSED), 1);
	check_only_first_granted();
	for (unsigned m = 0; m < changed; m++)
		copy_modem(m); /* unchanged: they free no capacity */
	change_modems(changed);
	check_only_first_granted();
	assert_int_equal(kit_counter(COUNTER_GRANTS_REFUSED), 1);
	for (unsigned m = 0; m < changed; m++)
		copy_modem(m);
	changed_modems[0].upstream_flows->grants.grant_size = SMALL;
	change_modems(changed);
	check_both_granted();
	assert_int_equal(kit_counter(COUNTER_GRANTS_REFUSED), 1);
}

CASE(refused_flow_is_admitted_later, .prepare = use_large_grant) {
	check_admitted_later(1);
}

CASE(refused_flow_is_admitted_with_another, .prepare = use_large_grant) {
	check_admitted_later(2);
}

/* The refusal of a removed modem is forgotten. That of the next modem in its slot counts again. */
CASE(refusal_is_forgotten_with_removed_flow, .prepare = use_large_grant) {
	set_unsolicited(copy_modem(1), LARGE);
	copy_modem(0);
	change_modems(2);
	change_object(LIVE_MODEM, KIT_MODEMS + 1, NULL);
	assert_int_equal(kit->u->grant.refused_count, 0);
	change_object(LIVE_MODEM, KIT_MODEMS + 1, &changed_modems[1]);
	assert_int_equal(kit->u->grant.refused_count, 1);
	assert_int_equal(kit_counter(COUNTER_GRANTS_REFUSED), 2);
	check_only_first_granted();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Test kit: the first stages of the upper MAC with four modems, or a downstream. */
#pragma once

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "model/load/loader.h"
#include "model/service_group.h"

#include "fixture.h"
#include "packets.h"
#include "test.h"

#define LOOKUP_PERIOD_NS 1000000000

/* The last modem has the maximum number of addresses, of which only two may be active. */
static const char lookup_text[] =
	"name: lookup\nservice_group: 1\ncpe_timeout: 1 s\n"
	"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 1}]\n"
	"bonding_groups: [{id: 1, channels: [1]}]\n"
	"modems:\n"
	"  - {mac: '02:01:00:00:00:01', addresses: [10.0.0.1, 10.0.0.2, '2001:db8:0:1::1'],\n"
	"     cpe_limit: 16, bonding_group: 1, security: {said: 1, cipher: none},\n"
	"     service_flows: [{id: 1}]}\n"
	"  - {mac: '02:01:00:00:00:02', addresses: ['2001:db8:0:2::1', 10.0.1.1], cpe_limit: 1,\n"
	"     bonding_group: 1, security: {said: 2, cipher: none}, service_flows: [{id: 2}]}\n"
	"  - {mac: '02:01:00:00:00:03', addresses: [10.0.2.1, 10.0.2.2, 10.0.2.3], cpe_limit: 2,\n"
	"     bonding_group: 1, security: {said: 3, cipher: none}, service_flows: [{id: 3}]}\n"
	"  - {mac: '02:01:00:00:00:04', addresses: [%s], cpe_limit: 2,\n"
	"     bonding_group: 1, security: {said: 4, cipher: none}, service_flows: [{id: 4}]}\n";

static void *const lookup_no_schedules[64];

static struct {
	struct service_group sg;
	struct ds_tables tables;
	struct ds_upper upper;
	struct clock clock;
	struct rte_mempool *packets;
} lookup_kit;

/* Starts EAL and opens the kit. For ALL_TESTS(). */
static inline int lookup_kit_open(void **state) {
	char config[4096], address_list[SG_MAX_MODEM_ADDRESSES * 16] = "";

	fixture_start(state);
	for (size_t i = 0, used = 0; i < SG_MAX_MODEM_ADDRESSES; i++)
		used += (size_t)snprintf(address_list + used, sizeof(address_list) - used,
					 "%s10.0.3.%zu", i ? ", " : "", i);
	snprintf(config, sizeof(config), lookup_text, address_list);
	group_load_text(&lookup_kit.sg, config);
	assert_int_equal(
		ds_tables_create(&lookup_kit.tables, &lookup_kit.sg, NULL, lookup_no_schedules), 0);
	lookup_kit.upper.tables = &lookup_kit.tables;
	lookup_kit.upper.clock = &lookup_kit.clock;
	lookup_kit.upper.cpe_period_ns = lookup_kit.sg.cpe_timeout_ns;
	lookup_kit.upper.max_frame = lookup_kit.sg.max_frame - RTE_ETHER_CRC_LEN;
	lookup_kit.packets = fixture_pool_create("packets", 255, FIXTURE_BUFFER_SIZE);
	return 0;
}

/* Frees the kit and fails on leaked packets. Call it in the last test: cmocka ignores failures of a
 * group teardown. */
static inline void lookup_kit_free(void) {
	fixture_pool_free(lookup_kit.packets);
	ds_tables_free(&lookup_kit.tables);
	service_group_free(&lookup_kit.sg);
}

/* Runs the stages on `n` packets. Checks order and count of those that stay in `pkts`. Returns their number. */
static inline uint16_t lookup_run(struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = &lookup_kit.upper;
	struct rte_mbuf *before[PIPELINE_CAPACITY];
	uint64_t dropped = counters_dropped(&u->counters);
	uint16_t kept, at = 0;

	memcpy(before, pkts, n * sizeof(before[0]));
	kept = ds_modem_lookup(u, pkts, ds_known_flows(u, pkts, ds_parse(u, pkts, n)));
	assert_int_equal(n, kept + counters_dropped(&u->counters) - dropped);
	for (uint16_t i = 0; i < kept; i++) {
		while (at < n && before[at] != pkts[i])
			at++;
		assert_true(at++ < n);
	}
	return kept;
}

/* Loads the group `text` into `sg` and creates a downstream of it without crypto. The caller frees both. */
static inline struct downstream *lookup_downstream(struct service_group *sg, const char *text,
						   struct clock *clock) {
	static struct crypto_queue no_frames;
	const struct ds_resources r = {.upper_clock = clock,
				       .lower_clock = clock,
				       .crypto = &no_frames,
				       .schedules = lookup_no_schedules,
				       .queued_max = 1000,
				       .hand_over_max = 64};
	struct downstream *d;

	group_load_text(sg, text);
	d = downstream_create(sg, &r);
	assert_non_null(d);
	return d;
}

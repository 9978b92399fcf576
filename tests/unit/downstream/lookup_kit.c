/* SPDX-License-Identifier: BSD-3-Clause */
#include "lookup_kit.h"

#include "downstream/stages.h"
#include "model/load/loader.h"

#include "fixture.h"
#include "packets.h"
#include "test.h"

struct lookup_kit lookup_kit;

/* The last modem has as many addresses as one may have, but only two may be active. */
static const char head[] = "name: lookup\nservice_group: 1\ncpe_timeout: 1 s\n"
			   "channels:\n  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1}\n"
			   "bonding_groups:\n  - {id: 1, channels: [1]}\n"
			   "modems:\n";
static const char modem[] =
	"  - {mac: '02:01:00:00:00:%02x', addresses: [%s], cpe_limit: %u, bonding_group: 1,\n"
	"     security: {said: %u, cipher: none}, service_flows: [{id: %u}]}\n";
static const char *const addresses[] = {
	"10.0.0.1, 10.0.0.2, '2001:db8:0:1::1'",
	"'2001:db8:0:2::1', 10.0.1.1",
	"10.0.2.1, 10.0.2.2, 10.0.2.3",
};
static const unsigned limits[] = {16, 1, 2, 2};

int lookup_kit_open(void **state) {
	static void *const no_schedules[4];
	struct lookup_kit *b = &lookup_kit;
	char text[4096], many[64 * 16] = "";
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", head), list = 0;

	fixture_start(state);
	for (int i = 0; i < SG_MAX_MODEM_ADDRESSES; i++)
		list += (size_t)snprintf(many + list, sizeof(many) - list, "%s10.0.3.%d",
					 i ? ", " : "", i);
	for (unsigned i = 0; i < 4; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, modem, i + 1,
					 i < 3 ? addresses[i] : many, limits[i], i + 1, i + 1);
	group_load(&b->sg, text);
	assert_int_equal(ds_tables_create(&b->tables, &b->sg, NULL, no_schedules), 0);
	b->upper.tables = &b->tables;
	b->upper.clock = &b->clock;
	b->upper.cpe_period_ns = b->sg.cpe_timeout_ns;
	b->upper.max_frame = b->sg.max_frame - RTE_ETHER_CRC_LEN;
	b->packets = fixture_pool("packets", 255, FIXTURE_ROOM);
	return 0;
}

void lookup_kit_end(void) {
	struct lookup_kit *b = &lookup_kit;

	fixture_pool_end(b->packets);
	ds_tables_free(&b->tables);
	service_group_free(&b->sg);
}

uint16_t lookup_run(struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = &lookup_kit.upper;
	struct rte_mbuf *before[PIPELINE_CAPACITY];
	uint64_t dropped = counters_dropped(&u->counters);
	uint16_t kept, at = 0;

	memcpy(before, pkts, n * sizeof(before[0]));
	kept = ds_modem_lookup(u, pkts, ds_known_flows(u, pkts, ds_parse(u, pkts, n)));
	assert_int_equal(n, kept + counters_dropped(&u->counters) - dropped);
	/* the survivors are those that came in, in the same order */
	for (uint16_t i = 0; i < kept; i++) {
		while (at < n && before[at] != pkts[i])
			at++;
		assert_true(at++ < n);
	}
	return kept;
}

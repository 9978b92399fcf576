/* SPDX-License-Identifier: BSD-3-Clause */
/* Into the queues: why a packet is refused; and what a setup takes over. */
#include "test_main.h"

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "model/load/loader.h"
#include "pipeline/packet.h"

#include "fixture.h"
#include "packets.h"

static const char head[] = "name: enqueue\nservice_group: 1\n%s"
			   "channels:\n  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1}\n"
			   "bonding_groups:\n  - {id: 1, channels: [1]}\nmodems:\n";
static const char modem[] =
	"  - {mac: '02:01:00:00:%02x:%02x', addresses: [10.0.%u.%u], bonding_group: 1,\n"
	"     security: {said: %u, cipher: none}, service_flows: [{id: %u}]}\n";

static struct service_group sg;
static struct clock now;

static struct downstream *make(const char *options, unsigned modems) {
	static void *const no_schedules[64];
	static struct crypto_queue no_frames;
	struct ds_resources r = {.upper_clock = &now,
				 .crypto = &no_frames,
				 .lower_clock = &now,
				 .schedules = no_schedules,
				 .queued_max = 1000,
				 .hand_over_max = 64};
	static char text[64 * 512];
	struct downstream *d;
	size_t used = (size_t)snprintf(text, sizeof(text), head, options);

	assert_true(modems <= 64);
	for (unsigned i = 0; i < modems; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, modem, i >> 8, i & 255,
					 i >> 8, i & 255, i + 1, i + 1);
	group_load(&sg, text);
	d = downstream_create(&sg, &r);
	assert_non_null(d);
	return d;
}

static void unmake(struct downstream *d) {
	downstream_stop(d);
	downstream_free(d);
	service_group_free(&sg);
}

TEST(refusals_by_name) {
	static const struct {
		enum scheduler_verdict verdict;
		const char *name;
	} refusals[] = {
		{SCHEDULER_FLOW_FULL, "flow_buffer_full"},
		{SCHEDULER_FULL, "scheduler_full"},
		{SCHEDULER_WRED_DROP, "wred_drop"},
		{SCHEDULER_PIE_DROP, "docsis_pie_drop"},
		{SCHEDULER_TOO_LONG, "longer_than_burst"},
		{SCHEDULER_NO_FLOW, "service_flow_removed"},
	};

	assert_int_equal(ARRAY_COUNT(refusals), SCHEDULER_VERDICTS - 1); /* all but queued */
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++)
		assert_string_equal(drop_name(ds_refusals[refusals[i].verdict]), refusals[i].name);
}

/* What the configuration says, and what stands for it where it says nothing. */
TEST(setup) {
	static const struct {
		const char *options;
		unsigned modems;
		uint32_t records; /* of the flow cache */
	} cases[] = {
		{"filter_default: deny\nmax_frame: 1600\n", 1, 4096},
		{"filter_default: permit\n", 33, 4096}, /* 33 * 128, and no more */
		{"", 64, 64 * 128},
		{"flow_cache: 0\n", 33, 0},
		{"flow_cache: 1\n", 1, 1},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct downstream *d = make(cases[i].options, cases[i].modems);
		bool is_first = i == 0;

		assert_int_equal(ds_flow_records(&sg), cases[i].records);
		assert_int_equal(d->upper.flow_cache.records != NULL, cases[i].records > 0);
		if (cases[i].records > 0)
			assert_int_equal(d->upper.flow_cache.mask, cases[i].records - 1);
		assert_int_equal(d->tables.modems[cases[i].modems - 1].filter_default,
				 is_first ? FILTER_DENY : FILTER_PERMIT);
		if (is_first)
			assert_int_equal(d->upper.max_frame, 1600 - RTE_ETHER_CRC_LEN);
		unmake(d);
	}
}

ALL_TESTS(fixture_start, fixture_stop)

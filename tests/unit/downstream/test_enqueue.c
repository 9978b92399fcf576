/* SPDX-License-Identifier: BSD-3-Clause */
/* Into the queues: how many bytes a packet counts, what is refused and why, and what a setup takes over. */
#include "test.h"

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "model/load/loader.h"
#include "pipeline/packet.h"

#include "fixture.h"
#include "packets.h"

#define BUFFER 10000

static const char head[] = "name: enqueue\nservice_group: 1\n%s"
			   "channels:\n  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1}\n"
			   "bonding_groups:\n  - {id: 1, channels: [1]}\nmodems:\n";
static const char modem[] =
	"  - {mac: '02:01:00:00:%02x:%02x', addresses: [10.0.%u.%u], bonding_group: 1,\n"
	"     security: {said: %u, cipher: none},\n"
	"     service_flows: [{id: %u, buffer: 10000 B, min_buffer: 10000 B}]}\n";

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

/* MULPI: a packet counts from the byte after the HCS to the end of its CRC. */
static void bytes_with_crc(void **state) {
	struct rte_mempool *packets = fixture_pool("packets", 2047, FIXTURE_ROOM);
	static const uint8_t frame[1500];

	(void)state;
	for (size_t size = 1000 - 8; size <= 1000; size++) {
		struct downstream *d = make("", 1);
		struct counters *c = &d->upper.counters;
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		unsigned fit = (unsigned)(BUFFER / (size + RTE_ETHER_CRC_LEN));

		for (uint16_t i = 0; i < 20; i++) {
			pkts[i] = fixture_packet(packets, frame, size);
			packet_meta(pkts[i])->flow = 0;
		}
		assert_int_equal(ds_enqueue(&d->upper, pkts, 20), 0);
		assert_int_equal(c->values[COUNTER_ENQUEUED], fit);
		assert_int_equal(c->drops[DROP_FLOW_BUFFER_FULL], 20 - fit);
		assert_int_equal(downstream_held(d), fit);
		unmake(d);
	}
	fixture_pool_end(packets);
}

static void refusals_by_name(void **state) {
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

	(void)state;
	assert_int_equal(ARRAY_COUNT(refusals), SCHEDULER_VERDICTS - 1); /* all but queued */
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++)
		assert_string_equal(drop_name(ds_refusals[refusals[i].verdict]), refusals[i].name);
}

/* What the configuration says, and what stands for it where it says nothing. */
static void setup(void **state) {
	struct downstream *d = make("filter_default: deny\nmax_frame: 1600\n", 1);

	(void)state;
	assert_int_equal(d->tables.modems[0].filter_default, FILTER_DENY);
	assert_int_equal(d->upper.max_frame, 1600 - RTE_ETHER_CRC_LEN);
	assert_int_equal(ds_flow_records(&sg), 4096);
	unmake(d);
	d = make("filter_default: permit\n", 33);
	assert_int_equal(d->tables.modems[32].filter_default, FILTER_PERMIT);
	assert_int_equal(ds_flow_records(&sg), 4096); /* 33 * 128, and no more */
	assert_int_equal(d->upper.flow_cache.mask, 4095);
	unmake(d);
	d = make("", 64);
	assert_int_equal(ds_flow_records(&sg), 64 * 128);
	assert_int_equal(d->upper.flow_cache.mask, 8191);
	unmake(d);
	d = make("flow_cache: 0\n", 33);
	assert_int_equal(ds_flow_records(&sg), 0);
	assert_null(d->upper.flow_cache.records);
	unmake(d);
	d = make("flow_cache: 1\n", 1);
	assert_int_equal(ds_flow_records(&sg), 1);
	unmake(d);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_with_crc),
		cmocka_unit_test(refusals_by_name),
		cmocka_unit_test(setup),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}

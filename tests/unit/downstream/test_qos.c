/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests qos.c: which channels, groups, modems and flows a service group passes to the scheduler. A
 * stub scheduler in this file records them. */
#include "model_kit.h"
#include "test_main.h"

#include <pthread.h>
#include <time.h>

#include <rte_malloc.h>

#include "downstream/qos.h"

#include "fixture.h"

#define FLOWS 4
#define QUEUED 1000 /* packets */
#define READ_NS UINT64_C(2000000000) /* enough to read during a change */

static const char text[] =
	"service_group: 9\n"
	"rphy: {core_ip: '2001:db8::1', rpd_ip: '2001:db8::2', mtu: 1700, flush: 70 us,\n"
	"       max_segments: 21}\n"
	"rate_limit: 8 Gbps\n"
	"channels:\n"
	"  - {id: 5, type: ofdm, rate: 1 Gbps, session: 1, psp_extra: none}\n"
	"  - {id: 6, type: ofdm, rate: 900 Mbps, session: 2, psp_extra: counter}\n"
	"  - {id: 7, type: sc-qam, rate: 40 Mbps, session: 3, psp_extra: static}\n"
	"bonding_groups: [{id: 8, channels: [7]}, {id: 9, channels: [6, 5]}]\n"
	"modems:\n"
	"  - mac: '02:01:00:00:00:01'\n"
	"    addresses: [10.0.0.1]\n"
	"    bonding_group: 8\n"
	"    security: {said: 1, cipher: none}\n"
	"    service_flows:\n"
	"      - {id: 11}\n"
	"      - {id: 12, dsid: 2, bonding_group: 9, priority: 5, weight: 17, aqm: wred,\n"
	"         max_sustained_rate: 30 Mbps, max_traffic_burst: 7001 B, peak_rate: 60 Mbps,\n"
	"         min_reserved_rate: 2 Mbps, min_reserved_packet: 99 B, min_buffer: 5001 B,\n"
	"         buffer: 10001 B, max_buffer: 20001 B, wred: {min_threshold: 3001 B,\n"
	"         max_threshold: 9001 B, max_probability_inverse: 16, weight: 3}}\n"
	"  - mac: '02:01:00:00:00:02'\n"
	"    addresses: [10.0.0.2]\n"
	"    bonding_group: 9\n"
	"    max_aggregate_rate: 50 Mbps\n"
	"    max_aggregate_burst: 8001 B\n"
	"    security: {said: 2, cipher: none}\n"
	"    service_flows:\n"
	"      - {id: 13, dsid: 3, aqm: docsis-pie, latency_target: 15 ms}\n"
	"      - {id: 14, state: provisioned}\n";

/* The stub scheduler and its received settings. */
static struct {
	struct scheduler_config config;
	struct scheduler_channel channels[3];
	struct scheduler_group groups[2];
	struct scheduler_modem modems[2];
	struct scheduler_flow flows[FLOWS];
	uint32_t group_channels[2][2];
	const char *refusal;
} stub;

struct scheduler *scheduler_create(const struct scheduler_config *c, const char **why) {
	*why = stub.refusal;
	if (stub.refusal != NULL)
		return NULL;
	assert_int_equal(c->channel_count, ARRAY_COUNT(stub.channels));
	assert_int_equal(c->group_count, ARRAY_COUNT(stub.groups));
	assert_int_equal(c->modem_count, ARRAY_COUNT(stub.modems));
	assert_int_equal(c->flow_count, FLOWS);
	stub.config = *c;
	memcpy(stub.channels, c->channels, sizeof(stub.channels));
	memcpy(stub.groups, c->groups, sizeof(stub.groups));
	memcpy(stub.modems, c->modems, sizeof(stub.modems));
	memcpy(stub.flows, c->flows, sizeof(stub.flows));
	for (size_t g = 0; g < ARRAY_COUNT(stub.groups); g++)
		memcpy(stub.group_channels[g], c->groups[g].channels,
		       c->groups[g].channel_count * sizeof(uint32_t));
	return (struct scheduler *)&stub;
}

void scheduler_free(struct scheduler *s) {
	assert_true(s == NULL || s == (struct scheduler *)&stub);
}

static struct downstream *downstream;
static struct clock now;
static struct loaded loaded;

static int create_downstream(void **state) {
	void *schedules[2] = {NULL, NULL};

	memset(&stub, 0, sizeof(stub));
	now.now = 0;
	loaded = load_text(text);
	if (loaded.mistakes > 0)
		fail_msg("%s", loaded.messages);
	downstream = rte_zmalloc("downstream", sizeof(*downstream), RTE_CACHE_LINE_SIZE);
	assert_non_null(downstream);
	downstream->upper.clock = &now;
	assert_int_equal(ds_tables_create(&downstream->tables, &loaded.sg, NULL, schedules), 0);
	return 0;
}

static int free_downstream(void **state) {
	qos_free(downstream);
	ds_tables_free(&downstream->tables);
	rte_free(downstream);
	unload(&loaded);
	return 0;
}

TEST(scheduler_gets_channels_groups_and_modems) {
	static const struct {
		uint64_t rate;
		unsigned frame_bytes; /* Ethernet, IPv6, session, PSP, extra bytes */
	} expected[] = {{1000000000, 14 + 40 + 4 + 4},
			{900000000, 14 + 40 + 4 + 4 + 2},
			{40000000, 14 + 40 + 4 + 4 + 2}};

	assert_int_equal(qos_create(downstream, &loaded.sg, QUEUED), 0);
	for (size_t c = 0; c < ARRAY_COUNT(expected); c++) {
		const struct scheduler_depi *depi = &stub.channels[c].depi;

		assert_int_equal(stub.channels[c].rate, expected[c].rate);
		assert_int_equal(depi->frame_bytes, expected[c].frame_bytes);
		assert_int_equal(depi->frame_bytes + depi->capacity, 14 + 1700);
		assert_int_equal(depi->entry_bytes, 2);
		assert_int_equal(depi->min_fragment, 16);
		assert_int_equal(depi->max_segments, 21);
		assert_int_equal(depi->flush_ns, 70000);
	}
	assert_int_equal(stub.config.rate_limit, 8000000000);
	assert_int_equal(stub.config.packet_limit, QUEUED);
	assert_int_equal(stub.groups[0].channel_count, 1);
	assert_int_equal(stub.group_channels[0][0], 2);
	assert_int_equal(stub.groups[1].channel_count, 2);
	assert_int_equal(stub.group_channels[1][0], 1);
	assert_int_equal(stub.group_channels[1][1], 0);
	assert_int_equal(stub.modems[0].aggregate.rate, 0);
	assert_int_equal(stub.modems[1].aggregate.rate, 50000000);
	assert_int_equal(stub.modems[1].aggregate.burst, 8001);
}

TEST(scheduler_gets_flows) {
	const struct scheduler_flow *f = stub.flows, *full = &stub.flows[1];

	assert_int_equal(qos_create(downstream, &loaded.sg, QUEUED), 0);
	assert_int_equal(full->group, 1);
	assert_int_equal(full->modem, 0);
	assert_int_equal(full->priority, 5);
	assert_int_equal(full->weight, 17);
	assert_int_equal(full->header_bytes, 6 + 5 + 6);
	assert_int_equal(full->sustained.rate, 30000000);
	assert_int_equal(full->sustained.burst, 7001);
	assert_int_equal(full->peak, 60000000);
	assert_int_equal(full->reserved, 2000000);
	assert_int_equal(full->reserved_packet, 99);
	assert_int_equal(full->min_buffer, 5001);
	assert_int_equal(full->buffer, 10001);
	assert_int_equal(full->max_buffer, 20001);
	assert_int_equal(full->aqm, SCHEDULER_WRED);
	assert_int_equal(full->wred.min_threshold, 3001);
	assert_int_equal(full->wred.max_threshold, 9001);
	assert_int_equal(full->wred.max_probability, 4096);
	assert_int_equal(full->wred.weight, 3);
	assert_int_equal(full->latency_target, 10000000);
	assert_int_equal(f[0].group, 0);
	assert_int_equal(f[0].header_bytes, 6 + 5 + 2);
	assert_int_equal(f[0].sustained.rate, 0);
	assert_int_equal(f[0].weight, 1);
	assert_int_equal(f[0].aqm, SCHEDULER_TAIL_DROP);
	assert_int_equal(f[2].modem, 1);
	assert_int_equal(f[2].group, 1);
	assert_int_equal(f[2].aqm, SCHEDULER_DOCSIS_PIE);
	assert_int_equal(f[2].latency_target, 15000000);
	/* provisioned flows are passed, too: they may become active */
	assert_int_equal(f[3].group, 1);
}

TEST(refusal_of_scheduler_fails_creation) {
	stub.refusal = "because";
	assert_int_equal(qos_create(downstream, &loaded.sg, QUEUED), -1);
	qos_free(downstream);
	stub.refusal = NULL;
	assert_int_equal(qos_create(downstream, &loaded.sg, QUEUED), 0);
}

/* The capacity is the sum of bytes at each rate for the time that it lasted. */
TEST(capacity_sums_rates_over_time) {
	struct ds_upper *u = &downstream->upper;

	assert_int_equal(qos_create(downstream, &loaded.sg, QUEUED), 0);
	assert_int_equal(qos_capacity(downstream, 2, 1000000000), 5000000);
	now.now = 2000000000;
	qos_capacity_change(u, 2, 8000000);
	assert_int_equal(qos_capacity(downstream, 2, 2000000000), 10000000);
	/* time before the change */
	assert_int_equal(qos_capacity(downstream, 2, 1000000000), 10000000);
	assert_int_equal(qos_capacity(downstream, 2, 5000000000), 13000000);
	now.now = 6000000000;
	qos_capacity_change(u, 2, 1000000000000);
	assert_int_equal(qos_capacity(downstream, 2, 6000000000), 14000000);
	/* a year at the highest rate */
	assert_int_equal(qos_capacity(downstream, 2, 6000000000 + 31536000000000000),
			 14000000 + 3942000000000000000);
}

/* A group that is added to a running server: its channels count from then on, not from the server's start. */
TEST(capacity_begins_at_creation) {
	now.now = 3000000000;
	assert_int_equal(qos_create(downstream, &loaded.sg, QUEUED), 0);
	for (uint32_t c = 0; c < 3; c++)
		assert_int_equal(qos_capacity(downstream, c, 3000000000), 0);
	assert_int_equal(qos_capacity(downstream, 2, 4000000000), 5000000);
	now.now = 5000000000;
	qos_capacity_change(&downstream->upper, 2, 8000000);
	assert_int_equal(qos_capacity(downstream, 2, 6000000000), 10000000 + 1000000);
}

static uint64_t monotonic_ns(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * CLOCK_NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Changes rates until the test has read enough, as the thread of the upper MAC does. */
static void *change_rates(void *arg) {
	bool *enough = arg;

	for (uint64_t i = 1; !__atomic_load_n(enough, __ATOMIC_ACQUIRE); i++) {
		__atomic_store_n(&now.now, now.now + 1000000, __ATOMIC_RELEASE);
		qos_capacity_change(&downstream->upper, 2, i % 3 * 8000000000);
	}
	return NULL;
}

/* A reader sees all members of one change, so that the count of bytes never falls. */
TEST(capacity_never_falls_while_rates_change) {
	bool enough = false;
	unsigned falls = 0;
	uint64_t last = 0;
	pthread_t thread;

	assert_int_equal(qos_create(downstream, &loaded.sg, QUEUED), 0);
	now.now = 1000000000;
	assert_int_equal(pthread_create(&thread, NULL, change_rates, &enough), 0);
	for (uint64_t end = monotonic_ns() + READ_NS; monotonic_ns() < end;) {
		uint64_t at = __atomic_load_n(&now.now, __ATOMIC_ACQUIRE);
		uint64_t bytes = qos_capacity(downstream, 2, at);

		falls += bytes < last;
		last = bytes;
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(falls, 0);
}

EACH_TEST(create_downstream, free_downstream)
ALL_TESTS(fixture_start, fixture_stop)

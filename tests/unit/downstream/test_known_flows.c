/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upper MAC with a cache of flows beside one without: random packets of few flows have the same
 * fate in both, bytes and counters too, with CPE limits, in all periods, and when the rules change.
 */
#include "test.h"

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "model/load/loader.h"
#include "pipeline/packet.h"
#include "wire/bytes.h"

#include "fixture.h"
#include "packets.h"
#include "random.h"

#define SIZE 80

enum { CACHED, PLAIN, OTHER_RULES, COUNT };

struct upper {
	struct service_group sg;
	struct downstream *d;
	struct clock clock;
};

static struct upper uppers[COUNT];
static struct rte_mempool *packets;
static struct random random_state = {.state = 5};

static const char text[] =
	"name: known\nservice_group: %d\nflow_cache: %d\ncpe_timeout: 1 ms\n"
	"filter_default: permit\n"
	"channels:\n  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1}\n"
	"bonding_groups:\n  - {id: 1, channels: [1]}\n"
	"filter_groups:\n"
	"  - id: 1\n    rules:\n"
	"      - {family: ipv4, action: %s, protocol: udp, destination_ports: 5-6}\n"
	"      - {family: ipv6, action: %s, source: '2001:db8:ffff::/48', protocol: tcp}\n"
	"  - id: 2\n    rules:\n"
	"      - {family: ipv4, action: permit, tos: 0x10/0x10}\n"
	"      - {family: ipv4, action: %s, source: 198.51.100.0/31}\n"
	"modems:\n"
	"  - {mac: '02:01:00:00:00:01', addresses: [10.0.0.1, 10.0.0.2, '2001:db8:0:1::1'],\n"
	"     cpe_limit: 1, filter_groups: [1, 2], bonding_group: 1,\n"
	"     security: {said: 1, cipher: none}, service_flows: [{id: 1}, {id: 2}, {id: 3}],\n"
	"     classifiers: [{family: ipv4, protocol: udp, destination_ports: '%d', service_flow: "
	"2},\n"
	"                   {family: ipv6, tos: 0x10/0x10, service_flow: 3}]}\n"
	"  - {mac: '02:01:00:00:00:02', addresses: [10.0.1.1, '2001:db8:0:2::1'], cpe_limit: 1,\n"
	"     filter_groups: [2], bonding_group: 1,\n"
	"     security: {said: 2, cipher: none}, service_flows: [{id: 4}, {id: 5}],\n"
	"     classifiers: [{family: ipv4, source: 198.51.100.2/31, service_flow: 5}]}\n";

static void upper_make(struct upper *u, int number, int records, const char *first,
		       const char *other, int port) {
	struct ds_resources r = {.upper_clock = &u->clock,
				 .lower_clock = &u->clock,
				 .queued_max = 1000,
				 .hand_over_max = 64};
	static void *const no_schedules[2];
	char filled[4096];

	r.schedules = no_schedules;
	snprintf(filled, sizeof(filled), text, number, records, first, other, first, port);
	group_load(&u->sg, filled);
	u->d = downstream_create(&u->sg, &r);
	assert_non_null(u->d);
}

static void upper_free(struct upper *u) {
	downstream_free(u->d);
	service_group_free(&u->sg);
}

static int make(void **state) {
	(void)state;
	packets = fixture_pool("packets", 4 * PIPELINE_BURST - 1, FIXTURE_ROOM);
	upper_make(&uppers[CACHED], 1, 64, "deny", "permit", 5);
	upper_make(&uppers[PLAIN], 2, 0, "deny", "permit", 5);
	upper_make(&uppers[OTHER_RULES], 3, 0, "permit", "deny", 7);
	return 0;
}

static int unmake(void **state) {
	(void)state;
	for (unsigned i = 0; i < COUNT; i++)
		upper_free(&uppers[i]);
	fixture_pool_end(packets);
	return 0;
}

/* Few values of each field, so that flows come again, and differ in one field only. */
static size_t random_frame(uint8_t *frame) {
	const struct service_group *sg = &uppers[CACHED].sg;
	struct random *r = &random_state;
	const struct modem *m = &sg->modems[random_below(r, 2)];
	uint32_t address = random_below(r, (uint32_t)m->address_count + 1),
		 kind = random_below(r, 10);
	size_t size = SIZE;

	if (kind == 0)
		return packet_llc(frame, SIZE, 0, m->mac);
	if (address == m->address_count)
		return packet_ipv4(frame, SIZE, 0, (const uint8_t[4]){10, 9, 9, 9});
	size = packet_for(m, address, frame, SIZE, 0);
	if (m->addresses[address].family == 4) {
		frame[15] = random_below(r, 2) ? 0x10 : 0;
		frame[23] = random_below(r, 2) ? 17 : 6;
		store_be32(frame + 26, 0xc6336400 + random_below(r, 4));
		packet_ipv4_port(frame, (uint16_t)random_between(r, 5, 7));
		packet_ipv4_checksum(frame);
	} else {
		frame[15] = random_below(r, 2) ? 0x00 : 0xf0;
		frame[14] = random_below(r, 2) ? 0x60 : 0x61;
		frame[20] = random_below(r, 2) ? 17 : 6;
		store_be16(frame + 26, random_below(r, 2) ? 0xffff : 0);
	}
	return size;
}

static uint16_t run(struct upper *u, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *upper = &u->d->upper;

	n = ds_known_flows(upper, pkts, ds_parse(upper, pkts, n));
	return ds_classify(upper, pkts, ds_filter(upper, pkts, ds_modem_lookup(upper, pkts, n)));
}

static void same_burst(struct rte_mbuf **a, struct rte_mbuf **b, uint16_t n) {
	for (uint16_t i = 0; i < n; i++) {
		struct packet_meta *x = packet_meta(a[i]), *y = packet_meta(b[i]);

		assert_int_equal(x->modem, y->modem);
		assert_int_equal(x->flow, y->flow);
		assert_memory_equal(rte_pktmbuf_mtod(a[i], void *), rte_pktmbuf_mtod(b[i], void *),
				    SIZE);
		rte_pktmbuf_free(a[i]);
		rte_pktmbuf_free(b[i]);
	}
}

static void burst(uint64_t *known) {
	struct rte_mbuf *a[PIPELINE_CAPACITY], *b[PIPELINE_CAPACITY];
	uint16_t n = (uint16_t)random_below(&random_state, PIPELINE_BURST + 1), kept;

	for (uint16_t i = 0; i < n; i++) {
		uint8_t frame[PACKET_MAX] = {0};
		size_t size = random_frame(frame);

		a[i] = fixture_packet(packets, frame, size);
		b[i] = fixture_packet(packets, frame, size);
	}
	kept = run(&uppers[CACHED], a, n);
	assert_int_equal(run(&uppers[PLAIN], b, n), kept);
	for (uint16_t i = 0; i < kept; i++)
		*known += packet_meta(a[i])->row == PACKET_NO_ROW;
	same_burst(a, b, kept);
	assert_memory_equal(&uppers[CACHED].d->upper.counters, &uppers[PLAIN].d->upper.counters,
			    sizeof(struct counters));
}

static void pass_time(void) {
	uint64_t step = random_below(&random_state, 20) == 0 ? random_below(&random_state, 3000000)
							     : random_below(&random_state, 30000);

	uppers[CACHED].clock.now += step;
	uppers[PLAIN].clock.now += step;
}

static void swap_rules(struct ds_upper *a, struct ds_upper *b) {
	struct rules filters = a->filters, classifiers = a->classifiers;

	a->filters = b->filters;
	a->classifiers = b->classifiers;
	b->filters = filters;
	b->classifiers = classifiers;
}

static void same_fate(void **state) {
	const struct counters *c = &uppers[PLAIN].d->upper.counters;
	uint64_t known = 0;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		burst(&known);
		pass_time();
	}
	assert_true(known > 10000);
	assert_true(c->values[COUNTER_CLASSIFIER_MATCHED] > known / 20);
	assert_true(c->values[COUNTER_FILTER_MATCHED_PERMIT] > known / 20);
	assert_true(c->drops[DROP_FILTER_DENY] > 1000);
	assert_true(c->drops[DROP_CPE_LIMIT] > 1000);
	assert_true(c->drops[DROP_UNKNOWN_DESTINATION] > 1000);
}

/* The cached one and the plain one have rules of their own; a third one's are put into both by turns. */
static void other_rules(void **state) {
	struct ds_upper *cached = &uppers[CACHED].d->upper, *plain = &uppers[PLAIN].d->upper;
	struct ds_upper others = *cached, *other = &uppers[OTHER_RULES].d->upper;
	uint64_t known = 0;

	(void)state;
	for (unsigned change = 0; change < 100; change++) {
		/* rules are only read, so that two may share them */
		cached->filters = change % 2 ? others.filters : other->filters;
		cached->classifiers = change % 2 ? others.classifiers : other->classifiers;
		swap_rules(plain, other);
		flow_cache_forget_all(&cached->flow_cache);
		for (unsigned i = 0; i < 20; i++) {
			burst(&known);
			pass_time();
		}
	}
	assert_true(known > 1000);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(same_fate, make, unmake),
		cmocka_unit_test_setup_teardown(other_rules, make, unmake),
	};

	return cmocka_run_group_tests(tests, fixture_start, NULL);
}

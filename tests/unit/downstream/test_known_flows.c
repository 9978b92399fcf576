/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the upper MAC with a flow cache to one without: random packets must have the same
 * result, bytes and counters. An inserted stage that drops or reorders packets must not affect the
 * others. */
#include "test_main.h"

#include "pipeline/packet.h"
#include "wire/bytes.h"

#include "lookup_kit.h"
#include "random.h"

#define SIZE 80
#define BURSTS 300 /* per position of the inserted stage */
#define NOWHERE RTE_DIM(stages) /* no inserted stage */

static const stage_fn stages[] = {ds_parse, ds_known_flows, ds_modem_lookup, ds_filter,
				  ds_classify};

enum { CACHED, PLAIN, COUNT };

struct upper {
	struct service_group sg;
	struct downstream *d;
	struct clock clock;
};

static struct upper uppers[COUNT];
static struct rte_mempool *packets;
static struct random rng;
static uint64_t known, forwarded; /* packets: of cached flows, not dropped */
static bool done[PIPELINE_BURST]; /* by serial number: dropped by the inserted stage, or checked */

static const char text[] =
	"name: known\nservice_group: %d\nflow_cache: %d\ncpe_timeout: 1 ms\n"
	"filter_default: permit\n"
	"channels:\n  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1}\n"
	"bonding_groups:\n  - {id: 1, channels: [1]}\n"
	"filter_groups:\n"
	"  - id: 1\n    rules:\n"
	"      - {family: ipv4, action: deny, protocol: udp, destination_ports: 5-6}\n"
	"      - {family: ipv6, action: permit, source: '2001:db8:ffff::/48', protocol: tcp}\n"
	"  - id: 2\n    rules:\n"
	"      - {family: ipv4, action: permit, tos: 0x10/0x10}\n"
	"      - {family: ipv4, action: deny, source: 198.51.100.0/31}\n"
	"  - {id: 3, rules: [{family: ipv4, action: permit, source: 198.51.100.2/32}]}\n"
	"  - {id: 4, rules: [{family: ipv6, action: deny, protocol: 60}]}\n"
	"modems:\n"
	"  - {mac: '02:01:00:00:00:01', addresses: [10.0.0.1, 10.0.0.2, '2001:db8:0:1::1'],\n"
	"     cpe_limit: %d, filter_groups: [1, 2, 3, 4], bonding_group: 1,\n"
	"     security: {said: 1, cipher: none}, service_flows: [{id: 1}, {id: 2}, {id: 3}],\n"
	"     classifiers: [{family: ipv4, protocol: udp, destination_ports: '5', service_flow: "
	"2},\n"
	"                   {family: ipv6, tos: 0x10/0x10, service_flow: 3}]}\n"
	"  - {mac: '02:01:00:00:00:02', addresses: [10.0.1.1, '2001:db8:0:2::1'], cpe_limit: 1,\n"
	"     filter_groups: [2], bonding_group: 1,\n"
	"     security: {said: 2, cipher: none}, service_flows: [{id: 4}, {id: 5}],\n"
	"     classifiers: [{family: ipv4, source: 198.51.100.2/31, service_flow: 5}]}\n";

static void create_upper(unsigned which, int records, int cpe_limit) {
	struct upper *u = &uppers[which];
	char config[4096];

	snprintf(config, sizeof(config), text, which + 1, records, cpe_limit);
	u->d = lookup_downstream(&u->sg, config, &u->clock);
}

static void create_all(int cpe_limit) {
	packets = fixture_pool_create("packets", 4 * PIPELINE_BURST - 1, FIXTURE_BUFFER_SIZE);
	create_upper(CACHED, 64, cpe_limit);
	create_upper(PLAIN, 0, cpe_limit);
	rng.state = 5;
}

static void free_all(void) {
	for (unsigned i = 0; i < COUNT; i++) {
		downstream_free(uppers[i].d);
		service_group_free(&uppers[i].sg);
	}
	fixture_pool_free(packets);
}

/* Writes a random frame. Fields have few values, so that flows repeat or are similar. */
static void random_frame(uint8_t *frame, uint32_t serial) {
	const struct modem *m = &uppers[CACHED].sg.modems[random_below(&rng, 2)];
	uint32_t address = random_below(&rng, (uint32_t)m->address_count + 1);

	if (random_below(&rng, 10) == 0) {
		packet_write_llc(frame, SIZE, serial, m->mac);
		return;
	}
	if (address == m->address_count) {
		packet_write_ipv4(frame, SIZE, serial, (const uint8_t[4]){10, 9, 9, 9});
		return;
	}
	packet_write_to_modem(m, address, frame, SIZE, serial);
	if (m->addresses[address].family == 4) {
		frame[15] = random_below(&rng, 2) ? 0x10 : 0;
		frame[23] = random_below(&rng, 2) ? 17 : 6;
		store_be32(frame + 26, 0xc6336400 + random_below(&rng, 4));
		packet_set_ipv4_port(frame, (uint16_t)random_between(&rng, 5, 7));
		packet_update_ipv4_checksum(frame);
		frame[24] ^= random_below(&rng, 16) == 0; /* parse drops it */
	} else {
		frame[15] = random_below(&rng, 2) ? 0x00 : 0xf0;
		frame[14] = random_below(&rng, 2) ? 0x60 : 0x61;
		frame[20] = random_below(&rng, 2) ? 17 : 6;
		store_be16(frame + 26, random_below(&rng, 2) ? 0xffff : 0);
		if (random_below(&rng, 4) > 0)
			return;
		frame[20] = 60; /* destination options before UDP */
		memcpy(frame + 62, frame + 54, 8);
		memcpy(frame + 54, (const uint8_t[]){17, 0, 1, 4, 0, 0, 0, 0}, 8);
	}
}

/* Runs all stages, and `inserted_stage` after the stage at index `position`. */
static uint16_t run_stages(struct upper *u, struct rte_mbuf **pkts, uint16_t n, unsigned position,
			   stage_fn inserted_stage) {
	for (unsigned s = 0; s < RTE_DIM(stages) && n > 0; s++) {
		n = stages[s](&u->d->upper, pkts, n);
		if (s == position && n > 0)
			n = inserted_stage(&u->d->upper, pkts, n);
	}
	return n;
}

/* Creates the same random packets twice. Returns their number. */
static uint16_t random_packets(struct rte_mbuf **a, struct rte_mbuf **b) {
	uint16_t n = (uint16_t)random_below(&rng, PIPELINE_BURST + 1);

	for (uint16_t i = 0; i < n; i++) {
		uint8_t frame[PACKET_MAX] = {0};

		random_frame(frame, i);
		a[i] = fixture_packet_create(packets, frame, SIZE);
		b[i] = fixture_packet_create(packets, frame, SIZE);
	}
	return n;
}

static uint32_t read_serial(struct rte_mbuf *m) {
	return packet_serial(rte_pktmbuf_mtod(m, uint8_t *));
}

static uint16_t drop_every_second(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (i % 2 == 0) {
			done[read_serial(pkts[i])] = true;
			drop(&u->counters, pkts[i], DROP_STOPPED);
			continue;
		}
		pkts[kept++] = pkts[i];
	}
	return kept;
}

static uint16_t reverse(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	for (uint16_t i = 0; i < n / 2; i++) {
		struct rte_mbuf *m = pkts[i];

		pkts[i] = pkts[n - 1 - i];
		pkts[n - 1 - i] = m;
	}
	return n;
}

/* The drop reason of the packet alone and without a cache; DROP_NONE: kept. */
static enum drop_reason find_drop_reason(struct rte_mbuf **m) {
	const struct counters *c = &uppers[PLAIN].d->upper.counters, before = *c;

	if (run_stages(&uppers[PLAIN], m, 1, NOWHERE, NULL) == 1)
		return DROP_NONE;
	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (c->drops[r] != before.drops[r])
			return (enum drop_reason)r;
	}
	fail_msg("a packet was dropped without a reason");
	return DROP_NONE;
}

/* Sends a burst with a cache and compares each packet with its result without one. */
static void check_burst(unsigned position, stage_fn inserted_stage) {
	const struct counters *c = &uppers[CACHED].d->upper.counters, before = *c;
	struct rte_mbuf *a[PIPELINE_CAPACITY], *b[PIPELINE_CAPACITY];
	uint64_t drops[DROP_REASONS + 1] = {0}; /* the last: DROP_NONE */
	enum drop_reason reasons[PIPELINE_BURST];
	uint16_t sent = random_packets(a, b), n, expected = 0;

	memset(done, 0, sizeof(done));
	n = run_stages(&uppers[CACHED], a, sent, position, inserted_stage);
	for (uint16_t i = 0; i < sent; i++) {
		reasons[i] = find_drop_reason(&b[i]);
		expected += reasons[i] == DROP_NONE && !done[i];
		drops[done[i] ? DROP_STOPPED : reasons[i]]++;
		if (done[i] && reasons[i] == DROP_NONE)
			rte_pktmbuf_free(b[i]);
	}
	assert_int_equal(n, expected);
	for (unsigned r = 0; r < DROP_REASONS; r++)
		assert_int_equal(c->drops[r] - before.drops[r], drops[r]);
	for (uint16_t i = 0; i < n; i++) {
		const struct packet_meta *x = packet_meta(a[i]), *y;
		uint32_t serial = read_serial(a[i]);

		assert_true(serial < sent && !done[serial] && reasons[serial] == DROP_NONE);
		done[serial] = true; /* each packet once */
		y = packet_meta(b[serial]);
		assert_int_equal(x->modem, y->modem);
		assert_int_equal(x->flow, y->flow);
		assert_memory_equal(rte_pktmbuf_mtod(a[i], void *),
				    rte_pktmbuf_mtod(b[serial], void *), SIZE);
		known += x->record == PACKET_NO_RECORD;
		rte_pktmbuf_free(a[i]);
		rte_pktmbuf_free(b[serial]);
	}
	forwarded += n;
}

TEST(cached_flows_have_same_result) {
	const struct counters *c;

	create_all(1);
	c = &uppers[PLAIN].d->upper.counters;
	for (unsigned i = 0; i < 3000; i++) {
		check_burst(NOWHERE, NULL);
		assert_memory_equal(c, &uppers[CACHED].d->upper.counters, sizeof(*c));
		uppers[CACHED].clock.now +=
			random_below(&rng, random_below(&rng, 20) == 0 ? 3000000 : 30000);
		uppers[PLAIN].clock.now = uppers[CACHED].clock.now;
	}
	assert_true(known > 10000);
	assert_true(c->values[COUNTER_CLASSIFIER_MATCHED] > known / 20);
	assert_true(c->values[COUNTER_FILTER_MATCHED_PERMIT] > known / 20);
	assert_true(c->drops[DROP_FILTER_DENY] > 1000);
	assert_true(c->drops[DROP_CPE_LIMIT] > 1000);
	assert_true(c->drops[DROP_UNKNOWN_DESTINATION] > 1000);
	free_all();
}

TEST(inserted_stage_does_not_affect_other_packets) {
	static const stage_fn inserted[] = {drop_every_second, reverse};

	for (unsigned i = 0; i < 2 * NOWHERE; i++) {
		create_all(64);
		forwarded = 0;
		for (unsigned k = 0; k < BURSTS; k++)
			check_burst(i / 2, inserted[i % 2]);
		assert_true(forwarded > BURSTS * PIPELINE_BURST / 8);
		free_all();
	}
}

/* Sends each packet twice to both: the cache knows its flow the second time. */
TEST(icmp_counts_as_ip_and_icmp) {
	static const struct {
		uint8_t modem, address, protocol;
		uint64_t counts[5]; /* matched, of these IPv4, IPv6 and both ICMPs, unmatched */
	} cases[] = {{1, 0, 17, {1, 1}},
		     {1, 0, 1, {1, 1, 0, 1}},
		     {0, 2, 17, {1, 0, 1}},
		     {0, 2, 58, {1, 0, 1, 1}}};

	create_all(64);
	for (size_t i = 0; i < 2 * COUNT * RTE_DIM(cases); i++) {
		struct upper *u = &uppers[i % COUNT];
		const struct modem *m = &u->sg.modems[cases[i / 4].modem];
		const uint64_t *counts = &u->d->upper.counters.values[COUNTER_CLASSIFIER_MATCHED];
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		uint8_t frame[PACKET_MAX];

		packet_write_to_modem(m, cases[i / 4].address, frame, SIZE, 0);
		if (cases[i / 4].address == 0) { /* IPv4 */
			frame[23] = cases[i / 4].protocol;
			store_be32(frame + 26, 0xc6336402);
			packet_update_ipv4_checksum(frame);
		} else {
			frame[20] = cases[i / 4].protocol;
			frame[14] = 0x61;
		}
		u->d->upper.counters = (struct counters){0};
		pkts[0] = fixture_packet_create(packets, frame, SIZE);
		assert_int_equal(run_stages(u, pkts, 1, NOWHERE, NULL), 1);
		rte_pktmbuf_free(pkts[0]);
		assert_memory_equal(counts, cases[i / 4].counts, sizeof(cases[i / 4].counts));
	}
	free_all();
}

ALL_TESTS(fixture_start, NULL)

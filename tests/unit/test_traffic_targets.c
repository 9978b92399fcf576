/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets that are made for a configuration do what they are made for: by the evaluator, which
 * itself is held against cases worked out by hand.
 */
#include "evaluate.h"
#include "generator.h"
#include "model/loader.h"
#include "platform/platform.h"
#include "targets.h"
#include "test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static struct service_group sg;
static struct targets targets;
static struct rte_mempool *pool;

/* One modem with 10.0.0.1 and 2001:db8:0:1::1. */
static void load(const char *filter_default, const char *rules, const char *classifiers) {
	char text[8192];
	int size = snprintf(
		text, sizeof(text),
		"name: t\n"
		"service_group: 1\n"
		"ports:\n"
		"  network: {device: a, queue_size: 1024}\n"
		"  rphy: {device: b, queue_size: 1024}\n"
		"max_frame: 2000\n"
		"threads: {downstream: 1ds1t, main_core: 0, upper_mac_core: 0, lower_mac_core: 0}\n"
		"rphy: {core_mac: \"02:00:00:00:00:01\", rpd_mac: \"02:00:00:00:00:02\", "
		"core_ip: 192.168.1.1, rpd_ip: 192.168.1.2, mtu: 1500, dscp: 4, ttl: 64, "
		"flush: 50 us, max_segments: 16}\n"
		"rate_limit: 10 Gbps\n"
		"cpe_timeout: 300 s\n"
		"filter_default: %s\n"
		"channels:\n"
		"  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1, pseudowire: psp-depi, "
		"psp_extra: none, profile: 0}\n"
		"bonding_groups: [{id: 1, channels: [1]}]\n"
		"filter_groups:\n"
		"  - id: 1\n"
		"    rules:\n%s"
		"modems:\n"
		"  - mac: \"02:01:00:00:00:01\"\n"
		"    addresses: [10.0.0.1, \"2001:db8:0:1::1\", 10.0.0.2]\n"
		"    cpe_limit: 2\n"
		"    filter_groups: [1]\n"
		"    bonding_group: 1\n"
		"    security: {said: 1, cipher: none, key_sequence: 0}\n"
		"    service_flows:\n"
		"      - {id: 1, priority: 0}\n"
		"      - {id: 2, priority: 1}\n"
		"      - {id: 3, priority: 2}\n"
		"    classifiers:\n%s",
		filter_default, rules, classifiers);

	assert_true(size > 0 && (size_t)size < sizeof(text));
	assert_int_equal(service_group_load_text("test", text, (size_t)size, &sg, stderr), 0);
}

static int unload(void **state) {
	(void)state;
	targets_free(&targets);
	service_group_free(&sg);
	return 0;
}

#define SOME_RULES                                                                                 \
	"      - {family: ipv4, action: deny, source: 198.18.1.0/25}\n"                           \
	"      - {family: ipv4, action: permit, source: 198.18.0.0/15, protocol: udp, "           \
	"destination_ports: 135-139, tos: 0xb8/0xfc}\n"                                            \
	"      - {family: llc, action: deny, ethertype: 0x0800}\n"                                                   \
	"      - {family: ipv6, action: deny, source: \"2001:db8:8000::/33\", "                   \
	"source_ports: 7}\n"                                                                      \
	"      - {family: ipv4, action: deny, protocol: tcp}\n"
#define SOME_CLASSIFIERS                                                                           \
	"      - {family: ipv4, destination_ports: 136, service_flow: 3}\n"                       \
	"      - {family: ipv4, destination_ports: 100-200, service_flow: 2}\n"                   \
	"      - {family: ipv6, protocol: icmpv6, service_flow: 3}\n"

struct question {
	unsigned family;
	const char *source;
	uint8_t protocol;
	uint8_t tos;
	uint16_t source_port;
	uint16_t destination_port;
	size_t rule; /* expected */
	enum filter_action action;
	size_t classifier;
	uint32_t flow;
};

static void the_evaluator_agrees_with_paper(void **state) {
	static const struct question questions[] = {
		{4, "198.18.1.127", 17, 0xb8, 1, 135, 0, FILTER_DENY, 1, 1},
		{4, "198.18.1.128", 17, 0xb8, 1, 135, 1, FILTER_PERMIT, 1, 1},
		{4, "198.19.255.255", 17, 0xbb, 1, 136, 1, FILTER_PERMIT, 0, 2},
		{4, "198.20.0.0", 17, 0xb8, 1, 139, NO_RULE, FILTER_PERMIT, 1, 1},
		{4, "198.18.2.1", 17, 0xb4, 1, 139, NO_RULE, FILTER_PERMIT, 1, 1},
		{4, "198.18.2.1", 17, 0xb8, 1, 134, NO_RULE, FILTER_PERMIT, 1, 1},
		{4, "198.18.2.1", 17, 0xb8, 1, 140, NO_RULE, FILTER_PERMIT, 1, 1},
		{4, "198.18.2.1", 17, 0xb8, 1, 99, NO_RULE, FILTER_PERMIT, NO_RULE, 0},
		{4, "198.18.2.1", 17, 0xb8, 1, 201, NO_RULE, FILTER_PERMIT, NO_RULE, 0},
		{4, "198.18.2.1", 6, 0xb8, 1, 135, 4, FILTER_DENY, 1, 1},
		{6, "2001:db8:8000::1", 17, 0, 7, 1, 3, FILTER_DENY, NO_RULE, 0},
		{6, "2001:db8:7fff::1", 17, 0, 7, 1, NO_RULE, FILTER_PERMIT, NO_RULE, 0},
		{6, "2001:db8:ffff::1", 17, 0, 8, 1, NO_RULE, FILTER_PERMIT, NO_RULE, 0},
		{6, "2001:db8:ffff::1", 58, 0, 0, 0, NO_RULE, FILTER_PERMIT, 2, 2},
	};

	(void)state;
	load("permit", SOME_RULES, SOME_CLASSIFIERS);
	for (size_t i = 0; i < ARRAY_COUNT(questions); i++) {
		const struct question *q = &questions[i];
		uint8_t source[16];
		struct frame_fields fields = {
			.kind = q->family == 4 ? FRAME_IPV4 : FRAME_IPV6,
			.family = (uint8_t)q->family,
			.source = source,
			.destination = sg.modems[0].addresses[q->family == 4 ? 0 : 1].bytes,
			.protocol = q->protocol,
			.tos = q->tos,
			.source_port = q->source_port,
			.destination_port = q->destination_port,
		};
		struct evaluation e;

		assert_int_equal(inet_pton(q->family == 4 ? AF_INET : AF_INET6, q->source, source),
				 1);
		e = evaluate(&sg, &sg.modems[0], &fields);
		assert_int_equal(e.rule, q->rule);
		assert_int_equal(e.action, q->action);
		assert_int_equal(e.classifier, q->classifier);
		assert_int_equal(e.flow, q->flow);
	}
}

/* The Internet checksum of RFC 1071, the slow way. */
static uint16_t internet_sum(const uint8_t *p, size_t size, uint32_t sum) {
	for (size_t i = 0; i < size; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void upper_checksum_check(const uint8_t *frame, size_t size, const struct frame_fields *f) {
	size_t ip = f->family == 4 ? 20 : 40;
	size_t addresses = f->family == 4 ? 8 : 32;
	const uint8_t *upper = frame + 14 + ip;
	size_t upper_size = size - 14 - ip;
	uint32_t pseudo = f->protocol + (uint32_t)upper_size;

	if (f->protocol != 6 && f->protocol != 17)
		return;
	if (f->protocol == 17)
		assert_int_equal(load_be16(upper + 4), upper_size);
	if (f->protocol == 17 && f->family == 4) {
		assert_int_equal(load_be16(upper + 6), 0);
		return;
	}
	pseudo += internet_sum(f->source, addresses, 0);
	assert_int_equal(internet_sum(upper, upper_size, pseudo), 0xffff);
}

/* A packet of the target is what its class says, for any size. */
static void target_check(const struct target *t, const struct pattern *pattern, uint32_t size) {
	const struct packet_tag tag = {0x12345678, 1, size, 0x1122334455667788};
	uint32_t start = pattern_start(t->stream, size);
	uint8_t frame[PACKET_SIZE_MAX + PACKET_START_MAX];
	struct frame_fields fields;
	struct packet_tag read;
	struct evaluation e;

	packet_start_write(&t->template, &tag, pattern, start, size, frame);
	memcpy(frame + t->min_size, pattern->bytes + start, size - t->min_size);
	assert_int_equal(frame_parse(frame, size, &fields), FRAME_GOOD);
	if (fields.family == 4)
		assert_true(ipv4_checksum_good(frame + 14));
	upper_checksum_check(frame, size, &fields);
	packet_tag_read(frame + packet_tag_find(frame, size), &read);
	assert_true(read.magic == tag.magic && read.target == tag.target &&
		    read.sequence == tag.sequence && read.tsc == tag.tsc);
	e = evaluate(&sg, &sg.modems[t->modem], &fields);
	assert_int_equal(e.action, FILTER_PERMIT);
	assert_int_equal(targets.first_stream[t->modem] + e.flow, t->stream);
	switch (t->class) {
	case CLASS_UNMATCHED:
		assert_true(e.rule == NO_RULE && e.classifier == NO_RULE);
		break;
	case CLASS_PERMIT: assert_true(e.rule != NO_RULE); break;
	case CLASS_CLASSIFIED: assert_true(e.classifier != NO_RULE); break;
	default: fail();
	}
}

static void create(void) {
	static struct pattern pattern;
	struct random random = {11};

	pattern_create(&pattern, &random);
	assert_int_equal(targets_create(&targets, &sg, 1), 0);
	for (uint32_t i = 0; i < targets.count; i++) {
		target_check(&targets.all[i], &pattern, targets.all[i].min_size);
		for (uint32_t size = 300; size < 306; size++)
			target_check(&targets.all[i], &pattern, size);
		target_check(&targets.all[i], &pattern, PACKET_SIZE_MAX);
	}
}

static uint32_t count_of(enum traffic_class class) {
	return targets.any[class].count;
}

static void each_class_has_its_targets(void **state) {
	(void)state;
	load("permit", SOME_RULES, SOME_CLASSIFIERS);
	create();
	/* Two addresses are within the CPE limit; IPv6 has no permit rule, and one flow less. */
	assert_int_equal(count_of(CLASS_UNMATCHED), 2);
	assert_int_equal(count_of(CLASS_PERMIT), 1);
	assert_int_equal(count_of(CLASS_CLASSIFIED), 3);
	assert_int_equal(targets.count, 6);
	assert_int_equal(targets.stream_count, 3);
	for (uint32_t i = 0; i < targets.count; i++)
		assert_memory_not_equal(targets.all[i].template.headers + 14 + 16,
					sg.modems[0].addresses[2].bytes, 4);
}

static void shadowed_rules_have_no_target(void **state) {
	(void)state;
	load("permit",
	     "      - {family: ipv4, action: deny, source: 198.18.0.0/15}\n"
	     "      - {family: ipv4, action: permit, source: 198.18.7.0/24}\n",
	     "      - {family: ipv4, destination_ports: 10-19, service_flow: 2}\n"
	     "      - {family: ipv4, destination_ports: 12-15, service_flow: 3}\n");
	create();
	assert_int_equal(count_of(CLASS_PERMIT), 0);
	assert_int_equal(count_of(CLASS_CLASSIFIED), 1);
	assert_int_equal(count_of(CLASS_UNMATCHED), 2);
}

/* What is left of a rule between others is found at their edges. */
static void narrow_remains_of_rules_are_found(void **state) {
	(void)state;
	load("permit",
	     "      - {family: ipv4, action: deny, destination_ports: 1000-1776}\n"
	     "      - {family: ipv4, action: deny, destination_ports: 1778-1999}\n"
	     "      - {family: ipv4, action: permit, protocol: udp, "
	     "destination_ports: 1000-1999}\n",
	     "      - {family: ipv4, protocol: gre, service_flow: 2}\n");
	create();
	assert_int_equal(count_of(CLASS_PERMIT), 1);
	assert_int_equal(count_of(CLASS_CLASSIFIED), 1);
}

/* The usual strangers meet rules here, and so other packets stand for "unmatched". */
static void unmatched_packets_are_searched(void **state) {
	(void)state;
	load("permit",
	     "      - {family: ipv4, action: deny, source: 203.0.113.0/24}\n"
	     "      - {family: ipv4, action: permit, destination_ports: 40000-65535}\n"
	     "      - {family: ipv6, action: deny, source: \"2001:db8::/32\"}\n",
	     "      - {family: ipv6, protocol: udp, service_flow: 2}\n");
	create();
	assert_int_equal(count_of(CLASS_UNMATCHED), 2);
}

static void with_default_deny_only_permitted_packets_are_sent(void **state) {
	(void)state;
	load("deny", "      - {family: ipv4, action: permit, source: 192.0.2.0/24, protocol: udp}\n",
	     "      - {family: ipv4, source: 192.0.2.128/25, service_flow: 2}\n");
	create();
	assert_int_equal(count_of(CLASS_UNMATCHED), 0);
	assert_int_equal(count_of(CLASS_PERMIT), 1);
	assert_int_equal(count_of(CLASS_CLASSIFIED), 1);
	/* The share of the class that has none falls to another. */
	assert_int_equal(targets_next(&targets, CLASS_UNMATCHED, 64)->class, CLASS_PERMIT);
}

static void sizes_choose_the_family(void **state) {
	(void)state;
	load("permit", SOME_RULES, SOME_CLASSIFIERS);
	create();
	for (int i = 0; i < 100; i++) {
		const struct target *t = targets_next(&targets, CLASS_UNMATCHED, 64);

		assert_non_null(t);
		assert_true(t->min_size <= 64);
	}
	/* IPv6 over UDP takes part from 84 bytes on. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(targets_next(&targets, CLASS_UNMATCHED, 84)->min_size <= 84, 1);
	assert_int_not_equal(targets_next(&targets, CLASS_UNMATCHED, 84),
			     targets_next(&targets, CLASS_UNMATCHED, 84));
	assert_null(targets_next(&targets, CLASS_UNMATCHED, 61));
}

static struct generator *generator(void) {
	struct generator_options options = {
		.permit_permille = 100,
		.classify_permille = 100,
		.seed = 4,
		.pool = pool,
	};
	struct generator *g;
	char error[128];
	struct mix mix;

	assert_int_equal(mix_parse("imix", 1996, &mix, error, sizeof(error)), 0);
	options.mix = &mix;
	g = generator_create(&sg, &options);
	return g;
}

static void generated_traffic_has_the_shares(void **state) {
	struct rte_mbuf *packets[GENERATOR_BURST];
	unsigned sizes[1281] = {0};
	struct generator *g;
	uint32_t *next;
	uint64_t bytes;

	(void)state;
	load("permit", SOME_RULES, SOME_CLASSIFIERS);
	g = generator();
	next = calloc(g->targets.stream_count, sizeof(*next));
	for (unsigned burst = 0; burst < 100; burst++) {
		assert_int_equal(generator_burst(g, burst, packets, 20, &bytes), 20);
		for (unsigned i = 0; i < 20; i++) {
			const uint8_t *frame = rte_pktmbuf_mtod(packets[i], const uint8_t *);
			struct packet_tag tag;

			sizes[packets[i]->pkt_len]++;
			packet_tag_read(frame + packet_tag_find(frame, packets[i]->pkt_len), &tag);
			assert_int_equal(tag.magic, g->magic);
			assert_int_equal(tag.tsc, burst);
			assert_int_equal(tag.sequence,
					 next[g->targets.all[tag.target].stream]++);
		}
		rte_pktmbuf_free_bulk(packets, 20);
	}
	assert_int_equal(sizes[84], 300);
	assert_int_equal(sizes[256], 200);
	assert_int_equal(sizes[1280], 1500);
	assert_int_equal(g->by_class[CLASS_UNMATCHED], 1600);
	assert_int_equal(g->by_class[CLASS_PERMIT], 200);
	assert_int_equal(g->by_class[CLASS_CLASSIFIED], 200);
	assert_int_equal(g->packets, 2000);
	assert_int_equal(g->bytes, 300 * 84 + 200 * 256 + 1500 * 1280);
	free(next);
	generator_free(g);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void packets_taken_back_were_never_made(void **state) {
	struct rte_mbuf *packets[GENERATOR_BURST];
	struct generator *g;
	uint32_t *sent;
	uint64_t bytes;

	(void)state;
	load("permit", SOME_RULES, SOME_CLASSIFIERS);
	g = generator();
	sent = calloc(g->targets.stream_count, sizeof(*sent));
	assert_int_equal(generator_burst(g, 1, packets, 32, &bytes), 32);
	generator_take_back(g, packets + 20, 12);
	rte_pktmbuf_free_bulk(packets, 20);
	assert_int_equal(g->packets, 20);
	assert_int_equal(g->by_class[0] + g->by_class[1] + g->by_class[2], 20);
	memcpy(sent, g->sent, g->targets.stream_count * sizeof(*sent));
	assert_int_equal(generator_burst(g, 1, packets, 32, &bytes), 32);
	generator_take_back(g, packets, 32);
	assert_memory_equal(sent, g->sent, g->targets.stream_count * sizeof(*sent));
	free(sent);
	generator_free(g);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

static void a_configuration_that_lets_nothing_pass_is_refused(void **state) {
	(void)state;
	load("deny", "      - {family: ipv4, action: deny}\n",
	     "      - {family: ipv4, destination_ports: 1, service_flow: 2}\n");
	assert_null(generator());
}

static int start(void **state) {
	struct platform_options options = {.program = "test", .memory_mb = 256};

	(void)state;
	if (platform_start(&options) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("test", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

static int stop(void **state) {
	(void)state;
	platform_stop();
	return 0;
}

#define test(function) cmocka_unit_test_teardown(function, unload)

int main(void) {
	const struct CMUnitTest tests[] = {
		test(the_evaluator_agrees_with_paper),
		test(each_class_has_its_targets),
		test(shadowed_rules_have_no_target),
		test(narrow_remains_of_rules_are_found),
		test(unmatched_packets_are_searched),
		test(with_default_deny_only_permitted_packets_are_sent),
		test(sizes_choose_the_family),
		test(generated_traffic_has_the_shares),
		test(packets_taken_back_were_never_made),
		test(a_configuration_that_lets_nothing_pass_is_refused),
	};

	return cmocka_run_group_tests(tests, start, stop);
}

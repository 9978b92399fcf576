/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the generator: targets of filter rules and classifiers, flows, exact shares per class. */

#include "checksums.h"
#include "core/evaluate.h"
#include "core/generator.h"
#include "test_main.h"
#include "traffic_config.h"
#include "wire/ip.h"

#define BURST 20

/* The key of a flow, and its class. */
struct tuple {
	uint8_t addresses[32];
	uint16_t ports[2];
	uint8_t protocol;
	uint8_t family;
	uint32_t class;
};

static struct generator *make_generator(const char *sizes, uint32_t flows) {
	struct generator_options options = {
		.permit_permille = 100,
		.classify_permille = 100,
		.seed = 4,
		.flows = flows,
		.pool = pool,
	};
	char error[128];
	struct mix mix;

	assert_int_equal(mix_parse(sizes, 1996, &mix, error, sizeof(error)), 0);
	options.mix = &mix;
	return generator_create(&sg, &options);
}

static void assert_class(uint32_t class, const struct evaluation *e) {
	assert_int_equal(e->action, FILTER_PERMIT);
	switch (class) {
	case CLASS_UNMATCHED: assert_true(e->group == NO_RULE && e->classifier == NO_RULE); break;
	case CLASS_PERMIT: assert_true(e->group != NO_RULE); break;
	case CLASS_CLASSIFIED: assert_true(e->classifier != NO_RULE); break;
	default: fail();
	}
}

static void assert_proven(const struct generator *g, uint8_t *frame, uint32_t size) {
	const struct target *target;
	struct packet_tag tag;
	struct arrived out;

	packet_tag_read(frame + packet_tag_find(frame, size), &tag);
	target = targets_of(&g->targets, tag.target);
	assert_int_equal(traffic_verify(g, target->stream, frame, size, &out), CORRUPTION_NONE);
	assert_int_equal(out.sequence, tag.sequence);
	/* changes of source address, ports or tag, as of another flow, are detected */
	for (size_t at = 26; at < 39; at += at == 29 ? 5 : 1) {
		size_t byte = at < 38 ? at : (size_t)target->template.size + 7;

		frame[byte] ^= 1;
		assert_int_not_equal(traffic_verify(g, target->stream, frame, size, &out),
				     CORRUPTION_NONE);
		frame[byte] ^= 1;
	}
}

static struct tuple check_packet(const struct generator *g, uint8_t *frame, uint32_t size) {
	struct tuple t = {.class = 0};
	struct frame_fields fields;
	struct packet_tag tag;
	struct evaluation e;
	size_t bytes;

	assert_int_equal(frame_parse(frame, size, &fields), FRAME_GOOD);
	assert_checksums_valid(frame, &fields);
	e = evaluate(&sg, &sg.modems[0], &fields);
	packet_tag_read(frame + packet_tag_find(frame, size), &tag);
	t.class = targets_of(&g->targets, tag.target)->class;
	assert_class(t.class, &e);
	assert_int_equal(e.flow, targets_of(&g->targets, tag.target)->stream);
	bytes = ip_address_size(fields.family);
	assert_memory_not_equal(fields.destination, sg.modems[0].addresses[2].bytes, 4);
	memcpy(t.addresses, fields.source, bytes);
	memcpy(t.addresses + 16, fields.destination, bytes);
	t.ports[0] = fields.source_port;
	t.ports[1] = fields.destination_port;
	t.protocol = fields.protocol;
	t.family = fields.family;
	return t;
}

static int compare(const void *a, const void *b) {
	return memcmp(a, b, sizeof(struct tuple));
}

/* Sends `packets`, verifies these, and counts their flows by class. Returns the number of flows.
 * Asserts that the flows of a class have the same number of packets, or one more. */
static uint32_t count_flows(struct generator *g, uint32_t packets, uint32_t by_class[CLASS_COUNT]) {
	struct tuple *tuples = calloc(packets, sizeof(*tuples));
	uint32_t max[CLASS_COUNT] = {0}, min[CLASS_COUNT] = {packets, packets, packets};
	struct rte_mbuf *burst[BURST];
	uint32_t flows = 0, same = 0;
	uint64_t bytes;

	memset(by_class, 0, CLASS_COUNT * sizeof(*by_class));
	assert_int_equal(packets % BURST, 0);
	for (uint32_t n = 0; n < packets; n += BURST) {
		assert_int_equal(generator_burst(g, n, burst, BURST, &bytes), BURST);
		for (uint32_t i = 0; i < BURST; i++) {
			uint8_t *frame = rte_pktmbuf_mtod(burst[i], uint8_t *);

			tuples[n + i] = check_packet(g, frame, burst[i]->pkt_len);
			if (n % (50 * BURST) == 0)
				assert_proven(g, frame, burst[i]->pkt_len);
		}
		rte_pktmbuf_free_bulk(burst, BURST);
	}
	qsort(tuples, packets, sizeof(*tuples), compare);
	for (uint32_t i = 0; i < packets; i++) {
		uint32_t class = tuples[i].class;

		same++;
		if (i + 1 < packets && compare(&tuples[i], &tuples[i + 1]) == 0)
			continue;
		flows++;
		by_class[class]++;
		max[class] = same > max[class] ? same : max[class];
		min[class] = same < min[class] ? same : min[class];
		same = 0;
	}
	for (int c = 0; c < CLASS_COUNT; c++)
		assert_true(by_class[c] == 0 || max[c] - min[c] <= 1);
	free(tuples);
	return flows;
}

TEST(configured_number_of_flows_is_sent) {
	static const uint32_t counts[] = {3, 4, 6, 7, 100, 1000, 65536, 200000};
	uint32_t by_class[CLASS_COUNT];

	traffic_config_load("permit", EXAMPLE_RULES, EXAMPLE_CLASSIFIERS);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint32_t n = counts[i];
		uint32_t packets = n < 100 ? 400 : (n + n / 4 + 39) / 20 * 20;
		struct generator *g = make_generator("256", n);

		assert_non_null(g);
		assert_int_equal(g->targets.flow_count, n);
		assert_int_equal(count_flows(g, packets, by_class), n);
		/* the shares of packets are exact for any number of flows */
		assert_int_equal(g->by_class[CLASS_PERMIT], packets / 10);
		assert_int_equal(g->by_class[CLASS_CLASSIFIED], packets / 10);
		if (n >= 100) {
			assert_in_range(by_class[CLASS_PERMIT], n / 10, n / 10 + 1);
			assert_in_range(by_class[CLASS_CLASSIFIED], n / 10, n / 10 + 1);
		}
		generator_free(g);
	}
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

/* Permits ten source ports of one address. */
#define TEN_PORTS                                                       \
	"      - {family: ipv4, action: permit, source: 192.0.2.1/32, " \
	"protocol: udp, source_ports: 1000-1009, destination_ports: 53}\n"
/* Permits one source port, 16 source addresses and two destination ports. */
#define ONE_PORT                                                        \
	"      - {family: ipv4, action: permit, source: 192.0.2.0/28, " \
	"protocol: udp, source_ports: 1000, destination_ports: 53-54}\n"
#define CLASSIFY_IPV4 "      - {family: ipv4, destination_ports: 136, service_flow: 3}\n"
#define CLASSIFY_IPV6 "      - {family: ipv6, protocol: udp, service_flow: 2}\n"

static const struct {
	const char *name, *filter_default, *rules, *classifiers, *sizes;
	uint32_t flows, packets; /* packets 0: the generator rejects the configuration */
	uint32_t permitted; /* packets of CLASS_PERMIT */
	uint32_t permit; /* flows of CLASS_PERMIT; 0: any number */
} cases[] = {
	/* flows that cannot have a size are skipped; shares stay exact */
	{"small sizes", "permit", EXAMPLE_RULES, CLASSIFY_IPV4, "64", 30, 400, 40},
	{"two small sizes", "permit", EXAMPLE_RULES, CLASSIFY_IPV4, "64:50,84:50", 3, 2000, 200},
	{"the maximum of the rules", "deny", TEN_PORTS, CLASSIFY_IPV6, "256", 10, 100, 100, 10},
	{"more than the maximum", "deny", TEN_PORTS, CLASSIFY_IPV6, "256", 11},
	{"fields other than ports", "deny", ONE_PORT, CLASSIFY_IPV6, "256", 32, 320, 320, 32},
	{"more than the maximum", "deny", ONE_PORT, CLASSIFY_IPV6, "256", 33},
	/* a class with too few flows leaves the others more flows */
	{"a class with few flows", "permit", TEN_PORTS, CLASSIFY_IPV4, "256", 1000, 2000, 200, 10},
	{"each class needs a flow", "permit", EXAMPLE_RULES, EXAMPLE_CLASSIFIERS, "256", 2},
	{"no packet is permitted", "deny", "      - {family: ipv4, action: deny}\n", CLASSIFY_IPV4,
	 "imix", 0},
};

TEST(rules_limit_flows) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint32_t by_class[CLASS_COUNT];
		struct generator *g;

		print_message("  %s\n", cases[i].name);
		traffic_config_load(cases[i].filter_default, cases[i].rules, cases[i].classifiers);
		g = make_generator(cases[i].sizes, cases[i].flows);
		assert_int_equal(g != NULL, cases[i].packets > 0);
		if (g == NULL)
			continue;
		assert_int_equal(count_flows(g, cases[i].packets, by_class), cases[i].flows);
		assert_int_equal(g->by_class[CLASS_PERMIT], cases[i].permitted);
		if (cases[i].permit > 0)
			assert_int_equal(by_class[CLASS_PERMIT], cases[i].permit);
		generator_free(g);
	}
}

static const struct {
	const char *name, *filter_default, *rules, *classifiers;
	uint32_t targets[CLASS_COUNT];
} rules[] = {
	/* two addresses are within the CPE limit; IPv6 has no permit rule */
	{"each class has its targets",
	 "permit",
	 EXAMPLE_RULES,
	 EXAMPLE_CLASSIFIERS,
	 {[CLASS_UNMATCHED] = 2, [CLASS_PERMIT] = 1, [CLASS_CLASSIFIED] = 3}},
	{"shadowed rules have no target",
	 "permit",
	 "      - {family: ipv4, action: deny, source: 198.18.0.0/15}\n"
	 "      - {family: ipv4, action: permit, source: 198.18.7.0/24}\n",
	 "      - {family: ipv4, destination_ports: 10-19, service_flow: 2}\n"
	 "      - {family: ipv4, destination_ports: 12-15, service_flow: 3}\n",
	 {[CLASS_UNMATCHED] = 2, [CLASS_CLASSIFIED] = 1}},
	/* one port is free between the deny rules */
	{"the rest of a partly shadowed rule is a target",
	 "permit",
	 "      - {family: ipv4, action: deny, destination_ports: 1000-1776}\n"
	 "      - {family: ipv4, action: deny, destination_ports: 1778-1999}\n"
	 "      - {family: ipv4, action: permit, protocol: udp, destination_ports: 1000-1999}\n",
	 "      - {family: ipv4, protocol: gre, service_flow: 2}\n",
	 {[CLASS_UNMATCHED] = 2, [CLASS_PERMIT] = 1, [CLASS_CLASSIFIED] = 1}},
	{"unmatched packets are found although usual ones match rules",
	 "permit",
	 "      - {family: ipv4, action: deny, source: 203.0.113.0/24}\n"
	 "      - {family: ipv4, action: permit, destination_ports: 40000-65535}\n"
	 "      - {family: ipv6, action: deny, source: \"2001:db8::/32\"}\n",
	 "      - {family: ipv6, protocol: udp, service_flow: 2}\n",
	 {[CLASS_UNMATCHED] = 2, [CLASS_PERMIT] = 1, [CLASS_CLASSIFIED] = 1}},
	{"default deny: only permitted packets are sent",
	 "deny",
	 "      - {family: ipv4, action: permit, source: 192.0.2.0/24, protocol: udp}\n",
	 "      - {family: ipv4, source: 192.0.2.128/25, service_flow: 2}\n",
	 {[CLASS_PERMIT] = 1, [CLASS_CLASSIFIED] = 1}},
};

/* By default each target has one flow. All targets can have the sizes of this mix. */
TEST(rules_define_targets) {
	for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
		uint32_t by_class[CLASS_COUNT];
		struct generator *g;

		print_message("  %s\n", rules[i].name);
		traffic_config_load(rules[i].filter_default, rules[i].rules, rules[i].classifiers);
		g = make_generator("100,300,301,302,303,304,305,1996", 0);
		count_flows(g, 2000, by_class);
		assert_memory_equal(by_class, rules[i].targets, sizeof(by_class));
		generator_free(g);
	}
}

static const struct target *next_target(struct generator *g, uint32_t size) {
	return targets_of(&g->targets, targets_next(&g->targets, CLASS_UNMATCHED, size));
}

TEST(size_limits_address_family) {
	struct generator *g;

	traffic_config_load("permit", EXAMPLE_RULES, EXAMPLE_CLASSIFIERS);
	g = make_generator("imix", 0);
	for (int i = 0; i < 100; i++)
		assert_true(next_target(g, 64)->min_size <= 64);
	/* UDP over IPv6 needs at least 84 bytes */
	for (int i = 0; i < 2; i++)
		assert_true(next_target(g, 84)->min_size <= 84);
	assert_ptr_not_equal(next_target(g, 84), next_target(g, 84));
	assert_int_equal(targets_next(&g->targets, CLASS_UNMATCHED, 61), NO_FLOW);
	generator_free(g);
}

#define MANY_ADDRESSES 200

/* One IPv4 address among IPv6 addresses; all within the CPE limit. */
static void load_many_addresses(const char *permits) {
	static struct ip_address addresses[MANY_ADDRESSES] = {{4, {10, 0, 0, 1}}};
	struct modem *m;

	traffic_config_load("deny", permits, CLASSIFY_IPV6);
	for (unsigned i = 1; i < MANY_ADDRESSES; i++)
		addresses[i] = (struct ip_address){6, {0x20, 1, 0xd, 0xb8, [15] = (uint8_t)i}};
	m = &sg.modems[0];
	m->addresses = addresses;
	m->address_count = MANY_ADDRESSES;
	m->cpe_limit = m->cpe_limit_ipv6 = MANY_ADDRESSES;
}

/* TCP needs 74 bytes over IPv4, 94 over IPv6. So a frame of 84 bytes has one target of many. */
TEST(rare_target_of_short_frames_is_found) {
	struct generator *g;

	load_many_addresses("      - {family: ipv4, action: permit, protocol: tcp}\n"
			    "      - {family: ipv6, action: permit, protocol: tcp}\n");
	g = make_generator("84:1,256:1", 0);
	assert_non_null(g);
	for (int i = 0; i < 2 * MANY_ADDRESSES; i++)
		assert_int_equal(next_target(g, 84)->min_size, 74);
	assert_int_equal(targets_next(&g->targets, CLASS_PERMIT, 73), NO_FLOW);
	generator_free(g);
}

TEST(packets_taken_back_are_not_counted) {
	struct rte_mbuf *packets[GENERATOR_BURST];
	struct generator *g;
	uint32_t *sent;
	uint64_t bytes;

	traffic_config_load("permit", EXAMPLE_RULES, EXAMPLE_CLASSIFIERS);
	g = make_generator("imix", 0);
	sent = calloc(g->targets.stream_count, sizeof(*sent));
	assert_int_equal(generator_burst(g, 1, packets, 32, &bytes), 32);
	generator_unsend(g, packets + 20, 12);
	rte_pktmbuf_free_bulk(packets, 20);
	assert_int_equal(g->packets, 20);
	assert_int_equal(g->by_class[0] + g->by_class[1] + g->by_class[2], 20);
	memcpy(sent, g->sent, g->targets.stream_count * sizeof(*sent));
	assert_int_equal(generator_burst(g, 1, packets, 32, &bytes), 32);
	generator_unsend(g, packets, 32);
	assert_memory_equal(sent, g->sent, g->targets.stream_count * sizeof(*sent));
	free(sent);
	generator_free(g);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

ALL_TESTS(traffic_config_open, traffic_config_close)

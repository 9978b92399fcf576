/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests evaluate.h, the reference of other tests, against results that are derived by hand. */
#include "core/evaluate.h"
#include "test_main.h"
#include "traffic_config.h"

#include <arpa/inet.h>

struct evaluation_case {
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

TEST(evaluation_matches_manual_results) {
	static const struct evaluation_case cases[] = {
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

	traffic_config_load("permit", EXAMPLE_RULES, EXAMPLE_CLASSIFIERS);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct evaluation_case *q = &cases[i];
		uint8_t source[16];
		struct frame_fields fields = {
			.kind = q->family == 4 ? FRAME_IPV4 : FRAME_IPV6,
			.family = (uint8_t)q->family,
			.source = source,
			.destination = sg.modems[0].addresses[q->family == 4 ? 0 : 1].bytes,
			.protocol = q->protocol,
			.tos = q->tos,
			.has_ports = q->protocol != 58,
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

/* `protocol` matches any header of an IPv6 packet; ports match packets that have ports. */
TEST(match_fields_apply_to_headers_ports_and_ethertype) {
	struct match m = {.family = RULE_IPV6,
			  .has_protocol = true,
			  .protocol = 51,
			  .source_ports = {0, UINT16_MAX},
			  .destination_ports = {0, UINT16_MAX}};
	struct frame_fields f = {.kind = FRAME_IPV6, .ethertype = 0x86dd, .protocol = 17};

	assert_false(match_meets(&m, &f));
	f.extensions = 1 << 3; /* authentication */
	assert_true(match_meets(&m, &f));
	m.protocol = 17;
	assert_true(match_meets(&m, &f));
	m.protocol = 60;
	assert_false(match_meets(&m, &f));
	m.has_protocol = false;
	assert_true(match_meets(&m, &f));
	m.destination_ports.high = 1023;
	assert_false(match_meets(&m, &f));
	f.has_ports = true;
	assert_true(match_meets(&m, &f));
	f.destination_port = 1024;
	assert_false(match_meets(&m, &f));
	m = (struct match){.family = RULE_LLC, .has_ethertype = true, .ethertype = 0x86dd};
	assert_true(match_meets(&m, &f));
	m.ethertype = 0x0800;
	assert_false(match_meets(&m, &f));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The packets that are made for a configuration do what they are made for, says the evaluator. */
#include "checksums.h"
#include "core/evaluate.h"
#include "core/targets.h"
#include "model/load/loader.h"
#include "test_main.h"
#include "traffic_config.h"

#include <string.h>

static struct service_group sg;
static struct targets targets;

static int unload(void **state) {
	targets_free(&targets);
	service_group_free(&sg);
	return 0;
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
	checksums_check(frame, &fields);
	packet_tag_read(frame + packet_tag_find(frame, size), &read);
	assert_true(read.magic == tag.magic && read.target == tag.target &&
		    read.sequence == tag.sequence && read.tsc == tag.tsc);
	e = evaluate(&sg, &sg.modems[t->modem], &fields);
	assert_int_equal(e.action, FILTER_PERMIT);
	assert_int_equal(targets.first_stream[t->modem] + e.flow, t->stream);
	switch (t->class) {
	case CLASS_UNMATCHED: assert_true(e.rule == NO_RULE && e.classifier == NO_RULE); break;
	case CLASS_PERMIT: assert_true(e.rule != NO_RULE); break;
	case CLASS_CLASSIFIED: assert_true(e.classifier != NO_RULE); break;
	default: fail();
	}
}

static void create(void) {
	static struct pattern pattern;
	struct random random = {11};

	pattern_create(&pattern, &random);
	assert_int_equal(targets_create(&targets, &sg, 1, NULL), 0);
	for (uint32_t i = 0; i < targets.count; i++) {
		target_check(&targets.all[i], &pattern, targets.all[i].min_size);
		for (uint32_t size = 300; size < 306; size++)
			target_check(&targets.all[i], &pattern, size);
		target_check(&targets.all[i], &pattern, PACKET_SIZE_MAX);
	}
}

static const struct target *next(enum traffic_class class, uint32_t size) {
	return targets_of(&targets, targets_next(&targets, class, size));
}

TEST(each_class_has_its_targets) {
	traffic_config_load(&sg, "permit", SOME_RULES, SOME_CLASSIFIERS);
	create();
	/* Two addresses are within the CPE limit; IPv6 has no permit rule, and one flow less. */
	assert_int_equal(targets.any[CLASS_UNMATCHED].count, 2);
	assert_int_equal(targets.any[CLASS_PERMIT].count, 1);
	assert_int_equal(targets.any[CLASS_CLASSIFIED].count, 3);
	assert_int_equal(targets.count, 6);
	assert_int_equal(targets.stream_count, 3);
	for (uint32_t i = 0; i < targets.count; i++)
		assert_memory_not_equal(targets.all[i].template.headers + 14 + 16,
					sg.modems[0].addresses[2].bytes, 4);
}

static const struct {
	const char *name, *filter_default, *rules, *classifiers;
	uint32_t counts[CLASS_COUNT];
} cases[] = {
	{"shadowed rules have no target",
	 "permit",
	 "      - {family: ipv4, action: deny, source: 198.18.0.0/15}\n"
	 "      - {family: ipv4, action: permit, source: 198.18.7.0/24}\n",
	 "      - {family: ipv4, destination_ports: 10-19, service_flow: 2}\n"
	 "      - {family: ipv4, destination_ports: 12-15, service_flow: 3}\n",
	 {[CLASS_UNMATCHED] = 2, [CLASS_CLASSIFIED] = 1}},
	/* At their edges. */
	{"what is left of a rule between others is found",
	 "permit",
	 "      - {family: ipv4, action: deny, destination_ports: 1000-1776}\n"
	 "      - {family: ipv4, action: deny, destination_ports: 1778-1999}\n"
	 "      - {family: ipv4, action: permit, protocol: udp, destination_ports: 1000-1999}\n",
	 "      - {family: ipv4, protocol: gre, service_flow: 2}\n",
	 {[CLASS_UNMATCHED] = 2, [CLASS_PERMIT] = 1, [CLASS_CLASSIFIED] = 1}},
	{"other packets stand for unmatched where the usual strangers meet rules",
	 "permit",
	 "      - {family: ipv4, action: deny, source: 203.0.113.0/24}\n"
	 "      - {family: ipv4, action: permit, destination_ports: 40000-65535}\n"
	 "      - {family: ipv6, action: deny, source: \"2001:db8::/32\"}\n",
	 "      - {family: ipv6, protocol: udp, service_flow: 2}\n",
	 {[CLASS_UNMATCHED] = 2, [CLASS_PERMIT] = 1, [CLASS_CLASSIFIED] = 1}},
	{"with default deny only permitted packets are sent",
	 "deny",
	 "      - {family: ipv4, action: permit, source: 192.0.2.0/24, protocol: udp}\n",
	 "      - {family: ipv4, source: 192.0.2.128/25, service_flow: 2}\n",
	 {[CLASS_PERMIT] = 1, [CLASS_CLASSIFIED] = 1}},
};

TEST(rules_make_targets) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		print_message("  %s\n", cases[i].name);
		unload(state);
		traffic_config_load(&sg, cases[i].filter_default, cases[i].rules,
				    cases[i].classifiers);
		create();
		for (int c = 0; c < CLASS_COUNT; c++)
			assert_int_equal(targets.any[c].count, cases[i].counts[c]);
	}
	/* The share of the class that has none falls to another. */
	assert_int_equal(next(CLASS_UNMATCHED, 64)->class, CLASS_PERMIT);
}

TEST(sizes_choose_the_family) {
	traffic_config_load(&sg, "permit", SOME_RULES, SOME_CLASSIFIERS);
	create();
	for (int i = 0; i < 100; i++) {
		const struct target *t = next(CLASS_UNMATCHED, 64);

		assert_non_null(t);
		assert_true(t->min_size <= 64);
	}
	/* IPv6 over UDP takes part from 84 bytes on. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(next(CLASS_UNMATCHED, 84)->min_size <= 84, 1);
	assert_int_not_equal(next(CLASS_UNMATCHED, 84), next(CLASS_UNMATCHED, 84));
	assert_int_equal(targets_next(&targets, CLASS_UNMATCHED, 61), NO_FLOW);
}

EACH_TEST(NULL, unload)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared rule lists, laid out by hand: those that tell the same are one, those that differ in
 * anything that a packet could tell are not.
 */
#include "test_main.h"

#include <string.h>

#include "downstream/rules/rule_lists.h"

#define LISTS 4000 /* of the test with many */
#define MODEMS 3
#define CLASSIFIERS 8
#define ADDRESSES 4

/* A service group with room for so many, laid out by hand. */
struct group {
	struct service_group sg;
	struct modem modems[MODEMS];
	struct classifier classifiers[MODEMS][CLASSIFIERS];
	struct ip_address addresses[MODEMS][ADDRESSES];
};

static struct group *group_new(size_t modems) {
	struct group *g = test_calloc(1, sizeof(*g));

	for (size_t m = 0; m < modems; m++) {
		g->modems[m].classifiers = g->classifiers[m];
		g->modems[m].addresses = g->addresses[m];
	}
	g->sg.modems = g->modems;
	g->sg.modem_count = modems;
	return g;
}

static void classifiers_take(struct rule_lists *lists, const struct group *g) {
	assert_int_equal(rule_lists_create(lists), 0);
	for (size_t m = 0; m < g->sg.modem_count; m++)
		assert_in_range(rule_lists_take_classifiers(lists, &g->modems[m]), 0, m);
}

static uint32_t count_of(const struct group *g) {
	struct rule_lists lists;
	uint32_t count;

	classifiers_take(&lists, g);
	count = lists.used;
	rule_lists_free(&lists);
	return count;
}

static const struct ip_address home = {4, {10, 0, 0, 1}};
static const struct ip_address home6 = {6, {0x20, 0x01, [15] = 1}};

/* A modem of two addresses of each family and a list of two classifiers that are as full as may be. */
static void usual_modem(struct group *g, size_t number) {
	struct modem *m = &g->modems[number];
	const struct match full = {
		.family = RULE_IPV4,
		.source = {{4, {192, 0, 2, 0}}, 24},
		.destination = {home, 32},
		.has_protocol = true,
		.protocol = 17,
		.tos = 0xb8,
		.tos_mask = 0xfc,
		.source_ports = {1000, 2000},
		.destination_ports = {3000, 4000},
	};

	m->address_count = 4;
	m->addresses[0] = m->addresses[1] = home;
	m->addresses[1].bytes[3] = 2;
	m->addresses[2] = m->addresses[3] = home6;
	m->addresses[3].bytes[15] = 2;
	m->classifier_count = 2;
	m->classifiers[0] = (struct classifier){full, 1};
	m->classifiers[1] = (struct classifier){
		{.family = RULE_LLC, .has_ethertype = true, .ethertype = 0x806}, 2};
}

static void swap(struct modem *m) {
	struct classifier first = m->classifiers[0];

	m->classifiers[0] = m->classifiers[1];
	m->classifiers[1] = first;
}

/* One difference at a time that may give a packet another answer. */
static bool differ(struct modem *m, int what) {
	struct classifier *c = m->classifiers;

	switch (what) {
	case 0: c[0].flow++; return true;
	case 1: swap(m); return true;
	case 2: m->classifier_count--; return true;
	case 3: c[0].match.source.address.bytes[0]++; return true;
	case 4: c[0].match.source.address.bytes[2] ^= 1; return true;
	case 5: c[0].match.source.length--; return true;
	case 6: c[0].match.destination.length = 0; return true;
	case 7: c[0].match.destination.address = m->addresses[1]; return true;
	case 8: c[0].match.has_protocol = false; return true;
	case 9: c[0].match.protocol = 6; return true;
	case 10: c[0].match.tos = 0x88; return true;
	case 11: c[0].match.tos_mask = 0xff; return true;
	case 12: c[0].match.source_ports.low++; return true;
	case 13: c[0].match.source_ports.high++; return true;
	case 14: c[0].match.destination_ports.low++; return true;
	case 15: c[0].match.destination_ports.high++; return true;
	case 16: c[1].match.ethertype++; return true;
	case 17: c[1].match.has_ethertype = false; return true;
	case 18:
		m->address_count--;
		m->addresses++;
		return true; /* all of its IPv4 is inside */
	case 19: c[0].match.family = RULE_IPV6; return true; /* and leaves it with none inside */
	default: return false;
	}
}

/* Differences that no packet of the modem can tell. */
static bool differ_in_vain(struct modem *m, int what) {
	struct classifier *c = m->classifiers;

	switch (what) {
	case 0: c[0].match.source.address.bytes[3] = 7; return true;
	case 1: c[0].match.tos |= 3; return true;
	case 2: c[0].match.destination.address.bytes[4] = 9; return true;
	case 3: c[0].match.ethertype = 5; return true;
	case 4: c[0].match.has_ethertype = true; return true;
	case 5: c[1].match.source_ports.high = 5; return true;
	case 6: c[1].match.destination.length = 5; return true;
	case 7: m->address_count = 2; return true; /* without those of IPv6 */
	case 8: c[1].match.protocol = 17; return true; /* without has_protocol */
	case 9:
		c[2] = c[0];
		c[2].match.destination.address.bytes[0]++;
		m->classifier_count++;
		return true; /* to an address of others */
	default: return false;
	}
}

/* Each variant of one of three modems that are alike, and so many lists. */
static void compare_variants(bool (*differs)(struct modem *, int), uint32_t lists) {
	bool more = true;

	for (int what = 0; more; what++) {
		struct group *g = group_new(3);

		for (size_t m = 0; m < 3; m++)
			usual_modem(g, m);
		more = differs(&g->modems[1], what);
		if (more && count_of(g) != lists)
			fail_msg("variant %d: %u lists", what, count_of(g));
		test_free(g);
	}
}

TEST(only_what_differs_in_vain_is_shared) {
	compare_variants(differ, 2);
	compare_variants(differ_in_vain, 1);
}

/* Whether the one destination of a modem with 10.0.0.1, 10.0.0.2 and an IPv6 address stays. */
static void check_destination(struct ip_prefix destination, size_t addresses, size_t rules,
			      uint8_t length) {
	struct group *g = group_new(1);
	struct modem *m = &g->modems[0];
	struct rule_lists lists;

	m->addresses[0] = home6;
	m->addresses[1] = m->addresses[2] = home;
	m->addresses[2].bytes[3] = 2;
	m->address_count = addresses;
	m->classifier_count = 1;
	m->classifiers[0].match = (struct match){.destination = destination};
	classifiers_take(&lists, g);
	assert_int_equal(lists.used, 1);
	assert_int_equal(lists.rule_count, rules);
	if (rules > 0)
		assert_int_equal(lists.all[0].lines[0].match.destination.length, length);
	assert_int_equal(rule_lists_total(&g->sg), rules);
	rule_lists_free(&lists);
	test_free(g);
}

TEST(destinations) {
	check_destination((struct ip_prefix){home, 32}, 3, 1, 32); /* some are inside */
	check_destination((struct ip_prefix){home, 31}, 3, 1, 31);
	check_destination((struct ip_prefix){home, 30}, 3, 1, 0); /* all are */
	check_destination((struct ip_prefix){home, 8}, 3, 1, 0);
	check_destination((struct ip_prefix){home, 0}, 3, 1, 0);
	check_destination((struct ip_prefix){home, 32}, 2, 1, 0);
	check_destination((struct ip_prefix){{4, {10, 0, 0, 4}}, 30}, 3, 0, 0); /* none is */
	check_destination((struct ip_prefix){home, 0}, 1, 0, 0); /* none is there */
}

/* Of five lists each is one, told from the others by a rule, a result or its length alone. */
static void nth_of_five(struct modem *m, int told_by, uint8_t n) {
	switch (told_by) {
	case 0: m->classifiers[0].match.protocol = n; return;
	case 1: m->classifiers[1].flow = n; return;
	default:
		for (size_t c = 0; c < n; c++)
			m->classifiers[c] = m->classifiers[0];
		m->classifier_count = n;
	}
}

/* Two modems have four places by hash: of five lists two at least have the same one. */
TEST(lists_of_one_hash_are_compared) {
	for (int pair = 0; pair < 3 * 25; pair++) {
		uint8_t first = (uint8_t)(pair % 5), second = (uint8_t)(pair / 5 % 5);
		struct group *g = group_new(2);

		usual_modem(g, 0);
		usual_modem(g, 1);
		nth_of_five(&g->modems[0], pair / 25, first);
		nth_of_five(&g->modems[1], pair / 25, second);
		assert_int_equal(count_of(g), first == second ? 1 : 2);
		test_free(g);
	}
}

/* More than there was room for at first: lists stand behind others of the same hash. All come twice. */
TEST(many_lists) {
	struct filter_group *groups = test_calloc(2 * LISTS, sizeof(*groups));
	struct filter_rule *rules = test_calloc(LISTS, sizeof(*rules));
	struct service_group sg = {.filter_groups = groups, .filter_group_count = 2 * LISTS};
	struct rule_lists lists;

	for (uint32_t i = 0; i < LISTS; i++) {
		rules[i].match.source_ports = (struct port_range){(uint16_t)i, UINT16_MAX};
		groups[i] = groups[2 * LISTS - 1 - i] = (struct filter_group){i, &rules[i], 1};
	}
	assert_int_equal(rule_lists_create(&lists), 0);
	for (uint32_t i = 0; i < 2 * LISTS; i++)
		assert_int_equal(rule_lists_take_filters(&lists, &groups[i]),
				 i < LISTS ? i : 2 * LISTS - 1 - i);
	assert_int_equal(lists.used, LISTS);
	assert_int_equal(lists.rule_count, LISTS);
	for (uint32_t i = 0; i < LISTS; i++)
		assert_int_equal(lists.all[i].lines[0].match.source_ports.low, i);
	assert_int_equal(rule_lists_total(&sg), LISTS);
	rule_lists_free(&lists);
	test_free(groups);
	test_free(rules);
}

TEST(filter_groups) {
	struct filter_rule rules[] = {
		{.match.destination = {home, 32}, .action = FILTER_DENY},
		{.match.destination = {home, 32}, .action = FILTER_PERMIT},
		{.match.destination = {home, 32}, .action = FILTER_DENY},
	};
	struct filter_group groups[] = {
		{1, &rules[0], 1}, {2, &rules[1], 1}, {3, &rules[2], 1}, {4, NULL, 0},
		{5, NULL, 0},	   {6, &rules[0], 2}, {7, &rules[1], 2},
	};
	static const uint32_t expected[] = {0, 1, 0, 2, 2, 3, 4};
	struct rule_lists lists;

	assert_int_equal(rule_lists_create(&lists), 0);
	for (size_t g = 0; g < ARRAY_COUNT(groups); g++)
		assert_int_equal(rule_lists_take_filters(&lists, &groups[g]), expected[g]);
	assert_int_equal(lists.used, 5);
	assert_int_equal(lists.rule_count, 6);
	assert_int_equal(lists.all[0].lines[0].result, 1 + FILTER_DENY);
	assert_int_equal(lists.all[1].lines[0].result, 1 + FILTER_PERMIT);
	/* a group is of many modems: nothing goes without saying */
	assert_int_equal(lists.all[0].lines[0].match.destination.length, 32);
	rule_lists_free(&lists);
	rule_lists_free(&lists); /* harmless */
}

/* Frames of IP are matched by the rules of their family: one of their EtherType matches all of them, before and
 * behind others as it stands. */
TEST(ethertypes_of_ip) {
	static const uint16_t types[] = {0x0800, 0x86dd};
	struct filter_rule rules[] = {
		{{.family = RULE_LLC, .has_ethertype = true}, FILTER_DENY},
		{{.family = RULE_IPV4,
		  .destination_ports = {0, UINT16_MAX},
		  .source_ports = {0, UINT16_MAX}},
		 FILTER_DENY},
		{{.family = RULE_IPV6,
		  .destination_ports = {0, UINT16_MAX},
		  .source_ports = {0, UINT16_MAX}},
		 FILTER_DENY},
	};
	struct filter_group told = {1, &rules[0], 1}, same = {2, &rules[1], 1};
	struct rule_lists lists;

	assert_int_equal(rule_lists_create(&lists), 0);
	for (uint32_t i = 0; i < 2; i++) {
		rules[0].match.ethertype = types[i];
		same.rules = &rules[1 + i];
		assert_int_equal(rule_lists_take_filters(&lists, &told), i);
		assert_int_equal(rule_lists_take_filters(&lists, &same), i);
	}
	rules[0].match.ethertype = 0x0806; /* ARP is no IP */
	assert_int_equal(rule_lists_take_filters(&lists, &told), 2);
	assert_int_equal(lists.all[2].lines[0].match.family, RULE_LLC);
	rule_lists_free(&lists);
}

static uint32_t take_one(struct rule_lists *l, uint32_t result) {
	l->lines[0] = (struct rule_line){.result = result};
	return rule_lists_take(l, 1);
}

/* A number that nobody has is given again, but not while rules in service know it. */
TEST(numbers_come_again) {
	struct rule_lists l;

	assert_int_equal(rule_lists_create(&l), 0);
	assert_int_equal(take_one(&l, 1), 0);
	assert_int_equal(take_one(&l, 2), 1);
	assert_int_equal(take_one(&l, 2), 1);
	rule_lists_give(&l, 0);
	assert_int_equal(l.used, 1);
	assert_int_equal(l.rule_count, 1);
	assert_int_equal(take_one(&l, 3), 0);
	rule_lists_keep(&l, 1, true);
	rule_lists_give(&l, 1);
	assert_int_equal(take_one(&l, 2), 1); /* one user was left */
	rule_lists_give(&l, 1);
	rule_lists_give(&l, 1);
	assert_int_equal(take_one(&l, 4), 2);
	assert_int_equal(take_one(&l, 2), 3); /* it is the same list, but the number is not free */
	rule_lists_keep(&l, 1, false);
	assert_int_equal(take_one(&l, 5), 1);
	assert_int_equal(l.used, 4);
	rule_lists_free(&l);
}

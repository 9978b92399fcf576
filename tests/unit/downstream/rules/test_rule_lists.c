/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests shared rule lists: lists are separate exactly if they differ for any packet. */
#include "test_main.h"

#include "downstream/rules/rule_lists.h"

#define LISTS 4000

/* A modem with the lists to which it points. */
struct user {
	struct modem modem;
	struct classifier classifiers[3];
	struct ip_address addresses[4];
};

static const struct ip_address modem_address = {4, {10, 0, 0, 1}};

/* Sets two addresses per family and two classifiers with all criteria. A third classifier, not
 * counted yet, is for an address of another modem. */
static void init_user(struct user *u) {
	const struct match full = {
		.family = RULE_IPV4,
		.source = {{4, {192, 0, 2, 0}}, 24},
		.destination = {modem_address, 32},
		.has_protocol = true,
		.protocol = 17,
		.tos = 0xb8,
		.tos_mask = 0xfc,
		.source_ports = {1000, 2000},
		.destination_ports = {3000, 4000},
	};

	*u = (struct user){
		.modem = {.address_count = 4, .classifier_count = 2},
		.addresses = {modem_address,
			      {4, {10, 0, 0, 2}},
			      {6, {0x20, 0x01, [15] = 1}},
			      {6, {0x20, 0x01, [15] = 2}}},
		.classifiers = {{full, 1},
				{{.family = RULE_LLC, .has_ethertype = true, .ethertype = 0x806},
				 2},
				{full, 1}},
	};
	u->classifiers[2].match.destination.address.bytes[0]++;
	u->modem.addresses = u->addresses;
	u->modem.classifiers = u->classifiers;
}

#define AT(member) offsetof(struct user, member), sizeof(((struct user *)NULL)->member)
#define MATCH(i, member) AT(classifiers[i].match.member)

/* A difference between two modems. It makes two lists if a packet can get another result. */
static const struct variant {
	uint32_t lists;
	size_t at, size;
	uint32_t value;
} variants[] = {
	{2, AT(classifiers[0].flow), 2},
	{2, AT(modem.classifier_count), 1},
	{2, MATCH(0, source.address.bytes[0]), 193},
	{2, MATCH(0, source.address.bytes[2]), 3},
	{2, MATCH(0, source.length), 23},
	{2, MATCH(0, destination.length), 0},
	{2, MATCH(0, destination.address.bytes[3]), 2},
	{2, MATCH(0, has_protocol), false},
	{2, MATCH(0, protocol), 6},
	{2, MATCH(0, tos), 0x88},
	{2, MATCH(0, tos_mask), 0xff},
	{2, MATCH(0, source_ports.low), 1001},
	{2, MATCH(0, source_ports.high), 2001},
	{2, MATCH(0, destination_ports.low), 3001},
	{2, MATCH(0, destination_ports.high), 4001},
	{2, MATCH(0, family), RULE_IPV6}, /* no address matches */
	{2, MATCH(1, ethertype), 0x807},
	{2, MATCH(1, has_ethertype), false},
	{2, AT(addresses[1].family), 6}, /* all IPv4 addresses match */
	{1, MATCH(0, source.address.bytes[3]), 7},
	{1, MATCH(0, tos), 0xbb},
	{1, MATCH(0, destination.address.bytes[4]), 9},
	{1, MATCH(0, ethertype), 5},
	{1, MATCH(0, has_ethertype), true},
	{1, MATCH(1, source_ports.high), 5},
	{1, MATCH(1, destination.length), 5},
	{1, MATCH(1, protocol), 17}, /* without has_protocol */
	{1, AT(modem.address_count), 2}, /* no IPv6 addresses */
	{1, AT(modem.classifier_count), 3}, /* for an address of another modem */
};

TEST(lists_with_equal_results_are_shared) {
	for (size_t i = 0; i < ARRAY_COUNT(variants); i++) {
		struct rule_lists lists;
		struct user users[3];

		assert_int_equal(rule_lists_create(&lists), 0);
		for (size_t u = 0; u < ARRAY_COUNT(users); u++) {
			init_user(&users[u]);
			if (u == 1)
				memcpy((char *)&users[u] + variants[i].at, &variants[i].value,
				       variants[i].size);
			assert_in_range(rule_lists_get_classifiers(&lists, &users[u].modem), 0, u);
		}
		if (lists.used != variants[i].lists)
			fail_msg("variant %zu: %u lists", i, lists.used);
		rule_lists_free(&lists);
	}
}

/* Destination prefixes of a modem with 10.0.0.1, 10.0.0.2 and IPv6 addresses. A prefix that
 * contains all of its addresses is removed; a rule with none is dropped. */
TEST(destination_of_all_addresses_is_removed) {
	static const struct {
		uint8_t last, length; /* of the prefix */
		size_t addresses, rules;
		uint8_t result; /* length of the prefix in the list */
	} cases[] = {
		{1, 32, 4, 1, 32}, /* some addresses match */
		{1, 31, 4, 1, 31}, {1, 30, 4, 1, 0}, /* all match */
		{1, 8, 4, 1, 0},   {1, 0, 4, 1, 0},
		{1, 32, 1, 1, 0},  {4, 30, 4, 0, 0}, /* none matches */
		{1, 0, 0, 0, 0}, /* the modem has none */
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct user u;
		const struct service_group sg = {.modems = &u.modem, .modem_count = 1};
		struct rule_lists lists;

		init_user(&u);
		u.modem.address_count = cases[i].addresses;
		u.modem.classifier_count = 1;
		u.classifiers[0].match = (struct match){
			.destination = {{4, {10, 0, 0, cases[i].last}}, cases[i].length}};
		assert_int_equal(rule_lists_create(&lists), 0);
		rule_lists_get_classifiers(&lists, &u.modem);
		assert_int_equal(lists.used, 1);
		assert_int_equal(lists.rule_count, cases[i].rules);
		if (cases[i].rules > 0)
			assert_int_equal(lists.all[0].lines[0].match.destination.length,
					 cases[i].result);
		assert_int_equal(rule_lists_total(&sg), cases[i].rules);
		rule_lists_free(&lists);
	}
}

/* More lists than the initial capacity, with hash collisions. Each list is added twice. */
TEST(many_lists_are_found_by_content) {
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
		assert_int_equal(rule_lists_get_filters(&lists, &groups[i]),
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

/* A rule on the EtherType of IP matches all frames of that family, in the order of the list. ARP is
 * not IP. Destinations stay, as modems with different addresses use a filter group. */
TEST(filter_groups_keep_destinations) {
	const struct port_range any = {0, UINT16_MAX};
	struct filter_rule rules[] = {
		{.match.destination = {modem_address, 32}, .action = FILTER_DENY},
		{.match.destination = {modem_address, 32}, .action = FILTER_PERMIT},
		{.match.destination = {modem_address, 32}, .action = FILTER_DENY},
		{.match = {.family = RULE_LLC, .has_ethertype = true, .ethertype = 0x0800}},
		{.match = {.family = RULE_IPV4, .destination_ports = any, .source_ports = any}},
		{.match = {.family = RULE_LLC, .has_ethertype = true, .ethertype = 0x86dd}},
		{.match = {.family = RULE_IPV6, .destination_ports = any, .source_ports = any}},
		{.match = {.family = RULE_LLC, .has_ethertype = true, .ethertype = 0x0806}},
	};
	static const struct {
		uint32_t first, count, number;
	} groups[] = {{0, 1, 0}, {1, 1, 1}, {2, 1, 0}, {0, 0, 2}, {0, 0, 2}, {0, 2, 3},
		      {1, 2, 4}, {3, 1, 5}, {4, 1, 5}, {5, 1, 6}, {6, 1, 6}, {7, 1, 7}};
	struct rule_lists lists;

	assert_int_equal(rule_lists_create(&lists), 0);
	for (size_t g = 0; g < ARRAY_COUNT(groups); g++) {
		const struct filter_group group = {(uint32_t)g + 1, &rules[groups[g].first],
						   groups[g].count};

		assert_int_equal(rule_lists_get_filters(&lists, &group), groups[g].number);
	}
	assert_int_equal(lists.used, 8);
	assert_int_equal(lists.rule_count, 9);
	assert_int_equal(lists.all[0].lines[0].result, 1 + FILTER_DENY);
	assert_int_equal(lists.all[1].lines[0].result, 1 + FILTER_PERMIT);
	assert_int_equal(lists.all[0].lines[0].match.destination.length, 32);
	assert_int_equal(lists.all[7].lines[0].match.family, RULE_LLC);
	rule_lists_free(&lists);
	rule_lists_free(&lists); /* no effect */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes classifiers at random. Each packet must get the result of its modem's own classifiers,
 * although modems share lists and not every change rebuilds the large table. */
#include "test_main.h"

#include "downstream/rules/rules.h"

#include "fixture.h"
#include "match_model.h"
#include "random.h"

#define USERS 60
#define CLASSIFIERS 12
#define ADDRESSES 5
#define KINDS 30 /* different lists, apart from destinations */
#define CHANGES 400
#define PACKETS 40 /* per check */

/* A modem, and the number of its list. */
struct user {
	struct modem modem;
	struct classifier classifiers[CLASSIFIERS];
	struct ip_address addresses[ADDRESSES];
	uint32_t number;
};

static struct user users[USERS];
static struct rule_lists lists;
static struct rules rules;
static struct random random_state = {4711};
static uint64_t packets_checked, matched;

/* Sets a prefix of one of the modem's addresses, which may contain some or all others. */
static void random_destination(const struct user *u, struct match *m) {
	const struct ip_address *own = &u->addresses[random_below(&random_state, ADDRESSES)];

	if (m->family == RULE_LLC || own->family != (m->family == RULE_IPV4 ? 4 : 6))
		return;
	m->destination = (struct ip_prefix){
		*own, (uint8_t)random_between(&random_state, 0, own->family == 4 ? 32 : 128)};
}

/* Matches IPv6 packets with an extension header of this type. */
static struct match any_with_header(uint8_t type) {
	return (struct match){
		.family = RULE_IPV6,
		.source.address.family = 6,
		.destination.address.family = 6,
		.has_protocol = true,
		.protocol = type,
		.source_ports = {0, UINT16_MAX},
		.destination_ports = {0, UINT16_MAX},
	};
}

/* Gives the modem random addresses, and classifiers that other modems may share. */
static void randomize_user(struct user *u) {
	struct random own = {1 + random_below(&random_state, KINDS)};
	bool same_destinations = random_below(&random_state, 2);

	u->modem = (struct modem){.classifiers = u->classifiers, .addresses = u->addresses};
	u->modem.address_count = random_below(&random_state, ADDRESSES + 1);
	for (size_t a = 0; a < ADDRESSES; a++) {
		uint8_t bytes[16];

		u->addresses[a] = (struct ip_address){random_below(&random_state, 2) ? 4 : 6};
		random_address(&random_state, bytes);
		memcpy(u->addresses[a].bytes, bytes, ip_address_size(u->addresses[a].family));
	}
	u->modem.classifier_count = random_below(&own, CLASSIFIERS + 1);
	for (size_t c = 0; c < u->modem.classifier_count; c++) {
		struct match *m = &u->classifiers[c].match;
		bool own_destination;

		u->classifiers[c].flow = random_below(&own, 8);
		*m = random_match(&own, (enum rule_family)random_below(&own, RULE_FAMILIES));
		if (random_below(&own, 2))
			m->source.length = 0;
		if (m->family == RULE_IPV6 && random_below(&own, 2))
			*m = any_with_header(
				ipv6_extension(random_below(&own, IPV6_EXTENSION_KINDS)));
		own_destination = random_below(&own, 4) > 0;
		if (same_destinations)
			m->destination.length = 0;
		else if (own_destination)
			random_destination(u, m);
	}
	u->number = rule_lists_get_classifiers(&lists, &u->modem);
	assert_int_not_equal(u->number, RULE_LIST_NONE);
}

/* Checks that no list is in both tables, and the size of the small table. */
static void check_tables(void) {
	const struct rule_table *large = rules.tables[RULES_LARGE];
	const struct rule_table *small = rules.tables[RULES_SMALL];

	for (uint32_t i = 0; small != NULL && large != NULL && i < small->list_count; i++) {
		for (uint32_t k = 0; k < large->list_count; k++)
			assert_int_not_equal(small->lists[i], large->lists[k]);
	}
	if (small != NULL)
		assert_in_range(small->rule_count, 1, 64 + lists.rule_count / 4);
}

static void rebuild_rules(void) {
	struct rules next;

	assert_int_equal(rules_build(&next, "tables", &lists, &rules), 0);
	rules_free(&rules, &next, &lists);
	rules = next;
	check_tables();
}

/* A random packet to an address of the modem. Returns false if it has none of the family. */
static bool create_packet(const struct user *u, enum rule_family family, struct packet *p) {
	*p = random_packet(&random_state, family, u->number);
	if (family == RULE_LLC)
		return true;
	if (family == RULE_IPV6 && random_below(&random_state, 2))
		p->extensions = (uint16_t)random_below(&random_state, 1 << IPV6_EXTENSION_KINDS);
	for (int i = 0; i < 8 && u->modem.address_count > 0; i++) {
		const struct ip_address *to = &u->addresses[random_below(
			&random_state, (uint32_t)u->modem.address_count)];

		memcpy(p->destination, to->bytes, sizeof(p->destination));
		if (to->family == (family == RULE_IPV4 ? 4 : 6))
			return true;
	}
	return false;
}

static void check_packets(enum rule_family family) {
	struct rule_key keys[PACKETS];
	const uint8_t *pointers[PACKETS];
	uint32_t results[PACKETS], expected[PACKETS];
	uint16_t extensions[PACKETS];
	unsigned n = 0;

	for (unsigned i = 0; i < PACKETS; i++) {
		const struct user *u = &users[random_below(&random_state, USERS)];
		struct packet p;

		if (!create_packet(u, family, &p))
			continue;
		expected[n] = 0;
		for (size_t c = u->modem.classifier_count; c > 0; c--) {
			if (matches(&u->classifiers[c - 1].match, &p))
				expected[n] = 1 + u->classifiers[c - 1].flow;
		}
		packet_rule_key(&p, &keys[n]);
		extensions[n] = p.extensions;
		pointers[n] = (const uint8_t *)&keys[n];
		n++;
	}
	rules_match(&rules, family, pointers, results, n);
	for (unsigned i = 0; i < n; i++) {
		if (extensions[i] != 0)
			results[i] = rules_match_chain(&rules, &keys[i], extensions[i]);
		assert_int_equal(results[i], expected[i]);
		matched += expected[i] != 0;
	}
	packets_checked += n;
}

TEST(results_are_those_of_own_classifiers) {
	unsigned large = 0;

	assert_int_equal(rule_lists_create(&lists), 0);
	for (unsigned u = 0; u < USERS; u++)
		randomize_user(&users[u]);
	rebuild_rules();
	for (unsigned c = 0; c < CHANGES; c++) {
		struct user *u = &users[random_below(&random_state, USERS)];
		const struct rule_table *before = rules.tables[RULES_LARGE];
		uint32_t number = u->number;

		randomize_user(u);
		rule_lists_put(&lists, number);
		rebuild_rules();
		large += rules.tables[RULES_LARGE] != before;
		for (int family = 0; family < RULE_FAMILIES; family++)
			check_packets((enum rule_family)family);
	}
	assert_in_range(large, 1, CHANGES / 5);
	assert_true(lists.count <= 2 * USERS); /* numbers were reused */
	/* some packets matched and some not; some lists were shared */
	assert_in_range(matched, packets_checked / 10, packets_checked * 9 / 10);
	assert_in_range(lists.used, USERS / 4, USERS * 9 / 10);
}

TEST(removal_of_all_lists_frees_tables) {
	for (unsigned u = 0; u < USERS; u++) {
		rule_lists_put(&lists, users[u].number);
		users[u].modem.classifier_count = 0;
	}
	rebuild_rules();
	for (int family = 0; family < RULE_FAMILIES; family++)
		check_packets((enum rule_family)family);
	assert_null(rules.tables[RULES_LARGE]);
	assert_null(rules.tables[RULES_SMALL]);
	for (uint32_t n = 0; n < lists.count; n++)
		assert_null(lists.all[n].lines);
	rule_lists_free(&lists);
}

TEST(abandoned_build_keeps_rules_in_service) {
	struct rules next, none = {0};
	uint32_t first, second;

	assert_int_equal(rule_lists_create(&lists), 0);
	lists.lines[0] = (struct rule_line){.match = {.family = RULE_LLC}, .result = 1};
	first = rule_lists_get(&lists, 1);
	assert_int_equal(rules_build(&rules, "abandoned", &lists, &none), 0);
	lists.lines[0].result = 2;
	second = rule_lists_get(&lists, 1);
	assert_int_equal(rules_build(&next, "abandoned", &lists, &rules), 0);
	assert_ptr_equal(next.tables[RULES_LARGE], rules.tables[RULES_LARGE]);
	assert_non_null(next.tables[RULES_SMALL]);
	rules_free(&next, &rules, &lists);
	rule_lists_put(&lists, second);
	assert_null(lists.all[second].lines);
	assert_non_null(lists.all[first].lines);
	rule_lists_put(&lists, first);
	assert_non_null(lists.all[first].lines); /* rules in service use it */
	rules_free(&rules, NULL, &lists);
	assert_null(lists.all[first].lines);
	rule_lists_free(&lists);
}

ALL_TESTS(fixture_start, NULL)

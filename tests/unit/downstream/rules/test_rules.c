/* SPDX-License-Identifier: BSD-3-Clause */
/* Rule lists in rte_acl against a slow evaluator: random ones, and edges of each kind of field. */
#include "test.h"

#include <string.h>

#include "downstream/rules/rules.h"

#include "fixture.h"
#include "match_model.h"
#include "random.h"
#include "rules_plain.h"

#define MAX_RULES 300
#define BURST 64
#define SETS 12

struct lists {
	struct match matches[MAX_RULES];
	struct rule rules[MAX_RULES];
	size_t count;
	uint64_t hits;
};

/* One call with `n` packets of one family. */
static void compare(const struct rules *r, struct lists *l, enum rule_family family,
		    const struct packet *packets, uint32_t n) {
	struct rule_key keys[BURST];
	const uint8_t *pointers[BURST];
	uint32_t results[BURST];

	for (uint32_t i = 0; i < n; i++) {
		key_of(&packets[i], &keys[i]);
		pointers[i] = (const uint8_t *)&keys[i];
		results[i] = 0xdead;
	}
	rules_match(r, family, pointers, results, n);
	for (uint32_t i = 0; i < n; i++) { /* those with extension headers are asked for alone */
		if (packets[i].extensions != 0)
			results[i] = rules_match_chain(r, &keys[i], packets[i].extensions);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t expected = evaluate(l->rules, l->count, &packets[i]);

		if (results[i] != expected)
			fail_msg("family %d, set %u: found %u, expected %u", family, packets[i].set,
				 results[i], expected);
		l->hits += expected != 0;
	}
}

/* The numbers of lists: the smallest, the largest, neighbours, and those that differ in one bit. */
static const uint32_t sets[SETS] = {0,	    1,	     2,	       3,	 0x80,	   0x100,
				    0xffff, 0x10000, 0x3fffff, 0x400000, 0x7ffffe, RULE_LIST_MOST};

static void random_lists(struct lists *l, struct random *r, size_t count, unsigned families) {
	l->count = count;
	for (size_t i = 0; i < count; i++) {
		enum rule_family family = (enum rule_family)random_below(r, RULE_FAMILIES);

		while (!(families >> family & 1))
			family = (enum rule_family)((family + 1) % RULE_FAMILIES);
		l->matches[i] = random_match(r, family);
		l->rules[i] = (struct rule){&l->matches[i], sets[random_below(r, SETS)],
					    (uint32_t)i + 1, (uint32_t)i};
	}
}

static void agree_with_the_evaluator(void **state) {
	struct lists *l = test_calloc(1, sizeof(*l));
	struct random r = {31337};
	uint64_t packets = 0;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct rules rules;

		random_lists(l, &r, random_between(&r, 0, MAX_RULES), 1 + random_below(&r, 7));
		rules_plain(&rules, "random", l->rules, l->count);
		for (int i = 0; i < 30; i++) {
			enum rule_family family = (enum rule_family)(i % RULE_FAMILIES);
			uint32_t n = random_between(&r, 0, BURST);
			struct packet burst[BURST];

			for (uint32_t k = 0; k < n; k++)
				burst[k] = random_packet(&r, family, sets[random_below(&r, SETS)]);
			compare(&rules, l, family, burst, n);
			packets += n;
		}
		rules_plain_free(&rules);
	}
	/* a good part of the packets met a rule, and a good part none */
	assert_in_range(l->hits, packets / 10, packets * 9 / 10);
	test_free(l);
}

/* Every length of prefix, at its edge: the last bit inside and the first outside. */
static void prefixes_of_all_lengths(void **state) {
	struct lists *l = test_calloc(1, sizeof(*l));

	(void)state;
	for (unsigned length = 0; length <= 128; length++) {
		enum rule_family family = length <= 32 ? RULE_IPV4 : RULE_IPV6;
		struct packet p[3] = {{.family = family}};
		struct rules rules;

		l->matches[0] = (struct match){
			.family = family,
			.destination = {{family == RULE_IPV4 ? 4 : 6, {0}}, (uint8_t)length},
			.source_ports = {0, UINT16_MAX},
			.destination_ports = {0, UINT16_MAX},
		};
		memset(l->matches[0].destination.address.bytes, 0xa5, 16);
		l->rules[0] = (struct rule){&l->matches[0], 0, 1};
		l->count = 1;
		memset(p[0].destination, 0xa5, 16);
		p[1] = p[2] = p[0];
		if (length > 0)
			p[1].destination[(length - 1) / 8] ^= (uint8_t)(0x80u >> (length - 1) % 8);
		if (length < 128)
			p[2].destination[length / 8] ^= (uint8_t)(0x80u >> length % 8);
		rules_plain(&rules, "prefix", l->rules, 1);
		compare(&rules, l, family, p, 3);
		rules_plain_free(&rules);
	}
	assert_int_equal(l->hits, 2 * 129 + 1);
	test_free(l);
}

/* Of rules that all match the one that stands first wins, also among many. */
static void first_match_wins(void **state) {
	struct lists *l = test_calloc(1, sizeof(*l));
	const struct packet p = {.family = RULE_IPV4, .set = 5, .has_ports = true};
	struct rules rules;

	(void)state;
	for (l->count = 0; l->count < MAX_RULES; l->count++) {
		struct match *m = &l->matches[l->count];

		*m = (struct match){.family = RULE_IPV4,
				    .source_ports = {0, (uint16_t)l->count},
				    .destination_ports = {0, UINT16_MAX}};
		l->rules[l->count] = (struct rule){m, l->count % 2 ? 5 : 6, 1000 + l->count};
	}
	rules_plain(&rules, "first", l->rules, l->count);
	for (uint16_t port = 0; port < MAX_RULES; port++) {
		struct packet q = p;

		q.source_port = port;
		compare(&rules, l, RULE_IPV4, &q, 1);
		/* the evaluator is not asked alone: odd rules from `port` on match list 5 */
		assert_int_equal(evaluate(l->rules, l->count, &q), 1000 + (port | 1));
	}
	rules_plain_free(&rules);
	test_free(l);
}

static void no_rules_match_nothing(void **state) {
	struct lists *l = test_calloc(1, sizeof(*l));
	const struct packet p = {.family = RULE_IPV6};
	struct rules rules;

	(void)state;
	rules_plain(&rules, "none", l->rules, 0);
	for (int family = 0; family < RULE_FAMILIES; family++)
		compare(&rules, l, (enum rule_family)family, &p, 1);
	rules_match(&rules, RULE_IPV4, NULL, NULL, 0);
	rules_plain_free(&rules);
	rules = (struct rules){0};
	compare(&rules, l, RULE_IPV4, &p, 1);
	test_free(l);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agree_with_the_evaluator),
		cmocka_unit_test(prefixes_of_all_lengths),
		cmocka_unit_test(first_match_wins),
		cmocka_unit_test(no_rules_match_nothing),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}

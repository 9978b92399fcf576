/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared rule lists of random modems against the slow evaluator: every packet that can reach a
 * modem gets the answer of the modem's own list.
 */
#include "test.h"

#include <string.h>

#include "match_model.h"
#include "random.h"
#include "rule_lists_group.h"
#include "wire/ip.h"

static struct ip_address random_ip(struct random *r) {
	struct ip_address a = {.family = random_below(r, 2) ? 4 : 6};
	uint8_t bytes[16];

	random_address(r, bytes);
	memcpy(a.bytes, bytes, ip_address_size(a.family));
	return a;
}

/* Mostly about the modem's own addresses, by a prefix that some, all or none of them may be in. */
static void random_classifier(struct random *r, const struct modem *m, struct classifier *c) {
	const struct ip_address *own = &m->addresses[random_below(r, ADDRESSES)];
	enum rule_family family = (enum rule_family)random_below(r, RULE_FAMILIES);
	bool fits = own->family == (family == RULE_IPV4 ? 4 : 6);

	c->flow = random_below(r, 2);
	c->match = random_match(r, family);
	if (family == RULE_LLC)
		return;
	if (random_below(r, 2))
		c->match.source.length = 0;
	if (fits && random_below(r, 4))
		c->match.destination = (struct ip_prefix){
			*own, (uint8_t)random_between(r, 0, own->family == 4 ? 32 : 128)};
}

/* Every other modem has the list of one before, but for its own destinations at times. */
static void random_modem(struct random *r, struct group *g, size_t number) {
	struct modem *m = &g->modems[number];

	m->address_count = random_below(r, ADDRESSES + 1);
	for (size_t a = 0; a < ADDRESSES; a++)
		m->addresses[a] = random_ip(r);
	m->classifier_count = random_below(r, CLASSIFIERS + 1);
	for (size_t c = 0; c < m->classifier_count; c++)
		random_classifier(r, m, &m->classifiers[c]);
	if (number % 2) {
		const struct modem *like = &g->modems[random_below(r, (uint32_t)number)];

		m->classifier_count = like->classifier_count;
		for (size_t c = 0; c < like->classifier_count; c++) {
			struct ip_prefix destination = m->classifiers[c].match.destination;
			bool alike =
				m->classifiers[c].match.family == like->classifiers[c].match.family;

			m->classifiers[c] = like->classifiers[c];
			if (alike && random_below(r, 2))
				m->classifiers[c].match.destination = destination;
		}
	}
}

/* Such packets as the modem lookup lets through to this modem. Returns false where there are none. */
static bool packet_to(struct random *r, const struct modem *m, struct packet *p) {
	*p = random_packet(r, (enum rule_family)random_below(r, RULE_FAMILIES), 0);
	if (p->family == RULE_LLC)
		return true;
	for (int i = 0; i < 8 && m->address_count > 0; i++) {
		const struct ip_address *to =
			&m->addresses[random_below(r, (uint32_t)m->address_count)];

		memcpy(p->destination, to->bytes, sizeof(p->destination));
		if (to->family == (p->family == RULE_IPV4 ? 4 : 6))
			return true;
	}
	return false;
}

static uint32_t own_answer(const struct modem *m, const struct packet *p) {
	for (size_t c = 0; c < m->classifier_count; c++) {
		if (matches(&m->classifiers[c].match, p))
			return 1 + m->classifiers[c].flow;
	}
	return 0;
}

struct tally {
	uint64_t packets, hits, modems, lists, rules, kept, destinations;
};

static void compare_group(struct random *r, const struct group *g, struct tally *t) {
	struct taken taken;

	classifiers_take(&taken, g);
	for (int i = 0; i < 2000; i++) {
		size_t m = random_below(r, MODEMS);
		struct packet p;
		uint32_t expected;

		if (!packet_to(r, &g->modems[m], &p))
			continue;
		expected = own_answer(&g->modems[m], &p);
		p.set = taken.of[m];
		assert_int_equal(evaluate(taken.rules, taken.rule_count, &p), expected);
		t->packets++;
		t->hits += expected != 0;
	}
	t->modems += MODEMS;
	t->lists += taken.lists.used;
	for (size_t m = 0; m < MODEMS; m++)
		t->rules += g->modems[m].classifier_count;
	t->kept += taken.rule_count;
	for (size_t i = 0; i < taken.rule_count; i++)
		t->destinations += taken.rules[i].match->destination.length > 0;
	rule_lists_free(&taken.lists);
}

static void answers_are_those_of_lists_of_their_own(void **state) {
	struct random r = {27182};
	struct tally t = {0};

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct group *g = group_new(MODEMS);

		for (size_t m = 0; m < MODEMS; m++)
			random_modem(&r, g, m);
		compare_group(&r, g, &t);
		test_free(g);
	}
	/* Packets met rules and met none; lists were shared and were not; destinations stayed. */
	assert_in_range(t.hits, t.packets / 10, t.packets * 9 / 10);
	assert_in_range(t.lists, t.modems / 4, t.modems * 19 / 20);
	assert_in_range(t.kept, t.rules / 10, t.rules * 9 / 10);
	assert_in_range(t.destinations, t.kept / 20, t.kept);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_those_of_lists_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

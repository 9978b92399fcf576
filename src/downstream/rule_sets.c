/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each list is written behind those that there are. Where an equal one is found by its hash, the
 * new one is forgotten.
 */
#include "downstream/rule_sets.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list that there is: so many rules from the first. */
struct place {
	size_t first, count;
};

struct sharing {
	struct rule_sets *sets;
	struct place *places;
	uint32_t
		*slots; /* 1 + the number of a list, or 0, by the hash or the next free behind it */
	size_t slot_mask;
	struct place open; /* the list that is being written */
};

/* The parts of a match, without the gaps between them. */
#define PART(name) {offsetof(struct match, name), sizeof(((struct match *)NULL)->name)}
static const struct {
	size_t at, size;
} parts[] = {
	PART(family),	     PART(source),	 PART(destination),
	PART(has_protocol),  PART(protocol),	 PART(tos),
	PART(tos_mask),	     PART(source_ports), PART(destination_ports),
	PART(has_ethertype), PART(ethertype),
};
static_assert(sizeof(struct match) == 56, "a new part of a match is to be compared too");

static bool match_same(const struct match *a, const struct match *b) {
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
		if (memcmp((const char *)a + parts[p].at, (const char *)b + parts[p].at,
			   parts[p].size) != 0)
			return false;
	}
	return true;
}

static bool list_same(const struct rule *a, const struct rule *b, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (a[i].result != b[i].result || !match_same(a[i].match, b[i].match))
			return false;
	}
	return true;
}

/* FNV-1a; of 64 bits, so that the upper ones are good for something too. */
static uint64_t hash_mix(uint64_t hash, const void *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return hash;
}

static uint64_t hash_list(const struct rule *rules, size_t count) {
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < count; i++) {
		for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
			hash = hash_mix(hash, (const char *)rules[i].match + parts[p].at,
					parts[p].size);
		hash = hash_mix(hash, &rules[i].result, sizeof(rules[i].result));
	}
	return hash ^ hash >> 32;
}

/* Without what lies behind the length, and all alike that match everything. */
static void prefix_tidy(struct ip_prefix *p) {
	for (unsigned i = 0; i < sizeof(p->address.bytes); i++) {
		unsigned bits = p->length > 8 * i ? p->length - 8 * i : 0;

		if (bits < 8)
			p->address.bytes[i] &= (uint8_t)(0xff00 >> bits);
	}
	if (p->length == 0)
		p->address.family = 0;
}

/* Without what rules.c does not look at, so that equal matches are of equal bytes. */
static void match_tidy(struct match *m) {
	const struct ip_prefix everything = {0};
	const struct port_range ports = {0};

	if (!m->has_protocol)
		m->protocol = 0;
	m->tos &= m->tos_mask;
	if (m->family != RULE_LLC)
		m->has_ethertype = false;
	else
		m->source_ports = m->destination_ports = ports;
	if (!m->has_ethertype)
		m->ethertype = 0;
	if (m->family == RULE_LLC)
		m->source = m->destination = everything;
	prefix_tidy(&m->source);
	prefix_tidy(&m->destination);
}

static bool prefix_contains(const struct ip_prefix *p, const struct ip_address *address) {
	uint8_t whole = p->length / 8;
	unsigned difference;

	if (memcmp(p->address.bytes, address->bytes, whole) != 0)
		return false;
	if (p->length % 8 == 0)
		return true;
	difference = p->address.bytes[whole] ^ address->bytes[whole];
	return difference >> (8 - p->length % 8) == 0;
}

/*
 * The match for packets to this modem alone. IP packets are looked up by their destination, so that
 * it is always one of the modem's addresses. Returns false if there is no packet that it matches.
 */
static bool match_narrow(struct match *m, const struct modem *modem) {
	uint8_t family = m->family == RULE_IPV4 ? 4 : 6;
	size_t inside = 0, all = 0;

	if (m->family == RULE_LLC)
		return true;
	for (size_t a = 0; a < modem->address_count; a++) {
		const struct ip_address *address = &modem->addresses[a];

		all += address->family == family;
		inside += address->family == family && prefix_contains(&m->destination, address);
	}
	if (inside == all)
		m->destination = (struct ip_prefix){0};
	return inside > 0;
}

/* Room for the lists of so many owners, of so many rules together. */
static int sharing_start(struct sharing *s, struct rule_sets *sets, size_t owners, size_t rules) {
	size_t slots = 2;

	while (slots < 2 * owners)
		slots *= 2;
	/* As many as there can be; what is not written to takes no memory. */
	*sets = (struct rule_sets){
		.of = calloc(owners + 1, sizeof(*sets->of)),
		.rules = calloc(rules + 1, sizeof(*sets->rules)),
		.matches = calloc(rules + 1, sizeof(*sets->matches)),
	};
	*s = (struct sharing){
		.sets = sets,
		.places = calloc(owners + 1, sizeof(*s->places)),
		.slots = calloc(slots, sizeof(*s->slots)),
		.slot_mask = slots - 1,
	};
	if (sets->of && sets->rules && sets->matches && s->places && s->slots)
		return 0;
	fprintf(stderr, "downstream: no memory to share %zu rules\n", rules);
	return -1;
}

static void sharing_end(struct sharing *s) {
	free(s->places);
	free(s->slots);
}

static void sharing_add_rule(struct sharing *s, const struct match *match, uint32_t result) {
	size_t at = s->open.first + s->open.count++;
	struct match *m = &s->sets->matches[at];

	*m = *match;
	match_tidy(m);
	s->sets->rules[at] = (struct rule){m, s->sets->count, result};
}

/* Ends the list that sharing_add_rule() wrote. Returns its number, or that of the one that it equals. */
static uint32_t sharing_end_list(struct sharing *s) {
	const struct rule *rules = s->sets->rules, *list = &rules[s->open.first];
	size_t count = s->open.count, slot = hash_list(list, count) & s->slot_mask;

	s->open.count = 0;
	for (; s->slots[slot] != 0; slot = (slot + 1) & s->slot_mask) {
		const struct place *p = &s->places[s->slots[slot] - 1];

		if (p->count == count && list_same(&rules[p->first], list, count))
			return s->slots[slot] - 1;
	}
	s->places[s->sets->count] = (struct place){s->open.first, count};
	s->slots[slot] = ++s->sets->count;
	s->sets->rule_count = s->open.first += count;
	return s->sets->count - 1;
}

static size_t classifier_count(const struct service_group *sg) {
	size_t rules = 0;

	for (size_t m = 0; m < sg->modem_count; m++)
		rules += sg->modems[m].classifier_count;
	return rules;
}

static size_t filter_count(const struct service_group *sg) {
	size_t rules = 0;

	for (size_t g = 0; g < sg->filter_group_count; g++)
		rules += sg->filter_groups[g].rule_count;
	return rules;
}

int rule_sets_classifiers(struct rule_sets *sets, const struct service_group *sg) {
	struct sharing s;
	int ret = sharing_start(&s, sets, sg->modem_count, classifier_count(sg));

	for (size_t m = 0; ret == 0 && m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		for (size_t i = 0; i < modem->classifier_count; i++) {
			struct match match = modem->classifiers[i].match;

			if (match_narrow(&match, modem))
				sharing_add_rule(&s, &match, 1 + modem->classifiers[i].flow);
		}
		sets->of[m] = sharing_end_list(&s);
	}
	sharing_end(&s);
	return ret;
}

int rule_sets_filters(struct rule_sets *sets, const struct service_group *sg) {
	struct sharing s;
	int ret = sharing_start(&s, sets, sg->filter_group_count, filter_count(sg));

	for (size_t g = 0; ret == 0 && g < sg->filter_group_count; g++) {
		const struct filter_group *group = &sg->filter_groups[g];

		for (size_t i = 0; i < group->rule_count; i++)
			sharing_add_rule(&s, &group->rules[i].match, 1 + group->rules[i].action);
		sets->of[g] = sharing_end_list(&s);
	}
	sharing_end(&s);
	return ret;
}

void rule_sets_free(struct rule_sets *s) {
	free(s->of);
	free(s->rules);
	free(s->matches);
	*s = (struct rule_sets){0};
}

size_t rule_sets_total(const struct service_group *sg) {
	struct rule_sets filters, classifiers = {0};
	size_t total = filter_count(sg) + classifier_count(sg);

	if (rule_sets_filters(&filters, sg) == 0 && rule_sets_classifiers(&classifiers, sg) == 0)
		total = filters.rule_count + classifiers.rule_count;
	rule_sets_free(&filters);
	rule_sets_free(&classifiers);
	return total;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordered rule lists of many modems or groups in one rte_acl context a family, so that all packets
 * of a burst are matched in one call. A list's number is part of the key.
 *
 * A context never changes. As building one of thousands of rules takes milliseconds, they stand on two
 * shelves: most on a large one, and on a small one those that came since that was built. A list is on one
 * of them, so what the other says of its number is nothing.
 */
#pragma once

#include <stdint.h>

#include <rte_acl.h>

#include "downstream/rules/flow_key.h"
#include "downstream/rules/rule_lists.h"
#include "model/group/match.h"

#define RULE_FAMILIES 3
#define RULES_MATCH_MAX 256 /* as many as the filter groups of a burst */
#define RULES_NAME_SIZE 20 /* with the 0 */
#define RULE_RESULT_MAX 0xffff

/* What a packet is matched by, in a layout that rte_acl reads. */
struct rule_key {
	struct flow_key flow;
	uint32_t
		set_tos; /* number of the list (23 bits), FLOW_NO_PORTS (1 bit), TOS (8 bits), network order */
};

/* One rule of list `set`. `result` is what a match tells, 1..RULE_RESULT_MAX. */
struct rule {
	const struct match *match;
	uint32_t set;
	uint32_t result;
	uint32_t position; /* in its list, 0..SG_MAX_RULES - 1; read by rules_match_chain() */
};

struct rule_shelf {
	struct rte_acl_ctx *acl[RULE_FAMILIES]; /* NULL where no rule is */
	uint32_t *lists; /* numbers of those with a rule here, in ascending order */
	uint32_t list_count;
	size_t rule_count;
};

enum { RULES_LARGE, RULES_SMALL, RULES_SHELVES };

struct rules {
	struct rule_shelf *shelves[RULES_SHELVES]; /* NULL: nothing is on it */
};

/*
 * Builds `next` of all lists that somebody has. It shares with `now`, which may be empty, what stays as it
 * is. `name` is unique in the process. Returns 0, or -1 after a message: then `next` is empty.
 */
int rules_build(struct rules *next, const char *name, struct rule_lists *l,
		const struct rules *now);

/* Frees `old`, but for what `other` has too (NULL: nothing), once nobody matches by it any more. */
void rules_free(struct rules *old, const struct rules *other, struct rule_lists *l);

/* The contexts of `count` rules, of which one of the same list that stands first wins. Returns 0, or -1
 * after a message: then there are none. */
int rules_acl_create(struct rte_acl_ctx *acl[RULE_FAMILIES], const char *name,
		     const struct rule *list, size_t count);

void rules_acl_free(struct rte_acl_ctx *acl[RULE_FAMILIES]);

/* Looks up `n` keys, at most RULES_MATCH_MAX, of one family; `results` gets the result of the first match of each, or 0. */
void rules_match(const struct rules *r, enum rule_family family, const uint8_t **keys,
		 uint32_t *results, uint32_t n);

/*
 * The result of the first rule that an IPv6 packet with extension headers matches, or 0. A rule's protocol may
 * be that of any of its headers (MULPI, annex C: next header type). `extensions` is that of struct frame_fields.
 */
uint32_t rules_match_chain(const struct rules *r, const struct rule_key *key, uint16_t extensions);

static inline void rule_key_set(struct rule_key *key, uint32_t set) {
	uint32_t no_ports = key->flow.flags & FLOW_NO_PORTS;

	key->set_tos = rte_cpu_to_be_32(set << 9 | no_ports << 8 | key->flow.tos);
}

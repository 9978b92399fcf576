/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordered rule lists of many modems or filter groups in one rte_acl context per family, so that one
 * call matches all packets of a burst. A list's number is part of the key.
 *
 * A context never changes. Building thousands of rules takes milliseconds, so there are two
 * tables: a large one for most lists, and a small one for lists that were added after it was
 * built. Each list is in one of them, and the other one has no match for its number.
 */
#pragma once

#include <stdint.h>

#include <rte_acl.h>

#include "downstream/rules/flow_key.h"
#include "downstream/rules/rule_lists.h"
#include "model/group/match.h"

#define RULE_FAMILIES 3
#define RULES_MATCH_MAX 256 /* number of filter groups in a burst */
#define RULES_NAME_SIZE 20 /* with the terminating 0 */
#define RULE_RESULT_MAX 0xffff

/* The key of a packet, in a layout for rte_acl. */
struct rule_key {
	struct flow_key flow;
	uint32_t set_tos; /* list number (23 bits), FLOW_NO_PORTS (1), TOS (8), in network order */
};

/* One rule of list `set`. A match returns `result`, 1..RULE_RESULT_MAX. */
struct rule {
	const struct match *match;
	uint32_t set;
	uint32_t result;
	uint32_t position; /* in the list, 0..SG_MAX_RULES - 1; for rules_match_chain() */
};

struct rule_table {
	struct rte_acl_ctx *acl[RULE_FAMILIES]; /* NULL: no rules of the family */
	uint32_t *lists; /* numbers of its lists, ascending */
	uint32_t list_count;
	size_t rule_count;
};

enum { RULES_LARGE, RULES_SMALL, RULES_TABLES };

struct rules {
	struct rule_table *tables[RULES_TABLES]; /* NULL: empty */
};

/*
 * Builds `next` from all lists with users. It shares unchanged tables with `now`, which may be
 * empty. `name` must be unique in the process. Returns 0, or -1 after logging an error; then `next`
 * is empty.
 */
int rules_build(struct rules *next, const char *name, struct rule_lists *l,
		const struct rules *now);

/* Frees `old`, except tables shared with `other` (NULL: none). No worker may use `old` any more. */
void rules_free(struct rules *old, const struct rules *other, struct rule_lists *l);

/* Creates the contexts of `count` rules. Of the matching rules of a list, the first one wins.
 * Returns 0, or -1 after logging an error; then there are none. */
int rules_acl_create(struct rte_acl_ctx *acl[RULE_FAMILIES], const char *name,
		     const struct rule *list, size_t count);

void rules_acl_free(struct rte_acl_ctx *acl[RULE_FAMILIES]);

/* Matches `n` keys of one family, at most RULES_MATCH_MAX. Stores the result of the first match
 * of each, or 0. */
void rules_match(const struct rules *r, enum rule_family family, const uint8_t **keys,
		 uint32_t *results, uint32_t n);

/*
 * The result of the first rule that an IPv6 packet with extension headers matches, or 0. A rule's
 * protocol may match any of its headers (MULPI, annex C: next header type). `extensions` is that of
 * struct frame_fields.
 */
uint32_t rules_match_chain(const struct rules *r, const struct rule_key *key, uint16_t extensions);

static inline void rule_key_set(struct rule_key *key, uint32_t set) {
	uint32_t no_ports = key->flow.flags & FLOW_NO_PORTS;

	key->set_tos = rte_cpu_to_be_32(set << 9 | no_ports << 8 | key->flow.tos);
}

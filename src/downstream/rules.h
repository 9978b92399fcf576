/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordered rule lists of many modems or groups in one rte_acl context a family, so that all packets
 * of a burst are matched in one call. A list's number is part of the key.
 */
#pragma once

#include <stdint.h>

#include <rte_acl.h>

#include "downstream/flow_key.h"
#include "model/service_group.h"

#define RULE_FAMILIES 3
#define RULE_SET_MAX 0xffffff
#define RULES_NAME_SIZE 24 /* with the 0 */

/* What a packet is matched by, in a layout that rte_acl reads. */
struct rule_key {
	struct flow_key flow;
	uint32_t set_tos; /* number of the list (24 bits) and TOS (8 bits), network order */
};

/* One rule of list `set`. `result` is what a match tells, not 0. */
struct rule {
	const struct match *match;
	uint32_t set;
	uint32_t result;
};

struct rules {
	struct rte_acl_ctx *acl[RULE_FAMILIES]; /* NULL where no rule is */
};

/*
 * Builds the contexts of `count` rules under a name that is unique in the process; of two rules of
 * the same list the one that stands first wins. Returns 0, or -1 after a message on stderr.
 */
int rules_create(struct rules *r, const char *name, const struct rule *list, size_t count);

void rules_free(struct rules *r);

/* Looks up `n` keys of one family; `results` gets the result of the first match of each, or 0. */
void rules_match(const struct rules *r, enum rule_family family, const uint8_t **keys,
		 uint32_t *results, uint32_t n);

static inline void rule_key_set(struct rule_key *key, uint32_t set) {
	key->set_tos = rte_cpu_to_be_32(set << 8 | key->flow.tos);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lookup, filter and classify have found out for the flows seen last, so that their next packets
 * pass by hash tables and rules. A flow is everything of a packet that those three ask for: two packets
 * with the same key get the same modem, the same verdict and the same service flow.
 *
 * A record is found at the hash of its key or in the neighbouring line; a new one takes the place of
 * another. Whoever changes what is found out of a modem's packets has its flows forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_hash_crc.h>

#include "downstream/rules/flow_key.h"

/* Modems whose flows are forgotten together: so many numbers stay in the nearest cache. */
#define FLOW_CACHE_SHARES 1024

/*
 * One cache line. A number of a generation comes again after 2^32 - 1 changes, a century of one a second:
 * so none has to be cleared away, which would stop the worker.
 */
struct flow_record {
	struct flow_key key;
	uint32_t modem; /* index */
	uint32_t flow; /* index of the service flow in the service group */
	uint32_t cpe_period; /* in which the address was admitted, its low bits */
	uint32_t generation; /* of what was known of its modem; 0: empty */
	uint8_t filter; /* what the filter rules say: 0, or 1 + enum filter_action */
	uint8_t mac[6]; /* of the modem */
	uint8_t classified; /* enum classified */
} __rte_cache_aligned;
_Static_assert(sizeof(struct flow_record) == RTE_CACHE_LINE_SIZE, "one cache line");

struct flow_cache {
	struct flow_record *records; /* NULL: nothing is kept */
	uint32_t mask; /* of an index */
	uint32_t learned; /* records asked for, of which some replace others */
	uint32_t generations[FLOW_CACHE_SHARES]; /* by the modem's index; never 0 */
};

/* Makes an empty cache of `records`, made up to a power of two; none for 0. Returns 0, or -1 when memory
 * is short. */
int flow_cache_create(struct flow_cache *c, uint32_t records);

void flow_cache_free(struct flow_cache *c);

/* Nothing that was learned of the modem's packets before is used any more. By the worker that has the
 * cache, between two bursts, or when it does not run. */
void flow_cache_forget(struct flow_cache *c, uint32_t modem);

/* The same of all modems. */
void flow_cache_forget_all(struct flow_cache *c);

static inline bool flow_cache_valid(const struct flow_cache *c, const struct flow_record *r) {
	return r->generation == c->generations[r->modem % FLOW_CACHE_SHARES];
}

static inline uint32_t flow_cache_hash(const struct flow_key *key) {
	uint32_t hash = rte_hash_crc_8byte(key->words[0], 0);

	if (key->family == RULE_IPV6) {
		hash = rte_hash_crc_8byte(key->words[1], hash);
		hash = rte_hash_crc_8byte(key->words[2], hash);
		hash = rte_hash_crc_8byte(key->words[3], hash);
	}
	return rte_hash_crc_8byte(flow_key_head(key), hash);
}

/* The two places of a key. The second is for a flow that came when another one had the first. */
static inline struct flow_record *flow_cache_place(const struct flow_cache *c, uint32_t hash,
						   bool second) {
	return &c->records[(hash ^ second) & c->mask];
}

/* Has a place fetched into the nearest cache. */
static inline void flow_cache_prefetch(const struct flow_cache *c, uint32_t hash, bool second) {
	__builtin_prefetch(flow_cache_place(c, hash, second));
}

/* The record of the key in one of its places, or NULL where another one is there. */
static inline const struct flow_record *flow_cache_find(const struct flow_cache *c,
							const struct flow_key *key, uint32_t hash,
							bool second) {
	const struct flow_record *r = flow_cache_place(c, hash, second);

	return flow_key_same(key, &r->key) && flow_cache_valid(c, r) ? r : NULL;
}

/* The record of a key, made where it has none, to be filled in but for key, modem and generation; NULL
 * where the place of another one is not to be taken. */
struct flow_record *flow_cache_learn(struct flow_cache *c, const struct flow_key *key,
				     uint32_t hash, uint32_t modem);

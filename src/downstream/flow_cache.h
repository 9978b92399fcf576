/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache of the results of lookup, filter and classify for recent flows, so that later packets
 * bypass hash tables and rules. The key has all fields that these stages use: packets with the same
 * key get the same modem, verdict and service flow.
 *
 * A record is in the slot of its key's hash or in the adjacent one. A new record may replace
 * another. After any change that affects a modem's packets, the caller must call
 * flow_cache_invalidate().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_hash_crc.h>

#include "downstream/rules/flow_key.h"

/* Number of generations, few enough to stay in a near cache. Modems share them by index, modulo. */
#define FLOW_CACHE_SHARES 1024

/* One cache line. A generation repeats after 2^32 - 1 changes, which is over a century at one per
 * second. So no step clears stale records, which would stop the worker for long. */
struct flow_record {
	struct flow_key key;
	uint32_t modem; /* index */
	uint32_t flow; /* index in the service group */
	uint32_t cpe_period; /* low bits of the period in which the address was admitted */
	uint32_t generation; /* of its modem; 0: empty */
	uint8_t filter; /* result of the filter rules: 0, or 1 + enum filter_action */
	uint8_t mac[6]; /* of the modem */
	uint8_t classified; /* enum classified */
} __rte_cache_aligned;
_Static_assert(sizeof(struct flow_record) == RTE_CACHE_LINE_SIZE, "one cache line");

struct flow_cache {
	struct flow_record *records; /* NULL: no cache */
	uint32_t mask; /* of an index */
	uint32_t contended; /* new flows that found both slots in use */
	uint32_t generations[FLOW_CACHE_SHARES]; /* by the modem's index, modulo; never 0 */
};

/* Creates an empty cache of `records`, rounded up to a power of two; none for 0. Returns 0, or
 * -1 if memory is short. */
int flow_cache_create(struct flow_cache *c, uint32_t records);

void flow_cache_free(struct flow_cache *c);

/* Invalidates all records of the modem, and those of modems that share its generation. Called by
 * the cache's worker between two bursts, or by any thread while that worker does not run. */
void flow_cache_invalidate(struct flow_cache *c, uint32_t modem);

/* The same for all modems. */
void flow_cache_invalidate_all(struct flow_cache *c);

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

/* One of the two slots of a key. The second one is for a flow that finds the first one in use. */
static inline struct flow_record *flow_cache_slot(const struct flow_cache *c, uint32_t hash,
						  bool second) {
	return &c->records[(hash ^ second) & c->mask];
}

/* Prefetches a slot. */
static inline void flow_cache_prefetch(const struct flow_cache *c, uint32_t hash, bool second) {
	__builtin_prefetch(flow_cache_slot(c, hash, second));
}

/* The valid record of the key in the given one of its slots, or NULL. Requires a cache. */
static inline const struct flow_record *flow_cache_find(const struct flow_cache *c,
							const struct flow_key *key, uint32_t hash,
							bool second) {
	const struct flow_record *r = flow_cache_slot(c, hash, second);

	return flow_key_same(key, &r->key) && flow_cache_valid(c, r) ? r : NULL;
}

/* Writes a record for a key: sets key, modem and generation; the caller must set all other fields.
 * Returns NULL if both slots are in use and this flow may replace none. Requires a cache. */
struct flow_record *flow_cache_add(struct flow_cache *c, const struct flow_key *key, uint32_t hash,
				   uint32_t modem);

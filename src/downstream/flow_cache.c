/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/flow_cache.h"

#include <string.h>

#include <rte_malloc.h>

#include "platform/large_pages.h"

/* Only one of this many new flows replaces a valid record. Else, with more active flows than
 * records, each record would be replaced before its second use, and writing it would be wasted. */
#define REPLACE_ONE_OF 8

int flow_cache_create(struct flow_cache *c, uint32_t records) {
	memset(c, 0, sizeof(*c));
	if (records == 0)
		return 0;
	records = rte_align32pow2(records);
	c->records = rte_zmalloc_socket("flow cache", records * sizeof(*c->records),
					RTE_CACHE_LINE_SIZE, large_pages_socket());
	if (c->records == NULL)
		return -1;
	c->mask = records - 1;
	flow_cache_invalidate_all(c);
	return 0;
}

void flow_cache_free(struct flow_cache *c) {
	rte_free(c->records);
	c->records = NULL;
}

/* Skips 0, the generation of empty records. */
static uint32_t generation_next(uint32_t generation) {
	return generation == UINT32_MAX ? 1 : generation + 1;
}

void flow_cache_invalidate(struct flow_cache *c, uint32_t modem) {
	uint32_t *generation = &c->generations[modem % FLOW_CACHE_SHARES];

	*generation = generation_next(*generation);
}

void flow_cache_invalidate_all(struct flow_cache *c) {
	for (uint32_t share = 0; share < FLOW_CACHE_SHARES; share++)
		flow_cache_invalidate(c, share);
}

struct flow_record *flow_cache_add(struct flow_cache *c, const struct flow_key *key, uint32_t hash,
				   uint32_t modem) {
	struct flow_record *r = flow_cache_slot(c, hash, false);

	if (flow_cache_valid(c, r) && !flow_key_same(key, &r->key))
		r = flow_cache_slot(c, hash, true);
	if (flow_cache_valid(c, r) && !flow_key_same(key, &r->key) &&
	    ++c->contended % REPLACE_ONE_OF != 0)
		return NULL;
	r->key = *key;
	r->modem = modem;
	r->generation = c->generations[modem % FLOW_CACHE_SHARES];
	return r;
}

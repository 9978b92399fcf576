/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the keys that modems get and lose in a key roll. */
#include "follow/follow_keys.h"

#include <stdlib.h>
#include <string.h>

#include "directions/uplink_parts.h"

#define GENERATIONS 2

struct generation {
	uint8_t sequence;
	const uint8_t *key, *iv;
};

/* Gets the key generations of an association. Returns their number. */
static unsigned generations_of(const struct security_association *sa,
			       struct generation out[GENERATIONS]) {
	if (sa->cipher == CIPHER_NONE)
		return 0;
	out[0] = (struct generation){sa->key_sequence, sa->key, sa->iv};
	if (!sa->has_next_key)
		return 1;
	out[1] = (struct generation){(uint8_t)((sa->key_sequence + 1) % ASSOCIATION_SEQUENCES),
				     sa->next_key, sa->next_iv};
	return GENERATIONS;
}

static bool generation_same(const struct generation *a, const struct generation *b) {
	return a->sequence == b->sequence && memcmp(a->key, b->key, CIPHER_MAX_KEY) == 0 &&
	       memcmp(a->iv, b->iv, CIPHER_MAX_IV) == 0;
}

static bool is_among(const struct generation *one, const struct generation *all, unsigned count) {
	for (unsigned i = 0; i < count; i++) {
		if (generation_same(one, &all[i]))
			return true;
	}
	return false;
}

/* Lists the key generations that a modem gets and those that expire. Frames cannot show which of
 * two generations with the same sequence number they use, so such a replacement is not a roll. */
static bool downstream_keys(const struct follow_group *g, uint32_t m, struct downlink_change *c) {
	const struct security_association *sa = &g->live.sg.modems[m].security;
	struct generation before[GENERATIONS], next[GENERATIONS];
	unsigned had = generations_of(&g->keys[m], before), has = generations_of(sa, next);

	for (unsigned i = 0; i < has; i++) {
		struct modem_rekey *r = &c->rekeys[c->rekey_count];

		if (is_among(&next[i], before, had))
			continue;
		*r = (struct modem_rekey){.modem = m, .sequence = next[i].sequence};
		if (!modem_rekey_create(r, c->store, sa->cipher, next[i].key, next[i].iv))
			return false;
		c->rekey_count++;
	}
	for (unsigned i = 0; i < had; i++) {
		if (!is_among(&before[i], next, has))
			c->rekeys[c->rekey_count++] = (struct modem_rekey){
				.modem = m,
				.sequence = before[i].sequence,
				.expires = true,
			};
	}
	return true;
}

bool follow_keys_roll(const struct security_association *before,
		      const struct security_association *next) {
	struct generation had[GENERATIONS], has[GENERATIONS];
	unsigned had_count = generations_of(before, had), count = generations_of(next, has);

	for (unsigned i = 0; i < count; i++) {
		if (is_among(&has[i], had, had_count))
			return true;
	}
	return false;
}

static bool has_lost(const struct follow_group *g, uint32_t m) {
	struct generation before[GENERATIONS], next[GENERATIONS];
	unsigned had = generations_of(&g->keys[m], before);
	unsigned has = generations_of(&g->live.sg.modems[m].security, next);

	for (unsigned i = 0; i < had; i++) {
		if (!is_among(&before[i], next, has))
			return true;
	}
	return false;
}

static bool upstream_keys(const struct follow_group *g, uint32_t m, struct uplink_change *c) {
	struct uplink_modem *r = &c->rekeys[c->rekey_count++];

	r->newest = true;
	return uplink_modem_create(r, &g->live.sg, m, c->store) == 0;
}

static bool is_alone(const struct follow_group *g, uint32_t m) {
	return g->rekeyed[m] && !g->changed[m];
}

bool follow_keys_alone(const struct follow_group *g) {
	for (uint32_t m = 0; m < g->live.capacity.modems; m++) {
		if (is_alone(g, m))
			return true;
	}
	return false;
}

bool follow_keys_prepare(const struct follow_group *g, struct traffic_change *c, bool *removed) {
	struct downlink_change *down = &c->downstream;
	struct uplink_change *up = &c->upstream;
	uint32_t count = 0;
	bool good;

	for (uint32_t m = 0; m < g->live.capacity.modems; m++)
		count += is_alone(g, m);
	down->rekeys = calloc(2 * GENERATIONS * count + 1, sizeof(*down->rekeys));
	up->rekeys = calloc(count + 1, sizeof(*up->rekeys));
	if (g->traffic->downlink != NULL)
		down->store = &g->traffic->downlink->keys;
	if (g->traffic->uplink != NULL)
		up->store = &g->traffic->uplink->keys;
	good = down->rekeys != NULL && up->rekeys != NULL;
	for (uint32_t m = 0; good && m < g->live.capacity.modems; m++) {
		if (!is_alone(g, m))
			continue;
		removed[m] = has_lost(g, m);
		if (g->traffic->downlink != NULL)
			good = downstream_keys(g, m, down);
		if (good && g->traffic->uplink != NULL)
			good = upstream_keys(g, m, up);
	}
	return good;
}

void follow_keys_keep(struct follow_group *g) {
	for (uint32_t m = 0; m < g->live.capacity.modems; m++)
		g->keys[m] = g->live.sg.modems[m].security;
}

void follow_keys_keep_alone(struct follow_group *g) {
	for (uint32_t m = 0; m < g->live.capacity.modems; m++) {
		if (!is_alone(g, m))
			continue;
		g->keys[m] = g->live.sg.modems[m].security;
		g->rekeyed[m] = false;
	}
}

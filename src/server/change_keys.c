/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/change_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_key(const struct security_association *a, const struct security_association *b) {
	return a->cipher == b->cipher && memcmp(a->key, b->key, sizeof(a->key)) == 0;
}

static bool same_down_key(const struct security_association *a,
			  const struct security_association *b) {
	return a->cipher == b->cipher &&
	       memcmp(association_key(a), association_key(b), sizeof(a->key)) == 0;
}

/* A modem without a next key has zeros there. */
static bool same_next_key(const struct security_association *a,
			  const struct security_association *b) {
	return a->has_next_key == b->has_next_key &&
	       memcmp(a->next_key, b->next_key, sizeof(a->next_key)) == 0;
}

#define PER_MODEM 3 /* downstream, and two generations upstream */

static void unused_add(struct change_keys *k, void *schedule, enum crypto_direction direction,
		       enum cipher cipher) {
	if (schedule != NULL)
		k->unused[k->unused_count++] = (struct unused_key){schedule, direction, cipher};
}

/* Returns false if the provider cannot make the key. */
static bool key_make(struct change_keys *k, const struct served_group *g,
		     enum crypto_direction direction, enum cipher cipher, const uint8_t *key,
		     void **schedule) {
	*schedule = crypto_key_make(g->crypto.provider, direction, cipher, key);
	unused_add(k, *schedule, direction, cipher);
	return *schedule != NULL;
}

/* Makes the keys of a modem as it will be; `now` may be a free slot. */
static bool modem_keys(struct change_keys *k, void **down, void **pair,
		       const struct served_group *g, const struct modem *now,
		       const struct modem *next) {
	const struct security_association *sa = &next->security, *was = &now->security;
	bool exists = modem_exists(now), same = exists && same_key(was, sa);

	if ((!exists || !same_down_key(was, sa)) &&
	    !key_make(k, g, CRYPTO_DOWNLINK, sa->cipher, association_key(sa), down))
		return false;
	if (g->upstream == NULL || (same && same_next_key(was, sa)))
		return true;
	return key_make(k, g, CRYPTO_UPLINK, sa->cipher, sa->key, &pair[0]) &&
	       (!sa->has_next_key ||
		key_make(k, g, CRYPTO_UPLINK, sa->cipher, sa->next_key, &pair[1]));
}

bool change_keys_make(struct change_keys *k, struct served_group *g,
		      const struct live_changes *changes, char why[LIVE_LINE]) {
	size_t modems = 0;

	k->down = calloc(changes->count + 1, sizeof(*k->down));
	k->up = calloc(2 * changes->count + 1, sizeof(*k->up));
	k->unused = calloc(PER_MODEM * changes->count + 1, sizeof(*k->unused));
	if (k->down == NULL || k->up == NULL || k->unused == NULL) {
		snprintf(why, LIVE_LINE, "no memory left for %zu changes", changes->count);
		return false;
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		char name[LIVE_LINE / 2];

		if (c->object != LIVE_MODEM || c->modem == NULL ||
		    modem_keys(k, &k->down[i], &k->up[2 * modems++], g, &g->live.sg.modems[c->slot],
			       c->modem))
			continue;
		live_change_name(&g->live, c, name, sizeof(name));
		snprintf(why, LIVE_LINE, "%s: crypto provider %s %s", name,
			 g->crypto.provider->name,
			 crypto_can(g->crypto.provider, c->modem->security.cipher)
				 ? "has no free session or memory for its key"
				 : "does not support its cipher");
		return false;
	}
	return true;
}

/* Puts `next` into the slot and adds the replaced schedule to the unused ones. */
static void slot_set(struct change_keys *k, void **slot, void *next,
		     enum crypto_direction direction, enum cipher was) {
	unused_add(k, *slot, direction, was);
	*slot = next;
}

/* Counts the keys that a modem in service exchanges. */
static void rolls_count(struct served_group *g, const struct modem *was, const struct modem *next) {
	if (next == NULL || !modem_exists(was))
		return;
	g->key_rolls[CRYPTO_DOWNLINK] += !same_down_key(&was->security, &next->security);
	if (g->upstream != NULL)
		g->key_rolls[CRYPTO_UPLINK] += !same_key(&was->security, &next->security);
}

void change_keys_apply(struct change_keys *k, struct served_group *g,
		       const struct live_changes *changes) {
	void *none[] = {NULL, NULL};
	size_t modems = 0;

	k->unused_count = 0;
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];
		bool removed = c->modem == NULL;
		enum cipher was;
		void **pair;

		if (c->object != LIVE_MODEM)
			continue;
		rolls_count(g, &g->live.sg.modems[c->slot], c->modem);
		was = g->live.sg.modems[c->slot].security.cipher;
		pair = removed ? none : &k->up[2 * modems++];
		if (removed || k->down[i] != NULL)
			slot_set(k, &g->crypto.schedules[c->slot], k->down[i], CRYPTO_DOWNLINK,
				 was);
		if (g->crypto.up_schedules == NULL || (!removed && pair[0] == NULL))
			continue;
		for (unsigned p = 0; p < 2; p++)
			slot_set(k, &g->crypto.up_schedules[2 * c->slot + p], pair[p],
				 CRYPTO_UPLINK, was);
	}
}

void change_keys_free(struct change_keys *k, const struct served_group *g) {
	for (size_t i = 0; i < k->unused_count; i++)
		crypto_key_free(g->crypto.provider, k->unused[i].direction, k->unused[i].cipher,
				k->unused[i].schedule);
	free(k->unused);
	free(k->down);
	free(k->up);
	*k = (struct change_keys){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sharing/entries.h"

#define STEP 32 /* keys: of each two cache lines or three are asked for */

/* Keys in ascending order. */
struct keys {
	struct share_key *list;
	size_t count, room;
	size_t done;
};

struct share_change {
	struct port_share *share;
	struct share_change
		*before; /* begun before it on the same port, and not ended; NULL: none */
	unsigned group;
	struct keys come, go;
	struct share_table
		*table; /* that replaces the present one; NULL: the keys are put into that */
	struct share_table *replaced;
	/* R-PHY side: the group with its channels as they are to be. */
	struct service_group to_be;
	struct upstream_channel *channels; /* NULL: none of them changes */
};

static int compare_keys(const void *a, const void *b) {
	return memcmp(a, b, sizeof(struct share_key));
}

static bool keys_hold(const struct keys *k, const struct share_key *key) {
	return k->count > 0 && bsearch(key, k->list, k->count, sizeof(*key), compare_keys) != NULL;
}

static int keys_add(struct keys *k, const struct modem *m, uint8_t vlan) {
	if (k->count + 1 + SG_MAX_MODEM_ADDRESSES > k->room) {
		size_t room = 2 * k->room + 1 + SG_MAX_MODEM_ADDRESSES;
		struct share_key *list =
			aligned_alloc(_Alignof(struct share_key), room * sizeof(*list));

		if (list == NULL)
			return -1;
		if (k->count > 0)
			memcpy(list, k->list, k->count * sizeof(*list));
		free(k->list);
		k->list = list;
		k->room = room;
	}
	k->count += share_modem_keys(m, vlan, k->list + k->count);
	return 0;
}

static void keys_sort(struct keys *k) {
	if (k->count > 0)
		qsort(k->list, k->count, sizeof(*k->list), compare_keys);
}

/* Those that `other` does not hold. */
static void keys_without(struct keys *k, const struct keys *other) {
	size_t kept = 0;

	for (size_t i = 0; i < k->count; i++) {
		if (!keys_hold(other, &k->list[i]))
			k->list[kept++] = k->list[i];
	}
	k->count = kept;
}

/* What the modems of the changes had, and what they are to have. */
static int keys_collect(struct share_change *c, const struct service_group *sg,
			const struct live_changes *changes, uint8_t vlan) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *change = &changes->list[i];
		const struct modem *now;

		if (change->object != LIVE_MODEM)
			continue;
		now = &sg->modems[change->slot];
		if ((modem_is_there(now) && keys_add(&c->go, now, vlan) != 0) ||
		    (change->modem != NULL && keys_add(&c->come, change->modem, vlan) != 0))
			return -1;
	}
	keys_sort(&c->come);
	keys_sort(&c->go);
	keys_without(&c->go, &c->come);
	return 0;
}

static uint64_t groups_with(const struct share_table *t, const struct share_key *key) {
	void *found = NULL;

	return rte_hash_lookup_data(t->groups, key, &found) < 0 ? 0 : (uintptr_t)found;
}

/* The groups that have the key, and those that are to have it by changes that are under way. */
static uint64_t groups_to_have(const struct share_change *c, const struct share_key *key) {
	uint64_t have = groups_with(c->share->table, key);

	for (const struct share_change *b = c->before; b != NULL; b = b->before) {
		if (keys_hold(&b->come, key))
			have |= UINT64_C(1) << b->group;
	}
	return have;
}

/* Leaves what the group does not have yet. Returns false with `why` where a group has what it cannot share. */
static bool keys_are_free(struct share_change *c, const struct service_group *const *groups,
			  char why[LIVE_LINE]) {
	const struct share_table *t = c->share->table;
	uint64_t bit = UINT64_C(1) << c->group;
	size_t kept = 0;

	for (size_t i = 0; i < c->come.count; i++) {
		uint64_t have = groups_to_have(c, &c->come.list[i]);
		uint64_t plain = have & ~bit & ~t->with_mac;
		char text[SHARE_KEY_TEXT];

		if (plain != 0 && (t->with_mac & bit) == 0) {
			share_key_text(&c->come.list[i], text);
			snprintf(why, LIVE_LINE,
				 "found %s, which service group %u has on port %s, allowed: "
				 "another one, another VLAN, or it in a later change, once it has "
				 "gone there",
				 text, groups[__builtin_ctzll(plain)]->id, c->share->name);
			return false;
		}
		if ((have & bit) == 0)
			c->come.list[kept++] = c->come.list[i];
	}
	c->come.count = kept;
	return true;
}

/*
 * Where the hash that is to be may not take all, one of twice the size: of the first change that is under way, so
 * that the keys of all of them go into it.
 */
static bool table_has_room(struct share_change *c) {
	const struct share_table *t = c->share->table;
	size_t entries = (size_t)rte_hash_count(t->groups) + c->come.count;
	struct share_change *first = c;
	struct share_table *larger;

	for (; first->before != NULL; first = first->before)
		entries += first->before->come.count;
	if (entries <= (first->table != NULL ? first->table : t)->entries)
		return true;
	larger = share_table_copy(t, 2 * entries);
	if (larger == NULL)
		return false;
	share_table_free(first->table);
	first->table = larger;
	return true;
}

static bool begin_network(struct share_change *c, const struct service_group *const *groups,
			  const struct live_changes *changes, char why[LIVE_LINE]) {
	const struct service_group *sg = groups[c->group];
	const struct share_table *t = c->share->table;
	uint8_t vlan = t->vlan_of[share_vlan_of(sg, c->share->side) & VLAN_ID];

	if (t->vlans[vlan].group != SHARE_NOBODY) /* the VLAN tells */
		return true;
	if (keys_collect(c, sg, changes, vlan) == 0 && table_has_room(c))
		return keys_are_free(c, groups, why);
	snprintf(why, LIVE_LINE, "no memory left for addresses on port %s", c->share->name);
	return false;
}

/* The upstream channels as they are to be, in a list of their own; NULL: no memory. */
static struct upstream_channel *channels_to_be(const struct service_group *sg,
					       const struct live_changes *changes) {
	size_t size = (sg->upstream_channel_count + 1) * sizeof(struct upstream_channel);
	struct upstream_channel *list = malloc(size);

	if (list == NULL)
		return NULL;
	memcpy(list, sg->upstream_channels, sg->upstream_channel_count * sizeof(*list));
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *change = &changes->list[i];

		if (change->object != LIVE_UPSTREAM_CHANNEL)
			continue;
		if (change->upstream_channel != NULL)
			list[change->slot] = *change->upstream_channel;
		else
			list[change->slot] = (struct upstream_channel){0};
	}
	return list;
}

static bool touches_sessions(const struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		if (changes->list[i].object == LIVE_UPSTREAM_CHANNEL)
			return true;
	}
	return false;
}

/* How sessions are told apart may become another: the table is made anew, with what is under way. */
static struct share_table *table_with(const struct share_change *c,
				      const struct service_group *const *groups, unsigned count,
				      FILE *errors) {
	const struct service_group *list[SHARE_MAX_GROUPS] = {NULL};

	memcpy(list, groups, count * sizeof(*groups));
	for (const struct share_change *b = c; b != NULL; b = b->before)
		list[b->group] = &b->to_be;
	return share_table_create(c->share->name, SHARE_RPHY, list, count, errors);
}

static bool begin_rphy(struct share_change *c, const struct service_group *const *groups,
		       unsigned count, const struct live_changes *changes, char why[LIVE_LINE]) {
	FILE *errors;

	if (!touches_sessions(changes))
		return true;
	why[0] = '\0';
	c->channels = channels_to_be(groups[c->group], changes);
	c->to_be = *groups[c->group];
	c->to_be.upstream_channels = c->channels;
	errors = fmemopen(why, LIVE_LINE, "w");
	if (c->channels != NULL && errors != NULL)
		c->table = table_with(c, groups, count, errors);
	if (errors != NULL)
		fclose(errors);
	if (c->table == NULL && why[0] == '\0')
		snprintf(why, LIVE_LINE, "no memory left for sessions on port %s", c->share->name);
	why[strcspn(why, "\n")] = '\0';
	return c->table != NULL;
}

int share_change_begin(struct port_share *s, const struct service_group *const *groups,
		       unsigned count, unsigned group, const struct live_changes *changes,
		       struct share_change **change, char why[LIVE_LINE]) {
	struct share_change *c = calloc(1, sizeof(*c));
	bool good;

	*change = NULL;
	if (c == NULL) {
		snprintf(why, LIVE_LINE, "no memory left for a change on port %s", s->name);
		return -1;
	}
	c->share = s;
	c->group = group;
	c->before = s->changes;
	s->changes = c;
	if (s->side == SHARE_NETWORK)
		good = begin_network(c, groups, changes, why);
	else
		good = begin_rphy(c, groups, count, changes, why);
	if (good && (c->table != NULL || c->come.count > 0 || c->go.count > 0))
		*change = c;
	else
		share_change_end(c);
	return good ? 0 : -1;
}

static void table_take(struct share_change *c) {
	if (c->table != NULL && c->replaced == NULL)
		c->replaced = share_table_replace(c->share, c->table);
}

/* That the hash has room was seen to. */
bool share_change_come(void *change) {
	struct share_change *c = change;
	uint64_t bit = UINT64_C(1) << c->group;

	table_take(c);
	for (unsigned n = 0; n < STEP && c->come.done < c->come.count; n++, c->come.done++) {
		const struct share_key *key = &c->come.list[c->come.done];
		uint64_t have = groups_with(c->share->table, key) | bit;

		rte_hash_add_key_data(c->share->table->groups, key, (void *)(uintptr_t)have);
	}
	return c->come.done == c->come.count;
}

bool share_change_go(void *change) {
	struct share_change *c = change;
	uint64_t bit = UINT64_C(1) << c->group;

	if (c->share->side == SHARE_NETWORK) /* else what goes would stand in it still */
		table_take(c);
	for (unsigned n = 0; n < STEP && c->go.done < c->go.count; n++, c->go.done++) {
		const struct share_key *key = &c->go.list[c->go.done];
		uint64_t have = groups_with(c->share->table, key) & ~bit;

		if (have == 0)
			rte_hash_del_key(c->share->table->groups, key);
		else
			rte_hash_add_key_data(c->share->table->groups, key,
					      (void *)(uintptr_t)have);
	}
	return c->go.done == c->go.count;
}

void share_change_end(struct share_change *change) {
	if (change == NULL)
		return;
	for (struct share_change **at = &change->share->changes; *at != NULL; at = &(*at)->before) {
		if (*at != change)
			continue;
		*at = change->before;
		break;
	}
	share_table_free(change->replaced != NULL ? change->replaced : change->table);
	free(change->come.list);
	free(change->go.list);
	free(change->channels);
	free(change);
}

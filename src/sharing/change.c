/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/change.h"
#include "sharing/entries.h"
#include "sharing/key_list.h"

#define KEY_NS 1250 /* two or three cache lines are read */

struct share_change {
	struct port_share *share;
	struct share_change *newer; /* next newer change of the port, or NULL */
	enum change_state state; /* written by the port owner once the change is prepared */
	unsigned group;
	struct key_list added, removed;
	struct change_cursor adding, removing; /* of the port owner, in the lists */
	/* The new version of the port's table; NULL: the change writes into the previous
	 * version. A version includes all older changes, even if their steps are not done. */
	struct share_table *table;
	struct share_table *replaced; /* the previous version, once `table` is published */
	/* R-PHY side: the group with its new channels. */
	struct service_group to_be;
	struct upstream_channel *channels; /* NULL: no channel changes */
};

/* Whether steps are still to be done. */
static bool is_pending(const struct share_change *c) {
	return change_state_of(&c->state) != CHANGE_RETIRING;
}

/* Collects the keys of changed modems before and after the change. */
static int keys_collect(struct share_change *c, const struct service_group *sg,
			const struct live_changes *changes, uint8_t vlan) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *change = &changes->list[i];
		const struct modem *now;

		if (change->object != LIVE_MODEM)
			continue;
		now = &sg->modems[change->slot];
		if ((modem_exists(now) && key_list_add_modem(&c->removed, now, vlan) != 0) ||
		    (change->modem != NULL &&
		     key_list_add_modem(&c->added, change->modem, vlan) != 0))
			return -1;
	}
	key_list_sort(&c->added);
	key_list_sort(&c->removed);
	key_list_subtract(&c->removed, &c->added);
	return 0;
}

static uint64_t groups_with(const struct share_table *t, const struct share_key *key) {
	void *found = NULL;

	return rte_hash_lookup_data(t->groups, key, &found) < 0 ? 0 : (uintptr_t)found;
}

/* A new key needs a free entry in the hash; begin_network() ensures it. */
static void groups_set(const struct share_table *t, const struct share_key *key, uint64_t groups) {
	if (groups == 0)
		rte_hash_del_key(t->groups, key);
	else
		RTE_VERIFY(rte_hash_add_key_data(t->groups, key, (void *)(uintptr_t)groups) == 0);
}

/* The groups that have the key or get it by a pending change. A key that a pending change removes
 * still counts. */
static uint64_t groups_to_have(const struct port_share *s, const struct share_key *key) {
	uint64_t have = groups_with(s->table, key);

	for (const struct share_change *b = s->changes; b != NULL; b = b->newer) {
		if (is_pending(b) && key_list_has(&b->added, key))
			have |= UINT64_C(1) << b->group;
	}
	return have;
}

/* Removes from c->added the keys that the group already has. Returns false with `why` if another
 * group has a key that cannot be shared. */
static bool keys_are_free(struct share_change *c, const struct service_group *const *groups,
			  char why[LIVE_LINE]) {
	const struct share_table *t = c->share->table;
	uint64_t bit = UINT64_C(1) << c->group;
	size_t kept = 0;

	for (size_t i = 0; i < c->added.count; i++) {
		uint64_t have = groups_to_have(c->share, &c->added.list[i]);
		uint64_t plain = have & ~bit & ~t->with_mac;
		char text[SHARE_KEY_TEXT];

		if (plain != 0 && (t->with_mac & bit) == 0) {
			share_key_text(&c->added.list[i], text);
			snprintf(why, LIVE_LINE,
				 "service group %u has %s on port %s; use another value or VLAN, "
				 "or first take it from that group in a change of its own",
				 groups[__builtin_ctzll(plain)]->id, text, c->share->name);
			return false;
		}
		if ((have & bit) == 0)
			c->added.list[kept++] = c->added.list[i];
	}
	c->added.count = kept;
	return true;
}

/* The version of the table that the next change starts from. */
static struct share_table *latest_table(const struct port_share *s) {
	struct share_table *latest = s->table;

	for (const struct share_change *b = s->changes; b != NULL; b = b->newer) {
		if (is_pending(b) && b->table != NULL)
			latest = b->table;
	}
	return latest;
}

/* The most entries that the latest version can have after all pending changes and this one. */
static size_t entries_needed(const struct share_change *c, const struct share_table *latest) {
	size_t entries = (size_t)rte_hash_count(latest->groups) + c->added.count;

	for (const struct share_change *b = c->share->changes; b != NULL; b = b->newer)
		entries += is_pending(b) ? b->added.count : 0;
	return entries;
}

/* Applies all pending changes to the copy. Their remaining steps may write to the previous version
 * or to the copy; repeating a step does no harm. */
static void copy_catches_up(const struct share_table *copy, const struct port_share *s) {
	for (const struct share_change *b = s->changes; b != NULL; b = b->newer) {
		uint64_t bit = UINT64_C(1) << b->group;

		if (!is_pending(b))
			continue;
		for (size_t i = 0; i < b->removed.count; i++)
			groups_set(copy, &b->removed.list[i],
				   groups_with(copy, &b->removed.list[i]) & ~bit);
		for (size_t i = 0; i < b->added.count; i++)
			groups_set(copy, &b->added.list[i],
				   groups_with(copy, &b->added.list[i]) | bit);
	}
}

/* Ensures capacity for the new keys, by a version of twice the size if necessary. */
static bool table_fits(struct share_change *c) {
	const struct share_table *latest = latest_table(c->share);
	size_t entries = entries_needed(c, latest);

	if (entries <= latest->entries)
		return true;
	c->table = share_table_copy(latest, 2 * entries);
	if (c->table == NULL)
		return false;
	copy_catches_up(c->table, c->share);
	return true;
}

static bool begin_network(struct share_change *c, const struct service_group *const *groups,
			  const struct live_changes *changes, char why[LIVE_LINE]) {
	const struct service_group *sg = groups[c->group];
	const struct share_table *t = c->share->table;
	uint8_t vlan = t->vlan_of[share_vlan_of(sg, c->share->side) & VLAN_ID];
	bool memory;

	if (t->vlans[vlan].group != SHARE_NO_GROUP) /* the VLAN determines the group */
		return true;
	memory = keys_collect(c, sg, changes, vlan) == 0;
	if (memory && !keys_are_free(c, groups, why))
		return false;
	if (memory && table_fits(c))
		return true;
	snprintf(why, LIVE_LINE, "no memory left for addresses on port %s", c->share->name);
	return false;
}

/* The upstream channels after the change, in a list of their own. NULL if memory is short. */
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

/* The form of session keys may change, so a version is built from the groups in service and the
 * pending changes. Retiring changes are in service. */
static struct share_table *table_with(const struct share_change *c,
				      const struct service_group *const *groups, unsigned count,
				      char why[LIVE_LINE]) {
	const struct service_group *list[SHARE_MAX_GROUPS] = {NULL};

	memcpy(list, groups, count * sizeof(*groups));
	for (const struct share_change *b = c->share->changes; b != NULL; b = b->newer) {
		if (is_pending(b))
			list[b->group] = &b->to_be;
	}
	list[c->group] = &c->to_be;
	return share_table_create(c->share->name, SHARE_RPHY, list, count, why);
}

static bool begin_rphy(struct share_change *c, const struct service_group *const *groups,
		       unsigned count, const struct live_changes *changes, char why[LIVE_LINE]) {
	if (!touches_sessions(changes))
		return true;
	why[0] = '\0';
	c->channels = channels_to_be(groups[c->group], changes);
	c->to_be = *groups[c->group];
	c->to_be.upstream_channels = c->channels;
	if (c->channels != NULL)
		c->table = table_with(c, groups, count, why);
	if (c->table == NULL && why[0] == '\0')
		snprintf(why, LIVE_LINE, "no memory left for sessions on port %s", c->share->name);
	return c->table != NULL;
}

static void list_append(struct share_change *c) {
	struct share_change **at = &c->share->changes;

	while (*at != NULL)
		at = &(*at)->newer;
	*at = c;
}

static void list_remove(const struct share_change *c) {
	struct share_change **at = &c->share->changes;

	while (*at != NULL && *at != c)
		at = &(*at)->newer;
	if (*at == c)
		*at = c->newer;
}

static void change_free(struct share_change *c) {
	share_table_free(c->replaced != NULL ? c->replaced : c->table);
	key_list_free(&c->added);
	key_list_free(&c->removed);
	free(c->channels);
	free(c);
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
	if (s->side == SHARE_NETWORK)
		good = begin_network(c, groups, changes, why);
	else
		good = begin_rphy(c, groups, count, changes, why);
	if (!good || (c->table == NULL && c->added.count == 0 && c->removed.count == 0)) {
		change_free(c);
		return good ? 0 : -1;
	}
	list_append(c);
	*change = c;
	return 0;
}

static void table_publish(struct share_change *c) {
	if (c->table != NULL && c->replaced == NULL)
		c->replaced = share_table_replace(c->share, c->table);
}

/* Whether all keys of the list are applied. That of an empty list needs no step. */
static bool is_done(const struct key_list *k, const struct change_cursor *cursor) {
	return k->count == 0 || cursor->phase > 0;
}

/* Updates the state after each step. */
static void state_follow(struct share_change *c) {
	bool done = (c->table == NULL || c->replaced != NULL) && is_done(&c->added, &c->adding) &&
		    is_done(&c->removed, &c->removing);

	change_state_follow(&c->state, done);
}

static bool add_key(void *change, struct change_cursor *cursor) {
	struct share_change *c = change;
	const struct share_key *key = &c->added.list[cursor->at];

	groups_set(c->share->table, key,
		   groups_with(c->share->table, key) | UINT64_C(1) << c->group);
	cursor->left -= KEY_NS;
	return true;
}

static bool remove_key(void *change, struct change_cursor *cursor) {
	struct share_change *c = change;
	const struct share_key *key = &c->removed.list[cursor->at];

	groups_set(c->share->table, key,
		   groups_with(c->share->table, key) & ~(UINT64_C(1) << c->group));
	cursor->left -= KEY_NS;
	return true;
}

CHANGE_COUNT(added_keys, struct share_change, added.count)
CHANGE_COUNT(removed_keys, struct share_change, removed.count)

bool share_change_add(void *change) {
	static const struct change_phase phases[] = {{.step = add_key, .count = added_keys}};
	struct share_change *c = change;
	bool last;

	table_publish(c);
	last = change_run(&c->adding, phases, RTE_DIM(phases), c, CHANGE_STEP_NS);
	state_follow(c);
	return last;
}

bool share_change_remove(void *change) {
	static const struct change_phase phases[] = {{.step = remove_key, .count = removed_keys}};
	struct share_change *c = change;
	bool last;

	if (c->share->side == SHARE_NETWORK) /* the R-PHY side's version has no removed keys */
		table_publish(c);
	last = change_run(&c->removing, phases, RTE_DIM(phases), c, CHANGE_STEP_NS);
	state_follow(c);
	return last;
}

void share_change_end(struct share_change *change) {
	if (change == NULL)
		return;
	RTE_VERIFY(change_state_of(&change->state) != CHANGE_APPLYING);
	list_remove(change);
	change_free(change);
}

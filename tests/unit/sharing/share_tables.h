/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a shared port's table, which is held against one that is made anew. */
#pragma once

#include "test.h"

#include <string.h>

#include "share_rig.h"
#include "sharing/change.h"
#include "sharing/forget.h"

static struct share_rig storage, *const rig = &storage;

/* What a modem of a change is to be, and its addresses. */
struct wanted {
	struct modem modem;
	struct ip_address addresses[2];
};

/* Whether the keys of both tables tell the same. */
static inline void same_tables(const struct share_table *a, const struct share_table *b) {
	const void *stored; /* not aligned as a key is */
	struct share_key key;
	uint32_t at = 0;
	void *groups, *others;

	if (a->groups == NULL || b->groups == NULL) {
		assert_ptr_equal(a->groups, b->groups);
		return;
	}
	assert_int_equal(rte_hash_count(a->groups), rte_hash_count(b->groups));
	while (rte_hash_iterate(a->groups, &stored, &groups, &at) >= 0) {
		memcpy(&key, stored, sizeof(key));
		assert_true(rte_hash_lookup_data(b->groups, &key, &others) >= 0);
		assert_ptr_equal(groups, others);
	}
}

#define CHANGED_MOST 4000 /* modems of one change */

/* Which addresses of its modems a change leaves where they are: a bit an address of list[i]. */
static uint8_t stays[CHANGED_MOST];

static inline bool some_have(const struct live_changes *changes, const struct ip_address *address) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct modem *next = changes->list[i].modem;

		for (size_t a = 0; next != NULL && a < next->address_count; a++)
			if (memcmp(&next->addresses[a], address, sizeof(*address)) == 0)
				return true;
	}
	return false;
}

static inline void stays_find(unsigned group, const struct live_changes *changes) {
	assert_true(changes->count <= CHANGED_MOST);
	if (rig->s->side == SHARE_RPHY)
		return; /* sessions change there, and no modems */
	for (size_t i = 0; i < changes->count; i++) {
		const struct modem *now = &rig->groups[group].modems[changes->list[i].slot];

		stays[i] = 0;
		for (size_t a = 0; a < now->address_count; a++)
			stays[i] |= (uint8_t)(some_have(changes, &now->addresses[a]) << a);
	}
}

/* Whether the addresses that stay are found for the group, at each moment of the change. */
static inline void found_still(unsigned group, const struct live_changes *changes) {
	const struct share_table *t = rig->s->table;
	uint8_t vlan = t->vlan_of[rig->groups[group].network.vlan];

	if (rig->s->side == SHARE_RPHY || t->vlans[vlan].group != SHARE_NOBODY)
		return;
	for (size_t i = 0; i < changes->count; i++) {
		const struct modem *now = &rig->groups[group].modems[changes->list[i].slot];

		for (size_t a = 0; a < now->address_count; a++) {
			struct share_key key;
			void *found = NULL;

			if ((stays[i] >> a & 1) == 0)
				continue;
			share_key_set(&key, SHARE_IPV4, vlan, now->addresses[a].bytes, 4);
			assert_true(rte_hash_lookup_data(t->groups, &key, &found) >= 0);
			assert_true(((uintptr_t)found >> group & 1) != 0);
		}
	}
}

/* Does it, and returns whether it was taken. */
static inline bool change_one(unsigned group, struct live_changes *changes) {
	char why[LIVE_LINE] = "";
	struct share_change *c;

	stays_find(group, changes);
	if (share_change_begin(rig->s, rig->list, rig->count, group, changes, &c, why) != 0) {
		assert_null(c);
		assert_true(why[0] != '\0' && strchr(why, '\n') == NULL);
		return false;
	}
	while (c != NULL && !share_change_come(c))
		found_still(group, changes);
	found_still(group, changes);
	while (c != NULL && !share_change_go(c))
		found_still(group, changes);
	found_still(group, changes);
	share_change_end(c);
	return true;
}

static inline void same_as_anew(enum share_side side) {
	struct share_table *anew =
		share_table_create("test", side, rig->list, rig->count, (char[LIVE_LINE]){0});

	same_tables(rig->s->table, anew);
	share_table_free(anew);
}

/* Taken out of the table as it is, a group is as if it had not been. */
static inline void forgotten(unsigned group) {
	struct share_forgetting f = {.share = rig->s, .group = group};
	const struct service_group *was = rig->list[group];

	while (!share_forget(&f))
		;
	rig->list[group] = NULL;
	same_as_anew(SHARE_NETWORK);
	rig->list[group] = was;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/table.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "platform/large_pages.h"
#include "sharing/entries.h"

#define MIN_ENTRIES 64

/* Whether the group receives on this side. */
static bool receives(const struct service_group *sg, enum share_side side) {
	return side == SHARE_NETWORK || sg->upstream_channel_count > 0;
}

/* Gives the group's VLAN an index, and assigns the VLAN to the group if it is the only one. */
static void vlan_add(struct share_table *t, const struct service_group *sg, enum share_side side,
		     uint8_t group, uint8_t members[SHARE_MAX_GROUPS], uint8_t *vlans) {
	uint16_t id = share_vlan_of(sg, side) & VLAN_ID;
	struct share_vlan *v;

	if (t->vlan_of[id] == SHARE_NO_VLAN) {
		t->vlan_of[id] = *vlans;
		t->vlans[(*vlans)++].group = SHARE_NO_GROUP;
	}
	v = &t->vlans[t->vlan_of[id]];
	t->tagged |= id != 0;
	if (!receives(sg, side))
		return;
	v->group = members[t->vlan_of[id]]++ == 0 ? group : SHARE_NO_GROUP;
	if (side == SHARE_NETWORK && sg->network.has_mac) {
		v->by_mac = true;
		t->with_mac |= UINT64_C(1) << group;
	}
}

/* Returns whether a VLAN has several groups, so that a hash is needed. */
static bool vlans_fill(struct share_table *t, enum share_side side,
		       const struct service_group *const *groups, unsigned count) {
	uint8_t members[SHARE_MAX_GROUPS] = {0}, vlans = 0;
	bool more = false;

	memset(t->vlan_of, SHARE_NO_VLAN, sizeof(t->vlan_of));
	for (unsigned g = 0; g < count; g++) {
		if (groups[g] != NULL)
			vlan_add(t, groups[g], side, (uint8_t)g, members, &vlans);
	}
	for (unsigned v = 0; v < vlans; v++)
		more |= t->vlans[v].group == SHARE_NO_GROUP;
	if (vlans == 0) { /* without groups all packets are unmatched; no hash is needed */
		t->vlan_of[0] = 0;
		t->vlans[0].group = SHARE_NO_GROUP;
	}
	return more;
}

static uint32_t share_key_hash(const void *key, uint32_t size, uint32_t seed) {
	const struct share_key *k = key;
	uint64_t words[2];

	(void)size;
	memcpy(words, k->value, sizeof(words));
	seed = rte_hash_crc_4byte((uint32_t)k->kind << 8 | k->vlan, seed);
	return rte_hash_crc_8byte(words[1], rte_hash_crc_8byte(words[0], seed));
}

/* Returns 0 or -1. */
static int hash_create(struct share_table *t, size_t entries) {
	static unsigned made; /* for unique names in DPDK, among all versions of the table */
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters p = {
		.name = name,
		.entries = (uint32_t)RTE_MAX(entries + entries / 4, (size_t)MIN_ENTRIES),
		.key_len = sizeof(struct share_key),
		.hash_func = share_key_hash,
		.socket_id = large_pages_socket(),
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* takes all entries in any case */
	};

	snprintf(name, sizeof(name), "sharing_%u", made++);
	t->entries = p.entries;
	t->groups = rte_hash_create(&p);
	return t->groups == NULL ? -1 : 0;
}

struct share_table *share_table_create(const char *port, enum share_side side,
				       const struct service_group *const *groups, unsigned count,
				       char why[LIVE_LINE]) {
	struct share_table *t = rte_zmalloc("share_table", sizeof(*t), RTE_CACHE_LINE_SIZE);
	size_t entries = share_entries_count(side, groups, count);

	if (t == NULL) {
		snprintf(why, LIVE_LINE, "port %s: no memory for the table of its service groups",
			 port);
		return NULL;
	}
	if (!vlans_fill(t, side, groups, count))
		return t;
	if (hash_create(t, entries) != 0)
		snprintf(why, LIVE_LINE, "port %s: no table of %zu addresses or sessions: %s", port,
			 entries, rte_strerror(rte_errno));
	else if (share_entries_add(t, port, side, groups, count, why) == 0)
		return t;
	share_table_free(t);
	return NULL;
}

struct share_table *share_table_copy(const struct share_table *t, size_t entries) {
	struct share_table *copy = rte_malloc("share_table", sizeof(*copy), RTE_CACHE_LINE_SIZE);
	const void *stored; /* may not be aligned */
	struct share_key key;
	uint32_t at = 0;
	void *groups;

	if (copy == NULL)
		return NULL;
	*copy = *t;
	copy->groups = NULL;
	if (hash_create(copy, entries) != 0) {
		share_table_free(copy);
		return NULL;
	}
	while (rte_hash_iterate(t->groups, &stored, &groups, &at) >= 0) {
		memcpy(&key, stored, sizeof(key));
		if (rte_hash_add_key_data(copy->groups, &key, groups) != 0) {
			share_table_free(copy);
			return NULL;
		}
	}
	return copy;
}

void share_table_free(struct share_table *t) {
	if (t == NULL)
		return;
	rte_hash_free(t->groups);
	rte_free(t);
}

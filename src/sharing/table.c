/* SPDX-License-Identifier: BSD-3-Clause */
#include "sharing/table.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "platform/large_pages.h"
#include "sharing/entries.h"

#define LEAST_ENTRIES 64

/* Whether something comes from that side for the group. */
static bool receives(const struct service_group *sg, enum share_side side) {
	return side == SHARE_NETWORK || sg->upstream_channel_count > 0;
}

/* Gives the group's VLAN a number, and the group to it while no other has come. */
static void vlan_add(struct share_table *t, const struct service_group *sg, enum share_side side,
		     uint8_t group, uint8_t members[SHARE_MAX_GROUPS], uint8_t *vlans) {
	uint16_t id = share_vlan_of(sg, side) & VLAN_ID;
	struct share_vlan *v;

	if (t->vlan_of[id] == SHARE_NO_VLAN) {
		t->vlan_of[id] = *vlans;
		t->vlans[(*vlans)++].group = SHARE_NOBODY;
	}
	v = &t->vlans[t->vlan_of[id]];
	t->tagged |= id != 0;
	if (!receives(sg, side))
		return;
	v->group = members[t->vlan_of[id]]++ == 0 ? group : SHARE_NOBODY;
	if (side == SHARE_NETWORK && sg->network.has_mac) {
		v->by_mac = true;
		t->with_mac |= UINT64_C(1) << group;
	}
}

/* Returns whether there is a VLAN in which more than the tag is to be looked at. */
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
		more |= t->vlans[v].group == SHARE_NOBODY;
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

static struct rte_hash *hash_create(const char *port, size_t entries) {
	static unsigned made; /* DPDK wants names that differ; also from that of the table before */
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters p = {
		.name = name,
		.entries = (uint32_t)RTE_MAX(entries + entries / 4, (size_t)LEAST_ENTRIES),
		.key_len = sizeof(struct share_key),
		.hash_func = share_key_hash,
		.socket_id = large_pages_socket(),
	};
	struct rte_hash *hash;

	snprintf(name, sizeof(name), "sharing_%u", made++);
	hash = rte_hash_create(&p);
	if (hash == NULL)
		fprintf(stderr, "port %s: no table of %zu addresses or sessions: %s\n", port,
			entries, rte_strerror(rte_errno));
	return hash;
}

struct share_table *share_table_create(const char *port, enum share_side side,
				       const struct service_group *const *groups, unsigned count) {
	struct share_table *t = rte_zmalloc("share_table", sizeof(*t), RTE_CACHE_LINE_SIZE);

	if (t == NULL) {
		fprintf(stderr, "port %s: no memory to tell its service groups apart\n", port);
		return NULL;
	}
	if (!vlans_fill(t, side, groups, count))
		return t;
	t->groups = hash_create(port, share_entries_count(side, groups, count));
	if (t->groups != NULL && share_entries_add(t, port, side, groups, count) == 0)
		return t;
	share_table_free(t);
	return NULL;
}

void share_table_free(struct share_table *t) {
	if (t == NULL)
		return;
	rte_hash_free(t->groups);
	rte_free(t);
}

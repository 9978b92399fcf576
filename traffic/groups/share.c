/* SPDX-License-Identifier: BSD-3-Clause */
#include "groups/share.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_jhash.h>
#include <rte_prefetch.h>

#define FEWEST_KEYS 8 /* that a table can have room for */

static_assert(SHARE_BURST <= RTE_HASH_LOOKUP_BULK_MAX, "a burst is looked up at once");

void share_init(struct share *s, uint16_t port) {
	*s = (struct share){.port = port};
	for (unsigned i = 0; i < VLAN_IDS; i++)
		s->by_vlan[i] = SHARE_NOBODY;
}

void share_add(struct share *s, unsigned group, uint16_t vlan) {
	s->by_vlan[vlan] = s->by_vlan[vlan] == SHARE_NOBODY ? (int16_t)group : SHARE_SEVERAL;
}

static bool share_needs_table(const struct share *s) {
	for (unsigned i = 0; i < VLAN_IDS; i++) {
		if (s->by_vlan[i] == SHARE_SEVERAL)
			return true;
	}
	return false;
}

int share_table_create(struct share *s, const char *name, size_t keys, size_t key_size) {
	char unique[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters parameters = {
		.name = unique,
		.entries = (uint32_t)RTE_MAX(keys, (size_t)FEWEST_KEYS),
		.key_len = (uint32_t)key_size,
		.hash_func = rte_jhash,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* no key is refused */
	};

	if (!share_needs_table(s))
		return 0;
	snprintf(unique, sizeof(unique), "traffic_%s%u", name, s->port);
	s->table = rte_hash_create(&parameters);
	if (s->table != NULL)
		return 0;
	fprintf(stderr, "traffic: no memory to tell %zu keys of service groups apart: %s\n", keys,
		rte_strerror(rte_errno));
	return -1;
}

int share_key_add(struct share *s, const void *key, unsigned group, unsigned *other) {
	void *known;

	if (s->table == NULL)
		return 0;
	if (rte_hash_lookup_data(s->table, key, &known) >= 0) {
		*other = (unsigned)(uintptr_t)known;
		return *other == group ? 0 : 1;
	}
	if (rte_hash_add_key_data(s->table, key, (void *)(uintptr_t)group) == 0)
		return 0;
	fprintf(stderr, "traffic: no memory to tell service groups apart\n");
	return -1;
}

void share_free(struct share *s) {
	rte_hash_free(s->table);
	s->table = NULL;
}

void share_receive(struct share *s, struct share_frames *f) {
	f->count = rte_eth_rx_burst(s->port, 0, f->frames, SHARE_BURST);
	for (unsigned i = 0; i < f->count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(f->frames[i], void *));
	for (unsigned i = 0; i < f->count; i++) {
		f->vlans[i] = vlan_has_tag(f->frames[i]) ? vlan_tag_take(f->frames[i]) : 0;
		f->groups[i] = s->by_vlan[f->vlans[i]];
	}
}

unsigned share_discard(struct share *s) {
	struct rte_mbuf *frames[SHARE_BURST];
	unsigned n = rte_eth_rx_burst(s->port, 0, frames, SHARE_BURST);

	if (n > 0)
		rte_pktmbuf_free_bulk(frames, n);
	return n;
}

void share_ask(struct share *s, struct share_frames *f, const void **keys, const uint8_t *asked,
	       unsigned count) {
	void *found[SHARE_BURST];
	uint64_t hits = 0;

	if (count == 0)
		return;
	rte_hash_lookup_bulk_data(s->table, keys, count, &hits, found);
	for (unsigned i = 0; i < count; i++)
		f->groups[asked[i]] = hits >> i & 1 ? (int)(uintptr_t)found[i] : SHARE_NOBODY;
}

static void share_put(struct share *s, unsigned group, struct rte_mbuf *m) {
	struct share_pile *pile = &s->piles[group];

	if (pile->count == 0)
		s->turns[s->turn_count++] = (uint8_t)group;
	pile->frames[pile->count++] = m;
}

void share_hand_out(struct share *s, const struct share_frames *f, struct traffic *const *all,
		    share_take_fn take) {
	for (unsigned i = 0; i < f->count; i++) {
		if (f->groups[i] >= 0)
			share_put(s, (unsigned)f->groups[i], f->frames[i]);
		else
			rte_pktmbuf_free(f->frames[i]);
	}
	for (unsigned i = 0; i < s->turn_count; i++) {
		struct share_pile *pile = &s->piles[s->turns[i]];

		take(all[s->turns[i]], pile->frames, pile->count);
		pile->count = 0;
	}
	s->turn_count = 0;
}

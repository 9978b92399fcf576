/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes frames of a port to service groups, by VLAN or by a key of the frame. */
#include "groups/shared_port.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_jhash.h>
#include <rte_prefetch.h>

#include "core/link_frame.h"
#include "groups/shared_port_side.h"

#define FEWEST_KEYS 8 /* minimum capacity of the hash table */

static_assert(SHARED_PORT_BURST <= RTE_HASH_LOOKUP_BULK_MAX, "a burst is looked up at once");

struct shared_port *shared_port_create(uint16_t port, const struct shared_port_side *side) {
	struct shared_port *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->port = port;
	s->side = side;
	for (unsigned i = 0; i < VLAN_IDS; i++)
		s->by_vlan[i] = SHARED_PORT_UNMATCHED;
	return s;
}

void shared_port_free(struct shared_port *s) {
	if (s == NULL)
		return;
	rte_hash_free(s->table);
	free(s);
}

void shared_port_add(struct shared_port *s, unsigned group, const struct service_group *sg) {
	int16_t *at = &s->by_vlan[s->side->vlan(sg)];

	*at = *at == SHARED_PORT_UNMATCHED ? (int16_t)group : SHARED_PORT_SEVERAL;
	s->has[group] = true;
	s->vlans[group] = s->side->vlan(sg);
}

/* Whether the VLAN of the group at an index requires keys. */
static bool has_keys(const struct shared_port *s, const struct service_group *all, unsigned group) {
	return s->has[group] && s->by_vlan[s->side->vlan(&all[group])] == SHARED_PORT_SEVERAL;
}

static int table_create(struct shared_port *s, size_t keys) {
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters parameters = {
		.name = name,
		.entries = (uint32_t)RTE_MAX(keys, (size_t)FEWEST_KEYS),
		.key_len = (uint32_t)s->side->key_size,
		.hash_func = rte_jhash,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE, /* never refuses a key */
	};

	snprintf(name, sizeof(name), "traffic_share%u", s->port);
	s->table = rte_hash_create(&parameters);
	if (s->table != NULL)
		return 0;
	fprintf(stderr, "traffic: no memory for %zu keys of service groups: %s\n", keys,
		rte_strerror(rte_errno));
	return -1;
}

struct naming {
	struct shared_port *share;
	const struct service_group *all;
	unsigned group;
};

static int key_add(void *context, const void *key, const char *what) {
	const struct naming *n = context;
	const struct shared_port *s = n->share;
	void *known;

	if (rte_hash_lookup_data(s->table, key, &known) >= 0) {
		unsigned other = (unsigned)(uintptr_t)known;

		if (other == n->group)
			return 0;
		fprintf(stderr,
			"traffic: service groups %u and %u have the same %s on one %s port; give "
			"them different values or VLANs\n",
			n->all[other].id, n->all[n->group].id, what, s->side->name);
		return -1;
	}
	if (rte_hash_add_key_data(s->table, key, (void *)(uintptr_t)n->group) == 0)
		return 0;
	fprintf(stderr, "traffic: no memory for the keys of service groups\n");
	return -1;
}

int shared_port_build(struct shared_port *s, const struct service_group *all) {
	size_t keys = 0;

	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		keys += has_keys(s, all, g) ? s->side->keys(&all[g]) : 0;
	if (keys > 0 && table_create(s, keys) != 0)
		return -1;
	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++) {
		struct naming naming = {s, all, g};

		if (has_keys(s, all, g) && s->side->keys_name(&all[g], key_add, &naming) != 0)
			return -1;
	}
	return 0;
}

/* A burst of frames and their groups. */
struct burst {
	struct rte_mbuf *frames[SHARED_PORT_BURST];
	uint16_t vlans[SHARED_PORT_BURST];
	int groups[SHARED_PORT_BURST];
	unsigned count;
};

/* Receives a burst, removes VLAN tags and sets the groups that VLANs determine. */
static void burst_receive(struct shared_port *s, struct burst *b) {
	b->count = rte_eth_rx_burst(s->port, 0, b->frames, SHARED_PORT_BURST);
	for (unsigned i = 0; i < b->count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(b->frames[i], void *));
	for (unsigned i = 0; i < b->count; i++) {
		b->vlans[i] = vlan_has_tag(b->frames[i]) ? vlan_tag_remove(b->frames[i]) : 0;
		b->groups[i] = s->by_vlan[b->vlans[i]];
		if (b->groups[i] >= 0)
			continue;
		if (link_frame_is_mbuf(b->frames[i])) {
			b->groups[i] = SHARED_PORT_LINK;
			s->unmatched.unexpected[UNEXPECTED_LINK]++;
		} else if (b->groups[i] == SHARED_PORT_UNMATCHED) {
			s->unmatched.unexpected[UNEXPECTED_NO_GROUP]++;
		}
	}
}

/* The group on the port that owns the frame, or else one that may own it. */
static int owner_find(const struct shared_port *s, struct traffic *const *all,
		      const struct rte_mbuf *m, uint16_t vlan) {
	int owner = SHARED_PORT_UNMATCHED;

	for (int g = 0; g < SERVER_MAX_GROUPS; g++) {
		enum shared_port_owner is;

		if (!s->has[g] || s->vlans[g] != vlan)
			continue;
		is = s->side->owner(all[g], m);
		if (is == OWNER_IS)
			return g;
		if (is == OWNER_MAY_BE && owner == SHARED_PORT_UNMATCHED)
			owner = g;
	}
	return owner;
}

/* Asks the groups, on a port whose groups change. Unknown frames are counted by their key, as on
 * other ports. */
static void burst_find_owners(struct shared_port *s, struct burst *b, struct traffic *const *all) {
	uint8_t key[SHARED_PORT_KEY_MAX] __rte_aligned(8);

	for (unsigned i = 0; i < b->count; i++) {
		void *found;

		if (b->groups[i] != SHARED_PORT_SEVERAL)
			continue;
		b->groups[i] = SHARED_PORT_UNMATCHED;
		if (s->side->owner_first)
			b->groups[i] = owner_find(s, all, b->frames[i], b->vlans[i]);
		if (b->groups[i] != SHARED_PORT_UNMATCHED ||
		    !s->side->key_read(b->frames[i], b->vlans[i], key, &s->unmatched))
			continue;
		if (s->table != NULL && rte_hash_lookup_data(s->table, key, &found) >= 0)
			b->groups[i] = (int)(uintptr_t)found;
		else
			b->groups[i] = owner_find(s, all, b->frames[i], b->vlans[i]);
		if (b->groups[i] == SHARED_PORT_UNMATCHED)
			++*s->side->counter(&s->unmatched);
	}
}

/* Looks up the keys of frames whose group the VLAN does not determine. */
static void burst_lookup(struct shared_port *s, struct burst *b) {
	uint8_t keys[SHARED_PORT_BURST][SHARED_PORT_KEY_MAX] __rte_aligned(8);
	const void *key_list[SHARED_PORT_BURST];
	uint8_t of[SHARED_PORT_BURST];
	void *found[SHARED_PORT_BURST];
	uint64_t hits = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < b->count; i++) {
		if (b->groups[i] != SHARED_PORT_SEVERAL)
			continue;
		b->groups[i] = SHARED_PORT_UNMATCHED;
		key_list[n] = keys[n];
		of[n] = (uint8_t)i;
		n += s->table != NULL &&
		     s->side->key_read(b->frames[i], b->vlans[i], keys[n], &s->unmatched);
	}
	if (n > 0)
		rte_hash_lookup_bulk_data(s->table, key_list, n, &hits, found);
	for (unsigned i = 0; i < n; i++) {
		if (hits >> i & 1)
			b->groups[of[i]] = (int)(uintptr_t)found[i];
		else
			++*s->side->counter(&s->unmatched);
	}
}

static void batch_put(struct shared_port *s, unsigned group, struct rte_mbuf *m) {
	struct shared_port_batch *batch = &s->batches[group];

	if (batch->count == 0)
		s->filled[s->filled_count++] = (uint8_t)group;
	batch->frames[batch->count++] = m;
}

static void burst_distribute(struct shared_port *s, const struct burst *b) {
	for (unsigned i = 0; i < b->count; i++) {
		if (b->groups[i] >= 0) {
			batch_put(s, (unsigned)b->groups[i], b->frames[i]);
			continue;
		}
		s->unmatched.frames++;
		s->unmatched.bytes += rte_pktmbuf_pkt_len(b->frames[i]);
		if (b->groups[i] == SHARED_PORT_UNMATCHED)
			evidence_add_mbuf(s->evidence, s->side->evidence, "no_group", b->frames[i]);
		rte_pktmbuf_free(b->frames[i]);
	}
}

unsigned shared_port_poll(struct shared_port *s, struct traffic *const *all) {
	struct burst b;

	burst_receive(s, &b);
	if (s->follows)
		burst_find_owners(s, &b, all);
	else
		burst_lookup(s, &b);
	burst_distribute(s, &b);
	for (unsigned i = 0; i < s->filled_count; i++) {
		struct shared_port_batch *batch = &s->batches[s->filled[i]];

		s->side->process(all[s->filled[i]], batch->frames, batch->count);
		batch->count = 0;
	}
	s->filled_count = 0;
	return b.count;
}

unsigned shared_port_discard(struct shared_port *s) {
	struct rte_mbuf *frames[SHARED_PORT_BURST];
	unsigned n = rte_eth_rx_burst(s->port, 0, frames, SHARED_PORT_BURST);

	if (n > 0)
		rte_pktmbuf_free_bulk(frames, n);
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tell apart: finds the group of each packet by its VLAN or by a bulk hash lookup, and enqueues it
 * to the group's ring. Keeps the order within a group. */
#include <rte_hash.h>

#include "sharing/read.h"
#include "sharing/sharing.h"
#include "sharing/stages.h"

/* A burst in the stage. */
struct burst {
	const struct share_table *table;
	struct rte_mbuf **pkts;
	uint16_t count;
	uint8_t groups[PIPELINE_BURST]; /* by packet; SHARE_NO_GROUP: not known yet, or dropped */
	/* packets whose group needs a lookup: */
	uint16_t open_count;
	uint8_t open[PIPELINE_BURST]; /* indices in the burst */
	uint8_t vlans[PIPELINE_BURST];
	struct share_key keys[PIPELINE_BURST];
};

/* Results of a lookup of the first `keys`. */
struct lookup {
	uint64_t hits;
	void *groups[PIPELINE_BURST];
};

static uint64_t group_of(const struct burst *b, const struct lookup *a, unsigned at) {
	return share_owner(b->table, (uint64_t)(uintptr_t)a->groups[at]);
}

/* Sets the group if the VLAN determines it. */
static enum drop_reason by_vlan(struct burst *b, uint16_t i) {
	struct rte_mbuf *m = b->pkts[i];
	enum drop_reason reason;
	uint8_t vlan;

	b->groups[i] = SHARE_NO_GROUP;
	if (m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0)
		return DROP_PORT_CHAINED;
	if (rte_pktmbuf_data_len(m) < ETHERNET_HEADER)
		return DROP_PORT_RUNT;
	reason = share_strip_vlan(b->table, m, &vlan);
	if (reason != DROP_NONE)
		return reason;
	b->groups[i] = b->table->vlans[vlan].group;
	if (b->groups[i] == SHARE_NO_GROUP) {
		b->vlans[b->open_count] = vlan;
		b->open[b->open_count++] = (uint8_t)i;
	}
	return DROP_NONE;
}

static void lookup_groups(const struct burst *b, uint16_t n, struct lookup *a) {
	const void *keys[PIPELINE_BURST];

	for (uint16_t i = 0; i < n; i++)
		keys[i] = &b->keys[i];
	a->hits = 0;
	if (n > 0 && b->table->groups != NULL)
		rte_hash_lookup_bulk_data(b->table->groups, keys, n, &a->hits, a->groups);
}

/* Network side: looks up the destination MAC address. Packets without a match stay open. */
static void by_mac(struct burst *b) {
	struct lookup a;
	uint16_t lookup_count = 0, at = 0, open = 0;

	for (uint16_t i = 0; i < b->open_count; i++) {
		if (b->table->vlans[b->vlans[i]].by_mac)
			share_key_set(&b->keys[lookup_count++], SHARE_GROUP_MAC, b->vlans[i],
				      rte_pktmbuf_mtod(b->pkts[b->open[i]], uint8_t *), 6);
	}
	if (lookup_count == 0)
		return;
	lookup_groups(b, lookup_count, &a);
	for (uint16_t i = 0; i < b->open_count; i++) {
		bool was_looked_up = b->table->vlans[b->vlans[i]].by_mac;
		uint16_t which = at;

		at += was_looked_up;
		if (was_looked_up && (a.hits >> which & 1) != 0) {
			b->groups[b->open[i]] = (uint8_t)group_of(b, &a, which);
			continue;
		}
		b->vlans[open] = b->vlans[i];
		b->open[open++] = b->open[i];
	}
	b->open_count = open;
}

static void end_packet(struct port_share *s, struct burst *b, uint16_t i, enum drop_reason reason) {
	drop(&s->counters, b->pkts[i], reason);
	b->pkts[i] = NULL;
}

/* Reads the keys of open packets. Packets without a key are dropped. */
static void read_keys(struct port_share *s, struct burst *b) {
	uint16_t open = 0;

	for (uint16_t i = 0; i < b->open_count; i++) {
		const struct rte_mbuf *m = b->pkts[b->open[i]];
		const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
		uint8_t vlan = b->vlans[i];
		enum drop_reason reason;

		if (s->side == SHARE_RPHY)
			reason = share_read_rphy(frame, rte_pktmbuf_data_len(m), vlan,
						 b->table->vlans[vlan].by_mac, &b->keys[open]);
		else
			reason = share_read_network(frame, rte_pktmbuf_data_len(m), vlan,
						    &b->keys[open]);
		if (reason != DROP_NONE)
			end_packet(s, b, b->open[i], reason);
		else
			b->open[open++] = b->open[i];
	}
	b->open_count = open;
}

static bool key_is_multicast(const struct share_key *key) {
	switch ((enum share_kind)key->kind) {
	case SHARE_IPV4: /* 224.0.0.0/4 and 255.255.255.255 */
		return key->value[0] >> 4 == 14 || load_be32(key->value) == UINT32_MAX;
	case SHARE_IPV6: return key->value[0] == 0xff;
	case SHARE_MODEM_MAC: return (key->value[0] & 1) != 0;
	default: return false;
	}
}

/*
 * Returns the reason why the group that was found must not get the packet, or DROP_NONE. A group
 * with its own MAC address gets packets by that address. By a subscriber's address it gets only
 * broadcasts, such as ARP requests, and frames to a modem's MAC address.
 */
static enum drop_reason refused(const struct share_table *t, const struct rte_mbuf *m,
				const struct share_key *key, uint64_t group) {
	bool to_all = (*rte_pktmbuf_mtod(m, const uint8_t *) & 1) != 0;

	if (group != SHARE_SEVERAL_GROUPS && (t->with_mac >> group & 1) == 0)
		return DROP_NONE;
	if (!to_all && key->kind != SHARE_MODEM_MAC)
		return DROP_PORT_UNKNOWN_MAC;
	return group == SHARE_SEVERAL_GROUPS ? DROP_PORT_UNKNOWN_DESTINATION : DROP_NONE;
}

static enum drop_reason unknown_reason(const struct share_key *key) {
	if (key->kind == SHARE_SESSION)
		return DROP_PORT_UNKNOWN_SESSION;
	return key_is_multicast(key) ? DROP_PORT_MULTICAST : DROP_PORT_UNKNOWN_DESTINATION;
}

/* Finds the groups of the packets that no VLAN or broadcast decided. */
static void by_key(struct port_share *s, struct burst *b) {
	struct lookup a;

	lookup_groups(b, b->open_count, &a);
	for (uint16_t i = 0; i < b->open_count; i++) {
		bool found = (a.hits >> i & 1) != 0;
		uint64_t group = found ? group_of(b, &a, i) : SHARE_NO_GROUP;
		uint16_t which = b->open[i];
		enum drop_reason reason;

		if (found)
			reason = refused(b->table, b->pkts[which], &b->keys[i], group);
		else
			reason = unknown_reason(&b->keys[i]);
		if (reason != DROP_NONE)
			end_packet(s, b, which, reason);
		else
			b->groups[which] = (uint8_t)group;
	}
}

/* Enqueues the staged packets into the member's ring. Drops those that do not fit. */
static void member_flush(struct port_share *s, struct share_member *member) {
	unsigned enqueued = rte_ring_sp_enqueue_burst(member->ring, (void **)member->staged,
						      member->staged_count, NULL);

	for (unsigned i = enqueued; i < member->staged_count; i++)
		drop(&s->counters, member->staged[i], DROP_PORT_GROUP_FULL);
	member->handed += enqueued;
	member->full += member->staged_count - enqueued;
	member->staged_count = 0;
	count(&s->counters, COUNTER_PORT_HANDED, enqueued);
}

/* Enqueues once per ring and burst. */
static void hand_to_groups(struct port_share *s, const struct burst *b) {
	struct share_member *members[PIPELINE_BURST];
	unsigned count = 0;

	for (uint16_t i = 0; i < b->count; i++) {
		struct share_member *member;

		if (b->groups[i] == SHARE_NO_GROUP)
			continue;
		member = &s->members[b->groups[i]];
		if (member->staged_count == 0)
			members[count++] = member;
		member->staged[member->staged_count++] = b->pkts[i];
	}
	for (unsigned l = 0; l < count; l++)
		member_flush(s, members[l]);
}

uint16_t share_distribute(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct port_share *s = ctx;
	struct burst b;

	b.table = __atomic_load_n(&s->table, __ATOMIC_ACQUIRE);
	b.pkts = pkts;
	b.count = n;
	b.open_count = 0;
	for (uint16_t i = 0; i < n; i++) {
		enum drop_reason reason = by_vlan(&b, i);

		if (reason != DROP_NONE)
			end_packet(s, &b, i, reason);
	}
	if (b.open_count > 0) {
		if (s->side == SHARE_NETWORK)
			by_mac(&b);
		read_keys(s, &b);
		by_key(s, &b);
	}
	hand_to_groups(s, &b);
	if (s->was_empty) /* all earlier packets are in the rings */
		__atomic_store_n(&s->emptied, s->emptied + 1, __ATOMIC_RELEASE);
	return 0;
}

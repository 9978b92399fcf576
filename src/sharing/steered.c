/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive queue of one group of a shared port, read by the group's worker. A NIC may put
 * packets into the wrong queue, and rules and tables do not change at the same time. So each packet
 * is matched here as in `tell_apart`. Packets without a match for the group go back to the port
 * owner. On the network side, groups with rules are matched by VLAN or MAC address only: the port
 * owner may write the hash at the same time.
 */
#include "sharing/steered.h"

#include <string.h>

#include <rte_hash.h>

#include "sharing/read.h"
#include "sharing/stages.h"
#include "wire/vlan.h"

/* A burst of the group's queue. */
struct steered_burst {
	struct share_way *way;
	const struct share_table *table;
	struct rte_mbuf **pkts;
	uint16_t count;
	uint64_t ours; /* bit per packet of the group */
	/* Packets whose session needs a lookup: */
	uint16_t open_count;
	uint8_t open[PIPELINE_BURST];
	struct share_key keys[PIPELINE_BURST];
};
_Static_assert(PIPELINE_BURST <= 64, "a bit each");

static void look_at_mac(struct steered_burst *b, uint16_t i, uint8_t vlan) {
	const struct share_way *w = b->way;

	if (w->has_mac && b->table->vlan_of[w->vlan] == vlan &&
	    memcmp(rte_pktmbuf_mtod(b->pkts[i], const uint8_t *), w->mac, sizeof(w->mac)) == 0)
		b->ours |= UINT64_C(1) << i;
}

static void look_at_session(struct steered_burst *b, uint16_t i, uint8_t vlan) {
	const struct rte_mbuf *m = b->pkts[i];

	if (share_read_rphy(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m), vlan,
			    b->table->vlans[vlan].by_mac, &b->keys[b->open_count]) == DROP_NONE)
		b->open[b->open_count++] = (uint8_t)i;
}

/* Marks a removed tag as stripped by the NIC, so that the owner can match the packet again. */
static bool find_vlan(struct steered_burst *b, struct rte_mbuf *m, uint8_t *vlan) {
	uint16_t size = rte_pktmbuf_data_len(m);
	enum drop_reason reason = share_strip_vlan(b->table, m, vlan);

	if (rte_pktmbuf_data_len(m) != size)
		m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	return reason == DROP_NONE;
}

static void look_at(struct steered_burst *b, uint16_t i) {
	struct rte_mbuf *m = b->pkts[i];
	uint8_t vlan, group;

	if ((m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0) ||
	    rte_pktmbuf_data_len(m) < ETHERNET_HEADER || !find_vlan(b, m, &vlan))
		return;
	group = b->table->vlans[vlan].group;
	if (group != SHARE_NO_GROUP)
		b->ours |= (uint64_t)(group == b->way->group) << i;
	else if (b->way->share->side == SHARE_NETWORK)
		look_at_mac(b, i, vlan);
	else
		look_at_session(b, i, vlan);
}

static void look_up_sessions(struct steered_burst *b) {
	const void *keys[PIPELINE_BURST];
	void *groups[PIPELINE_BURST];
	uint64_t hits = 0;

	for (uint16_t k = 0; k < b->open_count; k++)
		keys[k] = &b->keys[k];
	if (b->open_count > 0)
		rte_hash_lookup_bulk_data(b->table->groups, keys, b->open_count, &hits, groups);
	for (uint16_t k = 0; k < b->open_count; k++) {
		if ((hits >> k & 1) != 0 &&
		    share_owner(b->table, (uint64_t)(uintptr_t)groups[k]) == b->way->group)
			b->ours |= UINT64_C(1) << b->open[k];
	}
}

static void hand_back(struct share_way *w, struct rte_mbuf **pkts, unsigned n) {
	unsigned taken = rte_ring_enqueue_burst(w->share->misdirected, (void **)pkts, n, NULL);

	w->strayed += n;
	w->lost += n - taken;
	rte_pktmbuf_free_bulk(&pkts[taken], n - taken);
}

/* Keeps the group's packets in order. Returns how many. */
static uint16_t keep_ours(struct steered_burst *b) {
	struct rte_mbuf *misdirected[PIPELINE_BURST];
	uint16_t kept = 0, others = 0;

	for (uint16_t i = 0; i < b->count; i++) {
		if ((b->ours >> i & 1) != 0)
			b->pkts[kept++] = b->pkts[i];
		else
			misdirected[others++] = b->pkts[i];
	}
	if (unlikely(others > 0))
		hand_back(b->way, misdirected, others);
	b->way->steered += kept;
	return kept;
}

/* Polls the queue. Returns the number of the group's packets; `*empty`: the queue had none. */
static uint16_t poll_queue(struct share_way *w, struct rte_mbuf **pkts, uint16_t most,
			   bool *empty) {
	struct port_share *s = w->share;
	struct steered_burst b = {.way = w, .pkts = pkts};

	b.count = share_is_closed(s) ? 0 : rte_eth_rx_burst(s->from.port, w->queue, pkts, most);
	*empty = b.count == 0;
	if (b.count < RTE_MIN(most, SHARE_DRIVER_BURST))
		w->was_empty = true;
	if (b.count == 0)
		return 0;
	b.table = __atomic_load_n(&s->table, __ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < b.count; i++) {
		w->received_bytes += rte_pktmbuf_pkt_len(pkts[i]);
		look_at(&b, i);
	}
	w->received += b.count;
	look_up_sessions(&b);
	return keep_ours(&b);
}

/*
 * Called after a poll of the ring that found fewer packets than it may return. The period ends if,
 * since its start, the queue was empty once and the port twice. The port owner has then put all
 * earlier packets into the ring, so the group has read all packets from before the period.
 */
static void note_empty(struct share_way *w, uint64_t emptied) {
	if (!w->was_empty || emptied - w->began < 2)
		return;
	__atomic_store_n(&w->emptied, w->emptied + 1, __ATOMIC_RELEASE);
	w->began = emptied;
	w->was_empty = false;
}

/* Whether the queue must not be read yet. `emptied` of the port must be read before the ring is
 * found empty, so that the packets that it stands for are out of the ring. */
static bool queue_is_paused(struct share_way *w, uint64_t emptied) {
	uint64_t opens_at = __atomic_load_n(&w->opens_at, __ATOMIC_ACQUIRE);

	if (likely(opens_at == 0))
		return false;
	if (emptied < opens_at)
		return true;
	__atomic_compare_exchange_n(&w->opens_at, &opens_at, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return false;
}

static uint16_t share_take(void *taker, struct rte_mbuf **pkts, uint16_t most) {
	struct share_way *w = taker;
	struct rte_ring *ring = w->share->members[w->group].ring;
	uint64_t emptied = __atomic_load_n(&w->share->emptied, __ATOMIC_ACQUIRE);
	enum share_gate gate = __atomic_load_n(&w->ring, __ATOMIC_ACQUIRE);
	uint16_t n = 0;
	bool empty;

	if (gate == SHARE_OPEN)
		n = (uint16_t)rte_ring_sc_dequeue_burst(ring, (void **)pkts, most, NULL);
	if (n == most || queue_is_paused(w, emptied))
		return n;
	n += poll_queue(w, pkts + n, (uint16_t)(most - n), &empty);
	if (gate == SHARE_OPEN)
		note_empty(w, emptied);
	else if (gate == SHARE_SHUT_UNTIL_EMPTY && empty)
		__atomic_store_n(&w->ring, SHARE_OPEN, __ATOMIC_RELEASE);
	return n;
}

void share_way_source(struct port_share *s, unsigned group, struct packet_source *source) {
	source->take = share_take;
	source->taker = &s->members[group].way;
	source->emptied = &s->members[group].way.emptied;
}

void share_way_open(struct port_share *s, unsigned group, const struct service_group *sg,
		    uint16_t queue) {
	struct share_way *w = &s->members[group].way;

	*w = (struct share_way){
		.share = s,
		.group = (uint8_t)group,
		.has_mac = s->side == SHARE_NETWORK && sg->network.has_mac,
		.vlan = share_vlan_of(sg, s->side),
		.queue = queue,
	};
	memcpy(w->mac, sg->network.mac, sizeof(w->mac));
	__atomic_fetch_and(&s->spare, ~(UINT64_C(1) << queue), __ATOMIC_RELEASE);
}

void share_queue_pause(struct port_share *s, unsigned group) {
	__atomic_store_n(&s->members[group].way.opens_at, UINT64_MAX, __ATOMIC_RELEASE);
}

void share_queue_resume(struct port_share *s, unsigned group) {
	uint64_t emptied = __atomic_load_n(&s->emptied, __ATOMIC_ACQUIRE);

	__atomic_store_n(&s->members[group].way.opens_at, emptied + 2, __ATOMIC_RELEASE);
}

void share_ring_pause(struct port_share *s, unsigned group) {
	__atomic_store_n(&s->members[group].way.ring, SHARE_SHUT, __ATOMIC_RELEASE);
}

void share_ring_resume(struct port_share *s, unsigned group) {
	__atomic_store_n(&s->members[group].way.ring, SHARE_SHUT_UNTIL_EMPTY, __ATOMIC_RELEASE);
}

bool share_way_settled(const struct port_share *s, unsigned group) {
	const struct share_way *w = &s->members[group].way;

	return __atomic_load_n(&w->ring, __ATOMIC_ACQUIRE) == SHARE_OPEN &&
	       __atomic_load_n(&w->opens_at, __ATOMIC_ACQUIRE) == 0;
}

uint64_t share_way_emptied(const struct port_share *s, unsigned group) {
	return __atomic_load_n(&s->members[group].way.emptied, __ATOMIC_ACQUIRE);
}

/* The ring count is read first, so packets that the owner dequeues meanwhile count twice rather
 * than not at all. */
uint64_t share_misdirected_handed(const struct port_share *s) {
	uint64_t pending = rte_ring_count(s->misdirected);

	return pending + __atomic_load_n(&s->misdirected_taken, __ATOMIC_ACQUIRE);
}

bool share_misdirected_taken(const struct port_share *s, uint64_t handed) {
	return __atomic_load_n(&s->misdirected_taken, __ATOMIC_ACQUIRE) >= handed;
}

/* Counts the packets as received and handed over, as if they had passed through the ring. */
bool share_way_drain(struct port_share *s, unsigned group, unsigned most) {
	const struct share_way *w = &s->members[group].way;
	struct rte_mbuf *m;

	for (; w->queue != 0 && !share_is_closed(s) && most > 0; most--) {
		if (rte_eth_rx_burst(s->from.port, w->queue, &m, 1) == 0)
			return true;
		count(&s->counters, COUNTER_PORT_RECEIVED, 1);
		count(&s->counters, COUNTER_PORT_RECEIVED_BYTES, rte_pktmbuf_pkt_len(m));
		count(&s->counters, COUNTER_PORT_HANDED, 1);
		drop(&s->counters, m, DROP_PORT_STOPPED);
	}
	return w->queue == 0 || share_is_closed(s);
}

static void way_add(struct share_way *into, const struct share_way *w) {
	into->received += w->received;
	into->received_bytes += w->received_bytes;
	into->steered += w->steered;
	into->strayed += w->strayed;
	into->lost += w->lost;
}

void share_way_close(struct port_share *s, unsigned group) {
	uint16_t queue = s->members[group].way.queue;

	way_add(&s->gone, &s->members[group].way);
	s->members[group].way = (struct share_way){0};
	if (queue != 0)
		__atomic_fetch_or(&s->spare, UINT64_C(1) << queue, __ATOMIC_RELEASE);
}

struct share_way share_ways_counted(const struct port_share *s) {
	struct share_way all = s->gone;

	for (unsigned g = 0; g < SHARE_MAX_GROUPS; g++)
		way_add(&all, &s->members[g].way);
	return all;
}

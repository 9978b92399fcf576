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
	struct share_queue *queue;
	const struct share_table *table;
	struct rte_mbuf **pkts;
	uint16_t count;
	uint64_t own; /* bit per packet of the group */
	/* Packets whose session needs a lookup: */
	uint16_t open_count;
	uint8_t open[PIPELINE_BURST];
	struct share_key keys[PIPELINE_BURST];
};
_Static_assert(PIPELINE_BURST <= 64, "a bit each");

static void check_mac(struct steered_burst *b, uint16_t i, uint8_t vlan) {
	const struct share_queue *q = b->queue;

	if (q->has_mac && b->table->vlan_of[q->vlan] == vlan &&
	    memcmp(rte_pktmbuf_mtod(b->pkts[i], const uint8_t *), q->mac, sizeof(q->mac)) == 0)
		b->own |= UINT64_C(1) << i;
}

static void check_session(struct steered_burst *b, uint16_t i, uint8_t vlan) {
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

static void packet_check(struct steered_burst *b, uint16_t i) {
	struct rte_mbuf *m = b->pkts[i];
	uint8_t vlan, group;

	if ((m->nb_segs > 1 && rte_pktmbuf_linearize(m) != 0) ||
	    rte_pktmbuf_data_len(m) < ETHERNET_HEADER || !find_vlan(b, m, &vlan))
		return;
	group = b->table->vlans[vlan].group;
	if (group != SHARE_NO_GROUP)
		b->own |= (uint64_t)(group == b->queue->group) << i;
	else if (b->queue->share->side == SHARE_NETWORK)
		check_mac(b, i, vlan);
	else
		check_session(b, i, vlan);
}

static void lookup_sessions(struct steered_burst *b) {
	const void *keys[PIPELINE_BURST];
	void *groups[PIPELINE_BURST];
	uint64_t hits = 0;

	for (uint16_t k = 0; k < b->open_count; k++)
		keys[k] = &b->keys[k];
	if (b->open_count > 0)
		rte_hash_lookup_bulk_data(b->table->groups, keys, b->open_count, &hits, groups);
	for (uint16_t k = 0; k < b->open_count; k++) {
		if ((hits >> k & 1) != 0 &&
		    share_owner(b->table, (uint64_t)(uintptr_t)groups[k]) == b->queue->group)
			b->own |= UINT64_C(1) << b->open[k];
	}
}

/* Gives misdirected packets to the worker that owns the port. Drops those that do not fit. */
static void hand_back(struct share_queue *q, struct rte_mbuf **pkts, unsigned n) {
	unsigned enqueued = rte_ring_enqueue_burst(q->share->misdirected, (void **)pkts, n, NULL);

	q->misdirected_count += n;
	q->misdirected_dropped += n - enqueued;
	rte_pktmbuf_free_bulk(&pkts[enqueued], n - enqueued);
}

/* Keeps the group's packets in order. Returns how many. */
static uint16_t keep_own_packets(struct steered_burst *b) {
	struct rte_mbuf *misdirected[PIPELINE_BURST];
	uint16_t kept = 0, returned = 0;

	for (uint16_t i = 0; i < b->count; i++) {
		if ((b->own >> i & 1) != 0)
			b->pkts[kept++] = b->pkts[i];
		else
			misdirected[returned++] = b->pkts[i];
	}
	if (unlikely(returned > 0))
		hand_back(b->queue, misdirected, returned);
	b->queue->steered += kept;
	return kept;
}

/* Polls the queue. Returns the number of the group's packets; `*empty`: the queue had none. */
static uint16_t poll_queue(struct share_queue *q, struct rte_mbuf **pkts, uint16_t max,
			   bool *empty) {
	struct port_share *s = q->share;
	struct steered_burst b = {.queue = q, .pkts = pkts};

	b.count = share_is_closed(s) ? 0 : rte_eth_rx_burst(s->from.port, q->id, pkts, max);
	*empty = b.count == 0;
	if (b.count < RTE_MIN(max, SHARE_DRIVER_BURST))
		q->was_empty = true;
	if (b.count == 0)
		return 0;
	b.table = __atomic_load_n(&s->table, __ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < b.count; i++) {
		q->received_bytes += rte_pktmbuf_pkt_len(pkts[i]);
		packet_check(&b, i);
	}
	q->received += b.count;
	lookup_sessions(&b);
	return keep_own_packets(&b);
}

/*
 * Called after a poll of the ring that found fewer packets than it may return. The period ends if,
 * since its start, the queue was empty once and the port twice. The port owner has then put all
 * earlier packets into the ring, so the group has read all packets from before the period.
 */
static void note_empty(struct share_queue *q, uint64_t emptied) {
	if (!q->was_empty || emptied - q->began < 2)
		return;
	__atomic_store_n(&q->emptied, q->emptied + 1, __ATOMIC_RELEASE);
	q->began = emptied;
	q->was_empty = false;
}

/* Whether the queue must not be read yet. `emptied` of the port must be read before the ring is
 * found empty, so that the packets that it stands for are out of the ring. */
static bool queue_is_paused(struct share_queue *q, uint64_t emptied) {
	uint64_t opens_at = __atomic_load_n(&q->opens_at, __ATOMIC_ACQUIRE);

	if (likely(opens_at == 0))
		return false;
	if (emptied < opens_at)
		return true;
	__atomic_compare_exchange_n(&q->opens_at, &opens_at, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return false;
}

static uint16_t share_queue_receive(void *context, struct rte_mbuf **pkts, uint16_t max) {
	struct share_queue *q = context;
	struct rte_ring *ring = q->share->members[q->group].ring;
	uint64_t emptied = __atomic_load_n(&q->share->emptied, __ATOMIC_ACQUIRE);
	enum share_gate gate = __atomic_load_n(&q->ring, __ATOMIC_ACQUIRE);
	uint16_t n = 0;
	bool empty;

	if (gate == SHARE_OPEN)
		n = (uint16_t)rte_ring_sc_dequeue_burst(ring, (void **)pkts, max, NULL);
	if (n == max || queue_is_paused(q, emptied))
		return n;
	n += poll_queue(q, pkts + n, (uint16_t)(max - n), &empty);
	if (gate == SHARE_OPEN)
		note_empty(q, emptied);
	else if (gate == SHARE_SHUT_UNTIL_EMPTY && empty)
		__atomic_store_n(&q->ring, SHARE_OPEN, __ATOMIC_RELEASE);
	return n;
}

void share_queue_source(struct port_share *s, unsigned group, struct packet_source *source) {
	source->receive = share_queue_receive;
	source->context = &s->members[group].queue;
	source->emptied = &s->members[group].queue.emptied;
}

void share_queue_open(struct port_share *s, unsigned group, const struct service_group *sg,
		      uint16_t queue) {
	struct share_queue *q = &s->members[group].queue;

	*q = (struct share_queue){
		.share = s,
		.group = (uint8_t)group,
		.has_mac = s->side == SHARE_NETWORK && sg->network.has_mac,
		.vlan = share_vlan_of(sg, s->side),
		.id = queue,
	};
	memcpy(q->mac, sg->network.mac, sizeof(q->mac));
	__atomic_fetch_and(&s->spare, ~(UINT64_C(1) << queue), __ATOMIC_RELEASE);
}

void share_queue_pause(struct port_share *s, unsigned group) {
	__atomic_store_n(&s->members[group].queue.opens_at, UINT64_MAX, __ATOMIC_RELEASE);
}

void share_queue_resume(struct port_share *s, unsigned group) {
	uint64_t emptied = __atomic_load_n(&s->emptied, __ATOMIC_ACQUIRE);

	__atomic_store_n(&s->members[group].queue.opens_at, emptied + 2, __ATOMIC_RELEASE);
}

void share_ring_pause(struct port_share *s, unsigned group) {
	__atomic_store_n(&s->members[group].queue.ring, SHARE_SHUT, __ATOMIC_RELEASE);
}

void share_ring_resume(struct port_share *s, unsigned group) {
	__atomic_store_n(&s->members[group].queue.ring, SHARE_SHUT_UNTIL_EMPTY, __ATOMIC_RELEASE);
}

bool share_queue_settled(const struct port_share *s, unsigned group) {
	const struct share_queue *q = &s->members[group].queue;

	return __atomic_load_n(&q->ring, __ATOMIC_ACQUIRE) == SHARE_OPEN &&
	       __atomic_load_n(&q->opens_at, __ATOMIC_ACQUIRE) == 0;
}

uint64_t share_queue_emptied(const struct port_share *s, unsigned group) {
	return __atomic_load_n(&s->members[group].queue.emptied, __ATOMIC_ACQUIRE);
}

/* The ring count is read first, so packets that the owner dequeues meanwhile count twice rather
 * than not at all. */
uint64_t share_misdirected_handed(const struct port_share *s) {
	uint64_t pending = rte_ring_count(s->misdirected);

	return pending + __atomic_load_n(&s->misdirected_dequeued, __ATOMIC_ACQUIRE);
}

bool share_misdirected_dequeued(const struct port_share *s, uint64_t handed) {
	return __atomic_load_n(&s->misdirected_dequeued, __ATOMIC_ACQUIRE) >= handed;
}

/* Counts the packets as received and handed over, as if they had passed through the ring. */
bool share_queue_drain(struct port_share *s, unsigned group, unsigned max) {
	const struct share_queue *q = &s->members[group].queue;
	struct rte_mbuf *m;

	for (; q->id != 0 && !share_is_closed(s) && max > 0; max--) {
		if (rte_eth_rx_burst(s->from.port, q->id, &m, 1) == 0)
			return true;
		count(&s->counters, COUNTER_PORT_RECEIVED, 1);
		count(&s->counters, COUNTER_PORT_RECEIVED_BYTES, rte_pktmbuf_pkt_len(m));
		count(&s->counters, COUNTER_PORT_HANDED, 1);
		drop(&s->counters, m, DROP_PORT_STOPPED);
	}
	return q->id == 0 || share_is_closed(s);
}

static void queue_counts_add(struct share_queue *into, const struct share_queue *q) {
	into->received += q->received;
	into->received_bytes += q->received_bytes;
	into->steered += q->steered;
	into->misdirected_count += q->misdirected_count;
	into->misdirected_dropped += q->misdirected_dropped;
}

void share_queue_close(struct port_share *s, unsigned group) {
	uint16_t queue = s->members[group].queue.id;

	queue_counts_add(&s->closed_queues, &s->members[group].queue);
	s->members[group].queue = (struct share_queue){0};
	if (queue != 0)
		__atomic_fetch_or(&s->spare, UINT64_C(1) << queue, __ATOMIC_RELEASE);
}

struct share_queue share_queues_sum(const struct port_share *s) {
	struct share_queue all = s->closed_queues;

	for (unsigned g = 0; g < SHARE_MAX_GROUPS; g++)
		queue_counts_add(&all, &s->members[g].queue);
	return all;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive: a burst of frames from the shared port. */
#include <rte_prefetch.h>

#include "pipeline/poll_stats.h"
#include "sharing/sharing.h"
#include "sharing/stages.h"

/* Half of a burst, so that neither the port nor the ring blocks the other. */
#define MISDIRECTED_BURST (PIPELINE_BURST / 2)

/* Packets that groups found in their own queues. They were counted when received. */
static uint16_t poll_misdirected(struct port_share *s, struct rte_mbuf **pkts) {
	uint16_t n = (uint16_t)rte_ring_sc_dequeue_burst(s->misdirected, (void **)pkts,
							 MISDIRECTED_BURST, NULL);

	__atomic_store_n(&s->misdirected_dequeued, s->misdirected_dequeued + n, __ATOMIC_RELEASE);
	return n;
}

/* Polls one queue without a group: the NIC may put packets there even without a rule. */
static uint16_t poll_spare(struct port_share *s, uint64_t spare, struct rte_mbuf **pkts,
			   uint16_t max) {
	uint64_t further = spare & (UINT64_MAX << s->last_spare << 1);

	s->last_spare = (unsigned)__builtin_ctzll(further != 0 ? further : spare);
	return rte_eth_rx_burst(s->from.port, (uint16_t)s->last_spare, pkts, max);
}

uint16_t share_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct port_share *s = ctx;
	uint64_t bytes = 0, spare = __atomic_load_n(&s->spare, __ATOMIC_ACQUIRE);
	bool closed = share_is_closed(s);
	uint16_t misdirected = s->misdirected != NULL ? poll_misdirected(s, pkts) : 0, received = 0,
		 max;

	(void)n;
	pkts += misdirected;
	max = PIPELINE_BURST - misdirected;
	if (!closed)
		received = packet_source_burst(&s->from, pkts, max);
	s->was_empty =
		received < RTE_MIN(max, SHARE_DRIVER_BURST) && misdirected < MISDIRECTED_BURST;
	s->full_polls += poll_stats_is_full(&s->was_full, received);
	if (unlikely(spare != 0) && !closed)
		received += poll_spare(s, spare, pkts + received, max - received);
	for (uint16_t i = 0; i < received; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	}
	count(&s->counters, COUNTER_PORT_RECEIVED, received);
	count(&s->counters, COUNTER_PORT_RECEIVED_BYTES, bytes);
	return misdirected + received;
}

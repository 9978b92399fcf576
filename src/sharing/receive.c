/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive: a burst of frames from the shared port. */
#include <rte_prefetch.h>

#include "sharing/sharing.h"
#include "sharing/stages.h"

/* Some drivers give no more than this at a time, however many there are. */
#define DRIVER_BURST 32

uint16_t share_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct port_share *s = ctx;
	uint64_t bytes = 0;

	n = s->closed ? 0 : packet_source_burst(&s->from, pkts, PIPELINE_BURST);
	s->was_empty = n < DRIVER_BURST;
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	}
	count(&s->counters, COUNTER_PORT_RECEIVED, n);
	count(&s->counters, COUNTER_PORT_RECEIVED_BYTES, bytes);
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive: a burst of IP frames from the network port. */
#include <rte_prefetch.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

uint16_t ds_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint64_t bytes = 0;

	n = packet_source_burst(&u->network, pkts, PIPELINE_BURST);
	latency_arrive(u->latency, pkts, n);
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		rte_prefetch0(packet_meta(pkts[i]));
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	}
	poll_stats_count_poll(&u->effort, n);
	count(&u->counters, COUNTER_RECEIVED, n);
	count(&u->counters, COUNTER_RECEIVED_BYTES, bytes);
	return n;
}

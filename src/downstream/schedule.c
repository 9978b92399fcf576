/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedule: the wall in the downstream. Packets go into the queues of their service flows, and
 * come out with a channel and, for bonded flows, a packet sequence number.
 */
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

uint16_t ds_enqueue(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	static const enum drop_reason reasons[] = {
		[SCHEDULER_FLOW_FULL] = DROP_FLOW_BUFFER_FULL,
		[SCHEDULER_FULL] = DROP_SCHEDULER_FULL,
	};
	struct ds_upper *u = ctx;
	uint64_t queued = 0;

	for (uint16_t i = 0; i < n; i++) {
		uint32_t flow = packet_meta(pkts[i])->flow;
		/* MULPI counts rates from the byte after the HCS to the end of the CRC. */
		uint32_t bytes = rte_pktmbuf_pkt_len(pkts[i]) + RTE_ETHER_CRC_LEN;
		enum scheduler_verdict v =
			scheduler_enqueue(u->scheduler, flow, pkts[i], bytes,
					  bytes + u->tables->flows[flow].header_size);

		if (v == SCHEDULER_QUEUED)
			queued++;
		else
			drop(&u->counters, pkts[i], reasons[v]);
	}
	count(&u->counters, COUNTER_ENQUEUED, queued);
	return 0;
}

uint16_t ds_dequeue(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct scheduler_grant grants[PIPELINE_BURST];
	/* What the ring does not take would have to wait where nobody counts it. */
	unsigned room = RTE_MIN(rte_ring_free_count(u->to_lower), (unsigned)PIPELINE_BURST);

	n = (uint16_t)scheduler_dequeue(u->scheduler, u->clock->now, grants, room);
	for (uint16_t i = 0; i < n; i++) {
		struct packet_meta *meta;

		pkts[i] = grants[i].packet;
		meta = packet_meta(pkts[i]);
		meta->channel = grants[i].channel;
		meta->sequence = grants[i].sequence;
	}
	count(&u->counters, COUNTER_DEQUEUED, n);
	return n;
}

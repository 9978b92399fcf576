/* SPDX-License-Identifier: BSD-3-Clause */
/* Enqueue: packets go into the queues of their service flows (docs/scheduler.md). */
#include <rte_mbuf.h>

#include "downstream/qos.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

const enum drop_reason ds_refusals[SCHEDULER_VERDICTS] = {
	[SCHEDULER_FLOW_FULL] = DROP_FLOW_BUFFER_FULL,
	[SCHEDULER_FULL] = DROP_SCHEDULER_FULL,
	[SCHEDULER_WRED_DROP] = DROP_WRED,
	[SCHEDULER_PIE_DROP] = DROP_DOCSIS_PIE,
	[SCHEDULER_TOO_LONG] = DROP_LONGER_THAN_BURST,
	[SCHEDULER_NO_FLOW] = DROP_SERVICE_FLOW_REMOVED,
};

uint16_t ds_enqueue(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct scheduler_arrival arrivals[PIPELINE_BURST];
	enum scheduler_verdict verdicts[PIPELINE_BURST];
	unsigned queued;

	if (n == 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		arrivals[i].packet = pkts[i];
		arrivals[i].flow = packet_meta(pkts[i])->flow;
		/* MULPI counts rates from the byte after the HCS to the end of the CRC. */
		arrivals[i].bytes = rte_pktmbuf_pkt_len(pkts[i]) + RTE_ETHER_CRC_LEN;
	}
	queued = scheduler_enqueue(u->scheduler, u->clock->now, arrivals, n, verdicts);
	count(&u->counters, COUNTER_ENQUEUED, queued);
	if (queued == n)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		if (verdicts[i] != SCHEDULER_QUEUED)
			drop(&u->counters, pkts[i], ds_refusals[verdicts[i]]);
	}
	return 0;
}

int ds_enqueue_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	const struct ds_resources *r = resources;

	return qos_create(d, sg, r->queued_max);
}

void ds_enqueue_close(void *downstream) {
	struct downstream *d = downstream;

	qos_free(d);
}

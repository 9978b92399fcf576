/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedule: dequeues packets from the queues of their service flows, with a channel and, for bonded
 * flows, a packet sequence number (docs/scheduler.md). */
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "downstream/messages.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

uint16_t ds_schedule(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct scheduler_grant grants[PIPELINE_BURST];
	/* More than the ring can take would be pending where no counter includes it. */
	unsigned space = RTE_MIN(rte_ring_free_count(u->to_lower), (unsigned)PIPELINE_BURST);

	if (u->messages != NULL)
		ds_messages_charge(u);
	n = (uint16_t)scheduler_dequeue(u->scheduler, u->clock->now, grants, space);
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

uint64_t ds_schedule_pending(const void *downstream, enum unit unit) {
	const struct downstream *d = downstream;

	(void)unit;
	return scheduler_queued(d->upper.scheduler);
}

void ds_schedule_stop(void *downstream) {
	struct downstream *d = downstream;
	struct rte_mbuf *m;

	while (scheduler_drain(d->upper.scheduler, (void **)&m, 1) == 1)
		drop(&d->upper.counters, m, DROP_STOPPED);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Take over: dequeues from the ring of the upper MAC. */
#include <rte_ring.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"

/* Dequeues nothing while the crypto provider or the port is behind. Queues then build up in the
 * scheduler, which can select and drop the right packets. */
uint16_t ds_take_over(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;

	if (l->paused || l->crypto->pending + l->waiting_packets > DS_LOWER_LIMIT ||
	    l->waiting_count > DS_LOWER_LIMIT)
		return 0;
	n = (uint16_t)rte_ring_sc_dequeue_burst(l->from_upper, (void **)pkts, PIPELINE_BURST, NULL);
	l->dequeued += n;
	return n;
}

uint64_t ds_take_over_pending(const void *downstream, enum unit unit) {
	const struct downstream *d = downstream;

	(void)unit;
	return rte_ring_count(d->lower.from_upper);
}

void ds_take_over_stop(void *downstream) {
	struct downstream *d = downstream;
	struct rte_mbuf *m;

	while (rte_ring_dequeue(d->lower.from_upper, (void **)&m) == 0)
		drop(&d->lower.counters, m, DROP_STOPPED);
}

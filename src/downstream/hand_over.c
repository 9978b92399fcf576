/* SPDX-License-Identifier: BSD-3-Clause */
/* Hand over: enqueues to the ring to the lower MAC. */
#include <stdio.h>

#include <rte_errno.h>
#include <rte_ring.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "platform/log/log.h"

uint16_t ds_hand_over(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	/* ds_schedule() dequeued no more than is free, and there is no other producer. */
	unsigned enqueued = rte_ring_sp_enqueue_burst(u->to_lower, (void **)pkts, n, NULL);

	RTE_VERIFY(enqueued == n);
	return 0;
}

int ds_hand_over_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	const struct ds_resources *r = resources;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "hand_over_%u", sg->id);
	d->upper.to_lower = rte_ring_create(name, r->hand_over_max, SOCKET_ID_ANY,
					    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	d->lower.from_upper = d->upper.to_lower;
	if (d->upper.to_lower != NULL)
		return 0;
	log_error("memory", LOG_NO_FIELDS, "downstream: no ring: %s", rte_strerror(rte_errno));
	return -1;
}

void ds_hand_over_close(void *downstream) {
	struct downstream *d = downstream;

	rte_ring_free(d->upper.to_lower);
}

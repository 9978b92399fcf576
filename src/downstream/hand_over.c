/* SPDX-License-Identifier: BSD-3-Clause */
/* Hand over, take over: the ring between upper and lower MAC. */
#include <stdio.h>

#include <rte_errno.h>
#include <rte_ring.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"

uint16_t ds_hand_over(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	/* ds_dequeue took no more than there is room for, and nobody else puts in. */
	unsigned taken = rte_ring_sp_enqueue_burst(u->to_lower, (void **)pkts, n, NULL);

	RTE_VERIFY(taken == n);
	return 0;
}

/* Takes nothing while the crypto provider or the port is behind, so that queues build up in the
 * scheduler, where the right packet can be chosen or dropped. */
uint16_t ds_take_over(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;

	if (l->takes_nothing || l->crypto->held + l->waiting_packets > DS_LOWER_LIMIT ||
	    l->waiting_count > DS_LOWER_LIMIT)
		return 0;
	n = (uint16_t)rte_ring_sc_dequeue_burst(l->from_upper, (void **)pkts, PIPELINE_BURST, NULL);
	l->taken_over += n;
	return n;
}

int ds_hand_over_open(struct downstream *d, const struct service_group *sg,
		      const struct ds_resources *r) {
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "hand_over_%u", sg->id);
	d->upper.to_lower = rte_ring_create(name, r->hand_over_max, SOCKET_ID_ANY,
					    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	d->lower.from_upper = d->upper.to_lower;
	if (d->upper.to_lower != NULL)
		return 0;
	fprintf(stderr, "downstream: no ring: %s\n", rte_strerror(rte_errno));
	return -1;
}

void ds_hand_over_close(struct downstream *d) {
	rte_ring_free(d->upper.to_lower);
}

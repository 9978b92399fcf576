/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known flows: finds the record that an earlier packet of the same flow left. Packets that have one
 * pass by the hash tables of modem_lookup and the rules of filter and classify; these three do the
 * rest for all packets alike.
 */
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

uint16_t ds_known_flows(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct flow_cache *c = &u->flow_cache;

	(void)pkts; /* they are the first rows, as parse left them */
	flow_cache_begin(c);
	for (uint16_t i = 0; i < n; i++) {
		if (!ds_keeps_flow(u, &u->rows[i]))
			continue;
		u->rows[i].hash = flow_cache_hash(c, &u->rows[i].key.flow);
		flow_cache_prefetch(c, u->rows[i].hash);
	}
	for (uint16_t i = 0; i < n; i++) {
		struct ds_row *row = &u->rows[i];

		row->known = ds_keeps_flow(u, row) ? flow_cache_find(c, &row->key.flow, row->hash)
						   : NULL;
	}
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/unknown.h"

void unknown_find(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n, struct unknown *unknown) {
	uint16_t count = 0;

	for (uint16_t i = 0; i < n && count < u->unknown_count; i++) {
		unknown->at[count] = i;
		count += packet_meta(pkts[i])->record != PACKET_NO_RECORD;
	}
	for (uint16_t i = 0; i < count; i++)
		unknown->records[i] = ds_record_of(u, pkts[unknown->at[i]]);
	unknown->count = u->unknown_count = count;
	unknown->gaps = 0;
}

void unknown_drop(struct ds_upper *u, struct rte_mbuf **pkts, struct unknown *unknown, uint16_t i,
		  enum drop_reason reason) {
	drop(&u->counters, pkts[unknown->at[i]], reason);
	pkts[unknown->at[i]] = NULL;
	unknown->gaps++;
}

uint16_t unknown_compact(const struct unknown *unknown, struct rte_mbuf **pkts, uint16_t n) {
	uint16_t kept = 0;

	if (unknown->gaps == 0)
		return n;
	for (uint16_t i = 0; i < n; i++) {
		if (pkts[i] != NULL)
			pkts[kept++] = pkts[i];
	}
	return kept;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/unknown.h"

void unknown_drop(struct ds_upper *u, struct rte_mbuf **pkts, const struct ds_row *row,
		  enum drop_reason reason) {
	drop(&u->counters, pkts[row->at], reason);
	pkts[row->at] = NULL;
	u->gaps++;
}

static uint16_t rows_close(struct ds_upper *u, struct rte_mbuf *const *pkts) {
	uint16_t kept = 0;

	for (uint16_t i = 0; i < u->unknown_count; i++) {
		if (pkts[u->unknown[i]->at] != NULL)
			u->unknown[kept++] = u->unknown[i];
	}
	return kept;
}

uint16_t unknown_close(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n) {
	uint16_t kept = 0, row = 0;

	if (u->gaps == 0)
		return n;
	u->gaps = 0;
	u->unknown_count = rows_close(u, pkts);
	for (uint16_t i = 0; i < n; i++) {
		if (pkts[i] == NULL)
			continue;
		if (row < u->unknown_count && u->unknown[row]->at == i)
			u->unknown[row++]->at = kept;
		pkts[kept++] = pkts[i];
	}
	return kept;
}

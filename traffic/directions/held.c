/* SPDX-License-Identifier: BSD-3-Clause */
#include "directions/held.h"

#include <stddef.h>

bool held_put(struct held *h, struct rte_mbuf *frame, uint64_t since) {
	uint32_t at = (h->first + h->count) % HELD_MOST;

	if (h->count == HELD_MOST)
		return false;
	h->frames[at] = frame;
	h->since[at] = since;
	h->count++;
	return true;
}

struct rte_mbuf *held_get(struct held *h, uint64_t before, uint64_t *since) {
	struct rte_mbuf *frame = h->frames[h->first];

	if (h->count == 0 || h->since[h->first] >= before)
		return NULL;
	*since = h->since[h->first];
	h->first = (h->first + 1) % HELD_MOST;
	h->count--;
	return frame;
}

void held_free(struct held *h) {
	struct rte_mbuf *frame;
	uint64_t since;

	while ((frame = held_get(h, UINT64_MAX, &since)) != NULL)
		rte_pktmbuf_free(frame);
}

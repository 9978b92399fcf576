/* SPDX-License-Identifier: BSD-3-Clause */
#include "directions/unresolved.h"

#include <stddef.h>

bool unresolved_put(struct unresolved *h, struct rte_mbuf *frame, uint64_t since) {
	uint32_t at = (h->first + h->count) % UNRESOLVED_MAX;

	if (h->count == UNRESOLVED_MAX)
		return false;
	h->frames[at] = frame;
	h->since[at] = since;
	h->count++;
	return true;
}

struct rte_mbuf *unresolved_get(struct unresolved *h, uint64_t before, uint64_t *since) {
	struct rte_mbuf *frame = h->frames[h->first];

	if (h->count == 0 || h->since[h->first] >= before)
		return NULL;
	*since = h->since[h->first];
	h->first = (h->first + 1) % UNRESOLVED_MAX;
	h->count--;
	return frame;
}

void unresolved_free(struct unresolved *h) {
	struct rte_mbuf *frame;
	uint64_t since;

	while ((frame = unresolved_get(h, UINT64_MAX, &since)) != NULL)
		rte_pktmbuf_free(frame);
}

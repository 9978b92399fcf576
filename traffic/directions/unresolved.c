/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of frames whose verdict waits for changes that the server has not reported yet. */
#include "directions/unresolved.h"

#include <stddef.h>
#include <stdlib.h>

bool unresolved_create(struct unresolved *h, uint32_t streams) {
	*h = (struct unresolved){.streams = calloc(streams + 1, sizeof(*h->streams))};
	return h->streams != NULL;
}

bool unresolved_put(struct unresolved *h, struct rte_mbuf *frame, uint64_t since, uint32_t stream) {
	uint32_t at = (h->first + h->count) % UNRESOLVED_MAX;

	if (h->count == UNRESOLVED_MAX)
		return false;
	h->frames[at] = frame;
	h->since[at] = since;
	h->stream[at] = stream;
	h->count++;
	if (stream != UNRESOLVED_NO_STREAM)
		h->streams[stream] =
			(struct unresolved_stream){h->streams[stream].count + 1, h->pass};
	return true;
}

struct rte_mbuf *unresolved_get(struct unresolved *h, uint64_t before, uint64_t *since) {
	struct rte_mbuf *frame = h->frames[h->first];
	uint32_t stream = h->stream[h->first];

	if (h->count == 0 || h->since[h->first] >= before)
		return NULL;
	*since = h->since[h->first];
	h->first = (h->first + 1) % UNRESOLVED_MAX;
	h->count--;
	if (stream != UNRESOLVED_NO_STREAM)
		h->streams[stream].count--;
	return frame;
}

void unresolved_pass(struct unresolved *h) {
	h->pass++;
}

/* A pass gets frames in order of arrival: only frames that it has put again came earlier. */
bool unresolved_precedes(const struct unresolved *h, uint32_t stream, bool again) {
	const struct unresolved_stream *s;

	if (h->count == 0)
		return false; /* nearly always; the stream's counter is rarely in a cache */
	s = &h->streams[stream];
	return s->count > 0 && (!again || s->pass == h->pass);
}

void unresolved_free(struct unresolved *h) {
	struct rte_mbuf *frame;
	uint64_t since;

	while ((frame = unresolved_get(h, UINT64_MAX, &since)) != NULL)
		rte_pktmbuf_free(frame);
	free(h->streams);
	h->streams = NULL;
}

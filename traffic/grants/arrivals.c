/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of the times at which packets arrived in the queues of scheduled modems. */
#include "grants/arrivals.h"

#include <stdlib.h>

#include <rte_common.h>

#define CAPACITY_ALL (4u << 20) /* packets over all streams: 32 MB */
#define CAPACITY_MIN 256
#define CAPACITY_MAX 65536

bool arrivals_create(struct arrivals *a, struct uplink_flows *f) {
	uint32_t share = CAPACITY_ALL / RTE_MAX(f->stream_count, 1u);

	*a = (struct arrivals){
		.capacity = rte_align32prevpow2(
			RTE_MIN(RTE_MAX(share, (uint32_t)CAPACITY_MIN), (uint32_t)CAPACITY_MAX)),
	};
	a->times = malloc((size_t)a->capacity * f->stream_count * sizeof(*a->times));
	if (a->times == NULL)
		return false;
	for (uint32_t s = 0; s < f->stream_count; s++) {
		f->streams[s].scheduled = true;
		f->streams[s].arrivals = a->times + (size_t)s * a->capacity;
		f->streams[s].arrivals_mask = a->capacity - 1;
	}
	return true;
}

void arrivals_free(struct arrivals *a) {
	free(a->times);
	*a = (struct arrivals){0};
}

bool arrivals_put(struct arrivals *a, struct uplink_stream *s, uint64_t now) {
	if (s->arrived - s->made == a->capacity) {
		a->refused++;
		return false;
	}
	s->arrivals[s->arrived++ & s->arrivals_mask] = now;
	return true;
}

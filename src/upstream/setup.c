/* SPDX-License-Identifier: BSD-3-Clause */
/* From the configuration of a service group to its upstream. */
#include <stdio.h>

#include <rte_malloc.h>

#include "upstream/upstream.h"

#define MAX_SLOTS 8192 /* windows in which something waits, at a time */

static int slots_create(struct upstream *u) {
	uint32_t wanted = u->tables.stream_count + u->tables.session_count * US_PSP_FLOWS;
	uint32_t count = RTE_MIN(wanted, (uint32_t)MAX_SLOTS);

	u->all_slots = rte_zmalloc("order", count * sizeof(*u->all_slots), RTE_CACHE_LINE_SIZE);
	if (u->all_slots == NULL) {
		fprintf(stderr, "upstream: no memory for %u windows\n", count);
		return -1;
	}
	for (uint32_t i = 0; i < count; i++)
		u->all_slots[i].next_free = i + 1 < count ? &u->all_slots[i + 1] : NULL;
	u->free_slots = u->all_slots;
	return 0;
}

static int holds_create(struct upstream *u, const struct service_group *sg) {
	/* What a segment waits for may itself wait for the order of its PSP packet. */
	u->holds.timeouts[HOLD_CLASS_PACKETS] = sg->upstream.reorder_timeout_ns;
	u->holds.timeouts[HOLD_CLASS_SEGMENTS] = 2 * sg->upstream.reorder_timeout_ns;
	u->holds.timeouts[HOLD_CLASS_PARTS] = sg->upstream.frame_timeout_ns;
	/* An incomplete frame between two grants is nothing unusual: every stream may have one. */
	u->holds.limit = sg->upstream.held + (uint64_t)u->tables.stream_count * US_FRAME_BUFFER;
	u->holds.modem_limit = sg->upstream.held_by_modem;
	return holds_init(&u->holds, (uint32_t)sg->modem_count);
}

struct upstream *upstream_create(const struct service_group *sg, const struct us_resources *r) {
	struct upstream *u = rte_zmalloc("upstream", sizeof(*u), RTE_CACHE_LINE_SIZE);

	if (u == NULL) {
		fprintf(stderr, "upstream: no memory\n");
		return NULL;
	}
	u->sg = sg;
	u->r = *r;
	u->max_pdu = sg->max_frame;
	if (us_tables_create(&u->tables, sg, r->sessions) != 0 ||
	    us_requests_create(&u->requests, sg->id, (uint32_t)sg->modem_count) != 0 ||
	    slots_create(u) != 0 || holds_create(u, sg) != 0) {
		upstream_free(u);
		return NULL;
	}
	for (unsigned i = 0; i < US_PIPELINES; i++)
		pipeline_init(upstream_pipeline(u, i), &us_lists[i], u);
	return u;
}

void upstream_free(struct upstream *u) {
	if (u == NULL)
		return;
	upstream_stop(u);
	latency_free(&u->latency);
	holds_free(&u->holds);
	rte_free(u->all_slots);
	us_requests_free(&u->requests);
	us_tables_free(&u->tables);
	rte_free(u);
}

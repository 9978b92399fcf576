/* SPDX-License-Identifier: BSD-3-Clause */
/* Known flows: applies cached results of an earlier packet of the flow. Such packets are done here
 * and release their records. For the others, modem_lookup, filter and classify do the work. */
#include <string.h>

#include "downstream/classified.h"
#include "downstream/cpe.h"
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "platform/log/log.h"

#define FLOWS_PER_MODEM ((size_t)128)
#define FLOWS_MIN ((size_t)4096)
#define FLOWS_LARGE ((size_t)32768) /* above it, half as many per modem */

/* Applies a record as modem_lookup, filter and classify would, which do the counting. Denied
 * flows are not cached. */
static void apply_known(struct rte_mbuf *m, const struct flow_record *r, struct ds_known *known) {
	struct packet_meta *meta = packet_meta(m);

	meta->modem = r->modem;
	meta->flow = r->flow;
	meta->record = PACKET_NO_RECORD;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), r->mac, sizeof(r->mac));
	known->packets++;
	known->permitted += r->filter != 0;
	known->classified[r->classified]++;
}

/* The records of the burst, and the packets that have no valid entry in their first slot. */
struct burst {
	struct ds_record *records[PIPELINE_BURST];
	uint16_t rest[PIPELINE_BURST];
	uint16_t rest_count;
};

static void hash_flows(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n,
		       struct burst *burst) {
	struct flow_cache *c = &u->flow_cache;

	for (uint16_t i = 0; i < n; i++) {
		struct ds_record *record = burst->records[i] = ds_record_of(u, pkts[i]);

		if (!ds_keeps_flow(u, record))
			continue;
		record->hash = flow_cache_hash(&record->key.flow);
		flow_cache_prefetch(c, record->hash, false);
	}
}

/* An address that was admitted in this period is admitted to its end. In a new period, packets
 * must be admitted in order, known or not, so the entry does not count. */
static const struct flow_record *find_record(const struct ds_upper *u,
					     const struct ds_record *record, bool second,
					     uint64_t period) {
	const struct flow_record *r;

	if (!ds_keeps_flow(u, record))
		return NULL;
	r = flow_cache_find(&u->flow_cache, &record->key.flow, record->hash, second);
	return r != NULL && r->cpe_period == (uint32_t)period ? r : NULL;
}

/* Few packets remain, so second slots are prefetched for them only. */
static void search_first_slots(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n,
			       uint64_t period, struct burst *burst, struct ds_known *known) {
	uint16_t count = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct ds_record *record = burst->records[i];
		const struct flow_record *r = find_record(u, record, false, period);

		if (r != NULL) {
			apply_known(pkts[i], r, known);
			continue;
		}
		if (ds_keeps_flow(u, record))
			flow_cache_prefetch(&u->flow_cache, record->hash, true);
		burst->rest[count++] = i;
	}
	burst->rest_count = count;
}

uint16_t ds_known_flows(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint64_t period = cpe_period(u);
	struct burst burst;

	u->known = (struct ds_known){0};
	hash_flows(u, pkts, n, &burst);
	search_first_slots(u, pkts, n, period, &burst, &u->known);
	u->unknown_count = 0;
	for (uint16_t i = 0; i < burst.rest_count; i++) {
		uint16_t at = burst.rest[i];
		const struct flow_record *r = find_record(u, burst.records[at], true, period);

		if (r != NULL)
			apply_known(pkts[at], r, &u->known);
		else
			u->unknown_count++;
	}
	return n;
}

/* By default at most FLOWS_PER_MODEM per modem, as the cache rounds up to a power of two. The more
 * modems share a group's rate, the fewer flows of each are active. */
static uint32_t flow_records(const struct service_group *sg, size_t modems) {
	size_t records = RTE_MAX(modems * FLOWS_PER_MODEM, FLOWS_MIN);

	if (records > FLOWS_LARGE)
		records = RTE_MAX(records / 2, FLOWS_LARGE);
	if (sg->has_flow_cache)
		records = sg->flow_cache;
	else
		records = rte_align32prevpow2((uint32_t)records);
	return (uint32_t)RTE_MIN(records, (size_t)SG_MAX_FLOW_CACHE);
}

uint32_t ds_flow_records(const struct service_group *sg) {
	return flow_records(sg, sg->modem_count);
}

int ds_known_flows_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	const struct ds_resources *r = resources;
	size_t modems = r->capacity != NULL ? RTE_MAX(r->capacity->modems, sg->modem_count)
					    : sg->modem_count;
	uint32_t records = flow_records(sg, modems);

	if (flow_cache_create(&d->upper.flow_cache, records) == 0)
		return 0;
	log_error("memory", LOG_NO_FIELDS, "downstream: no memory for a cache of %u flows",
		  records);
	return -1;
}

void ds_known_flows_close(void *downstream) {
	struct downstream *d = downstream;

	flow_cache_free(&d->upper.flow_cache);
}

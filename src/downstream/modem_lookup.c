/* SPDX-License-Identifier: BSD-3-Clause */
/* Modem lookup: finds the modems of the destinations in bulk, enforces the CPE limits and sets the
 * frame's destination MAC address. */
#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "downstream/cpe.h"
#include "downstream/downstream.h"
#include "downstream/slots.h"
#include "downstream/stages.h"
#include "downstream/unknown.h"
#include "pipeline/packet.h"

/* The keys of one hash table in a burst. */
struct lookup {
	const void *keys[PIPELINE_BURST];
	struct ds_record *records[PIPELINE_BURST];
	void *slots[PIPELINE_BURST];
	uint64_t hits;
	uint32_t n;
};

static void lookup_modems(const struct ds_tables *t, struct lookup *lookups, enum ds_lookup which) {
	const struct rte_hash *const tables[DS_LOOKUPS] = {t->ipv4, t->ipv6, t->mac};
	struct lookup *l = &lookups[which];

	if (l->n == 0)
		return;
	rte_hash_lookup_bulk_data(tables[which], l->keys, l->n, &l->hits, l->slots);
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t entry = (uint64_t)(uintptr_t)l->slots[i];
		struct ds_record *record = l->records[i];

		if (!(l->hits >> i & 1))
			continue;
		record->modem = &t->modems[ds_entry_modem(entry)];
		record->address = (uint8_t)ds_entry_address(entry);
		rte_prefetch0(record->modem);
	}
}

static void find_modems(struct ds_upper *u, const struct unknown *unknown) {
	struct lookup lookups[DS_LOOKUPS];

	for (unsigned i = 0; i < DS_LOOKUPS; i++)
		lookups[i].n = 0;
	for (uint16_t i = 0; i < unknown->count; i++) {
		struct ds_record *record = unknown->records[i];
		struct lookup *l = &lookups[record->lookup];

		record->modem = NULL;
		l->keys[l->n] = record->destination;
		l->records[l->n++] = record;
	}
	for (unsigned i = 0; i < DS_LOOKUPS; i++)
		lookup_modems(u->tables, lookups, (enum ds_lookup)i);
}

static enum drop_reason admit_address(const struct ds_record *record, uint64_t period) {
	if (record->modem == NULL)
		return DROP_UNKNOWN_DESTINATION;
	if (record->lookup != DS_LOOKUP_MAC &&
	    !cpe_admit(record->modem, record->address, record->lookup == DS_LOOKUP_IPV6,
		       (uint32_t)period))
		return DROP_CPE_LIMIT;
	return DROP_NONE;
}

uint16_t ds_modem_lookup(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint64_t period = cpe_period(u), matched = u->known.packets;
	struct unknown unknown;

	unknown_find(u, pkts, n, &unknown);
	if (unknown.count > 0)
		find_modems(u, &unknown);
	for (uint16_t i = 0; i < unknown.count; i++) {
		const struct ds_record *record = unknown.records[i];
		struct rte_mbuf *m = pkts[unknown.at[i]];
		enum drop_reason reason = admit_address(record, period);

		matched += record->modem != NULL;
		if (record->modem != NULL) /* for captures of dropped packets, too */
			packet_meta(m)->modem = (uint32_t)(record->modem - u->tables->modems);
		if (reason != DROP_NONE) {
			unknown_drop(u, pkts, &unknown, i, reason);
			continue;
		}
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), record->modem->mac, 6);
	}
	poll_stats_count_lookup(&u->effort, unknown.count);
	count(&u->counters, COUNTER_LOOKUP_MATCHED, matched);
	return unknown_compact(&unknown, pkts, n);
}

int ds_modem_lookup_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	const struct ds_resources *r = resources;
	return ds_tables_create(&d->tables, sg, r->capacity, r->schedules) == 0
		       ? ds_slots_create(d, sg)
		       : -1;
}

void ds_modem_lookup_close(void *downstream) {
	struct downstream *d = downstream;

	ds_slots_free(&d->slots);
	ds_tables_free(&d->tables);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modem lookup: finds the modems of destinations that are not known from the flow's packet before, in
 * bulk, keeps each modem within its CPE limit and addresses the frame to it.
 */
#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

/* The keys of one hash table in a burst. */
struct lookup {
	const void *keys[PIPELINE_BURST];
	struct ds_row *rows[PIPELINE_BURST];
	void *places[PIPELINE_BURST];
	uint64_t hits;
	uint32_t n;
};

static void lookup_run(const struct ds_tables *t, struct lookup *lookups, enum ds_lookup which) {
	const struct rte_hash *const tables[DS_LOOKUPS] = {t->ipv4, t->ipv6, t->mac};
	struct lookup *l = &lookups[which];

	if (l->n == 0)
		return;
	rte_hash_lookup_bulk_data(tables[which], l->keys, l->n, &l->hits, l->places);
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t place = (uint64_t)(uintptr_t)l->places[i];
		struct ds_row *row = l->rows[i];

		if (!(l->hits >> i & 1))
			continue;
		row->modem = &t->modems[ds_place_modem(place)];
		row->address = (uint8_t)ds_place_address(place);
		rte_prefetch0(row->modem);
	}
}

/* The modems of the packets whose flows are not known. */
static void find_modems(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n) {
	struct lookup lookups[DS_LOOKUPS];

	for (unsigned i = 0; i < DS_LOOKUPS; i++)
		lookups[i].n = 0;
	for (uint16_t i = 0; i < n; i++) {
		struct ds_row *row = &u->rows[packet_meta(pkts[i])->row];
		struct lookup *l = &lookups[row->lookup];

		if (row->known != NULL)
			continue;
		row->modem = NULL;
		l->keys[l->n] = row->destination;
		l->rows[l->n++] = row;
	}
	for (unsigned i = 0; i < DS_LOOKUPS; i++)
		lookup_run(u->tables, lookups, (enum ds_lookup)i);
}

/*
 * MULPI, subscriber management: a modem forwards for at most cpe_limit addresses at a time. An
 * address counts as active in the period in which it was seen and in the next one.
 */
static bool cpe_admit(struct ds_modem *modem, uint8_t address, uint64_t period) {
	uint64_t active, bit = 1ULL << address;

	if (modem->cpe_period != period) {
		modem->cpe_before = modem->cpe_period + 1 == period ? modem->cpe_recent : 0;
		modem->cpe_recent = 0;
		modem->cpe_period = period;
	}
	active = modem->cpe_recent | modem->cpe_before;
	if (!(active & bit) && (uint32_t)__builtin_popcountll(active) >= modem->cpe_limit)
		return false;
	modem->cpe_recent |= bit;
	return true;
}

/* The number of the period in which the clock stands; a division only when one has passed. */
static uint64_t cpe_period(struct ds_upper *u) {
	if (u->clock->now >= u->cpe_period_end) {
		u->cpe_period = u->clock->now / u->cpe_period_ns;
		u->cpe_period_end = (u->cpe_period + 1) * u->cpe_period_ns;
	}
	return u->cpe_period;
}

/* An address that was admitted in this period is so to its end: the modem need not be asked. */
static enum drop_reason admit_known(struct ds_upper *u, struct flow_record *known,
				    uint64_t period) {
	if (known->cpe_period == (uint32_t)period)
		return DROP_NONE;
	if (!cpe_admit(&u->tables->modems[known->modem], known->address, period))
		return DROP_CPE_LIMIT;
	known->cpe_period = (uint32_t)period;
	return DROP_NONE;
}

static enum drop_reason admit(const struct ds_row *row, uint64_t period) {
	if (row->modem == NULL)
		return DROP_UNKNOWN_DESTINATION;
	if (row->lookup != DS_LOOKUP_MAC && !cpe_admit(row->modem, row->address, period))
		return DROP_CPE_LIMIT;
	return DROP_NONE;
}

/* Of one packet. */
static enum drop_reason address_to_modem(struct ds_upper *u, struct rte_mbuf *m, uint64_t period) {
	struct packet_meta *meta = packet_meta(m);
	const struct ds_row *row = &u->rows[meta->row];
	enum drop_reason reason;

	if (likely(row->known != NULL)) {
		reason = admit_known(u, row->known, period);
		meta->modem = row->known->modem;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), row->known->mac, 6);
		return reason;
	}
	reason = admit(row, period);
	if (reason == DROP_NONE) {
		meta->modem = (uint32_t)(row->modem - u->tables->modems);
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), row->modem->mac, 6);
	}
	return reason;
}

uint16_t ds_modem_lookup(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint64_t period = cpe_period(u), matched = n;
	uint16_t kept = 0;

	find_modems(u, pkts, n);
	for (uint16_t i = 0; i < n; i++) {
		enum drop_reason reason = address_to_modem(u, pkts[i], period);

		if (reason == DROP_NONE) {
			pkts[kept++] = pkts[i];
			continue;
		}
		matched -= reason == DROP_UNKNOWN_DESTINATION;
		drop(&u->counters, pkts[i], reason);
	}
	count(&u->counters, COUNTER_LOOKUP_MATCHED, matched);
	return kept;
}

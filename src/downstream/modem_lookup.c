/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modem lookup: parses each frame, finds the modem of its destination in bulk, keeps the modem
 * within its CPE limit and addresses the frame to it. Leaves the fields that filter and classify
 * match in the table of the burst.
 */
#include <string.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/ip.h"

/* The keys of one hash table in a burst. */
struct lookup {
	const void *keys[PIPELINE_BURST];
	uint16_t packets[PIPELINE_BURST]; /* index in the burst */
	void *places[PIPELINE_BURST];
	uint64_t hits;
	uint32_t n;
};

enum { LOOKUP_IPV4, LOOKUP_IPV6, LOOKUP_MAC, LOOKUPS };

struct burst {
	struct lookup lookups[LOOKUPS];
	struct ds_modem *modems[PIPELINE_BURST]; /* NULL: the packet ends here */
	uint64_t address_bits[PIPELINE_BURST];
};

static const enum drop_reason reasons[] = {
	[FRAME_RUNT] = DROP_RUNT,
	[FRAME_VLAN] = DROP_VLAN,
	[FRAME_IPV4_HEADER] = DROP_IPV4_HEADER,
	[FRAME_IPV4_LENGTH] = DROP_IPV4_LENGTH,
	[FRAME_IPV6_HEADER] = DROP_IPV6_HEADER,
	[FRAME_IPV6_LENGTH] = DROP_IPV6_LENGTH,
	[FRAME_ARP_MALFORMED] = DROP_ARP_MALFORMED,
};

static bool checksum_good(const struct rte_mbuf *m, const uint8_t *ip) {
	uint64_t seen = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;

	/* NONE: the port has verified it and then left the field to be filled in. */
	if (seen == RTE_MBUF_F_RX_IP_CKSUM_GOOD || seen == RTE_MBUF_F_RX_IP_CKSUM_NONE)
		return true;
	return seen != RTE_MBUF_F_RX_IP_CKSUM_BAD && ipv4_checksum_good(ip);
}

static bool is_multicast(const uint8_t *frame, const struct frame_fields *f) {
	if (f->family == 4) /* 224.0.0.0/4 and 255.255.255.255 */
		return f->destination[0] >> 4 == 14 ||
		       memcmp(f->destination, "\xff\xff\xff\xff", 4) == 0;
	if (f->family == 6)
		return f->destination[0] == 0xff;
	return frame[0] & 1;
}

static void key_fill(struct rule_key *key, const struct frame_fields *f) {
	key->protocol = f->protocol;
	if (f->kind == FRAME_IPV4) {
		memcpy(&key->ipv4.source, f->source, 4);
		memcpy(&key->ipv4.destination, f->destination, 4);
		key->ipv4.source_port = rte_cpu_to_be_16(f->source_port);
		key->ipv4.destination_port = rte_cpu_to_be_16(f->destination_port);
	} else if (f->kind == FRAME_IPV6) {
		memcpy(key->ipv6.source, f->source, 16);
		memcpy(key->ipv6.destination, f->destination, 16);
		key->ipv6.source_port = rte_cpu_to_be_16(f->source_port);
		key->ipv6.destination_port = rte_cpu_to_be_16(f->destination_port);
	} else {
		key->llc.ethertype = rte_cpu_to_be_32(f->ethertype);
	}
	rule_key_set(key, 0, f->tos);
}

static const enum rule_family families[] = {
	[FRAME_IPV4] = RULE_IPV4,
	[FRAME_IPV6] = RULE_IPV6,
	[FRAME_ARP] = RULE_LLC,
	[FRAME_OTHER] = RULE_LLC,
};

static const enum counter kind_counters[] = {
	[FRAME_IPV4] = COUNTER_IPV4,
	[FRAME_IPV6] = COUNTER_IPV6,
	[FRAME_ARP] = COUNTER_LLC,
	[FRAME_OTHER] = COUNTER_LLC,
};

/* Reads one frame into row `row`. Returns the reason to drop it, or DROP_NONE. */
static enum drop_reason parse(struct ds_upper *u, struct rte_mbuf *m, uint16_t row,
			      struct frame_fields *f, uint32_t *kinds) {
	const uint8_t *frame;
	enum frame_verdict verdict;

	if (rte_pktmbuf_pkt_len(m) < ETHERNET_HEADER)
		return DROP_RUNT;
	if (rte_pktmbuf_pkt_len(m) > u->max_frame)
		return DROP_FRAME_TOO_LONG;
	if (rte_pktmbuf_linearize(m) != 0)
		return DROP_NO_ROOM;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	verdict = frame_parse(frame, rte_pktmbuf_data_len(m), f);
	if (verdict != FRAME_GOOD)
		return reasons[verdict];
	kinds[f->kind]++;
	if (f->kind == FRAME_IPV4 && !checksum_good(m, frame + ETHERNET_HEADER))
		return DROP_IPV4_CHECKSUM;
	if (is_multicast(frame, f))
		return DROP_MULTICAST;
	u->families[row] = families[f->kind];
	key_fill(&u->keys[row], f);
	return DROP_NONE;
}

static void lookup_add(struct burst *b, struct rte_mbuf *m, uint16_t row,
		       const struct frame_fields *f) {
	struct lookup *l = &b->lookups[f->family == 4	? LOOKUP_IPV4
				       : f->family == 6 ? LOOKUP_IPV6
							: LOOKUP_MAC];

	l->keys[l->n] =
		f->family ? (const void *)f->destination : rte_pktmbuf_mtod(m, const void *);
	l->packets[l->n++] = row;
}

/* Parses the burst; what stays is gathered at the front and sorted into the lookups. */
static uint16_t parse_burst(struct ds_upper *u, struct burst *b, struct rte_mbuf **pkts,
			    uint16_t n) {
	uint32_t kinds[RTE_DIM(kind_counters)] = {0};
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct frame_fields f;
		enum drop_reason reason = parse(u, pkts[i], kept, &f, kinds);

		if (reason != DROP_NONE) {
			drop(&u->counters, pkts[i], reason);
			continue;
		}
		lookup_add(b, pkts[i], kept, &f);
		pkts[kept++] = pkts[i];
	}
	for (unsigned k = 0; k < RTE_DIM(kind_counters); k++)
		count(&u->counters, kind_counters[k], kinds[k]);
	return kept;
}

static void lookup_run(struct ds_tables *t, struct burst *b, unsigned which, bool cpe) {
	const struct rte_hash *const tables[LOOKUPS] = {t->ipv4, t->ipv6, t->mac};
	struct lookup *l = &b->lookups[which];

	if (l->n == 0)
		return;
	rte_hash_lookup_bulk_data(tables[which], l->keys, l->n, &l->hits, l->places);
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t place = (uint64_t)(uintptr_t)l->places[i];
		uint16_t packet = l->packets[i];

		if (!(l->hits >> i & 1))
			continue;
		b->modems[packet] = &t->modems[ds_place_modem(place)];
		b->address_bits[packet] = cpe ? 1ULL << ds_place_address(place) : 0;
		rte_prefetch0(b->modems[packet]);
	}
}

/*
 * MULPI, subscriber management: a modem forwards for at most cpe_limit addresses at a time. An
 * address counts as active in the period in which it was seen and in the next one.
 */
static bool cpe_admit(struct ds_modem *modem, uint64_t bit, uint64_t period) {
	uint64_t active;

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

static enum drop_reason admit(const struct burst *b, uint16_t i, uint64_t period) {
	if (b->modems[i] == NULL)
		return DROP_UNKNOWN_DESTINATION;
	if (b->address_bits[i] && !cpe_admit(b->modems[i], b->address_bits[i], period))
		return DROP_CPE_LIMIT;
	return DROP_NONE;
}

uint16_t ds_modem_lookup(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint64_t period = cpe_period(u), matched = 0;
	struct burst b;
	uint16_t kept = 0;

	for (unsigned i = 0; i < LOOKUPS; i++)
		b.lookups[i].n = 0;
	n = parse_burst(u, &b, pkts, n);
	memset(b.modems, 0, n * sizeof(b.modems[0]));
	lookup_run(u->tables, &b, LOOKUP_IPV4, true);
	lookup_run(u->tables, &b, LOOKUP_IPV6, true);
	lookup_run(u->tables, &b, LOOKUP_MAC, false);
	for (uint16_t i = 0; i < n; i++) {
		enum drop_reason reason = admit(&b, i, period);
		struct packet_meta *meta;

		matched += b.modems[i] != NULL;
		if (reason != DROP_NONE) {
			drop(&u->counters, pkts[i], reason);
			continue;
		}
		memcpy(rte_pktmbuf_mtod(pkts[i], uint8_t *), b.modems[i]->mac, 6);
		meta = packet_meta(pkts[i]);
		meta->modem = (uint32_t)(b.modems[i] - u->tables->modems);
		meta->slot = i;
		pkts[kept++] = pkts[i];
	}
	count(&u->counters, COUNTER_LOOKUP_MATCHED, matched);
	return kept;
}

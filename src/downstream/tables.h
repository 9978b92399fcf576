/* SPDX-License-Identifier: BSD-3-Clause */
/* What the downstream stages look up: modems by address, and what a packet needs of its modem. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_hash.h>

#include "crypto/crypto.h"
#include "model/live/live_group.h"
#include "wire/docsis_mac.h"

/* The upper MAC's record of a modem: one cache line. */
struct ds_modem {
	uint8_t mac[6];
	uint8_t filter_group_count;
	uint8_t filter_default; /* enum filter_action: of the group */
	uint16_t filter_groups[SG_MAX_MODEM_FILTER_GROUPS]; /* numbers of lists, as the next */
	uint32_t classifier_set;
	const uint32_t *flows; /* numbers of its service flows, the primary one first */
	uint16_t cpe_limit, cpe_limit_ipv6;
	uint32_t cpe_period; /* low bits of its number */
	/* Active addresses, a bit each: those seen in this period and in the one before. */
	uint64_t cpe_recent;
	uint64_t cpe_before;
	uint64_t cpe_ipv6; /* which of these are IPv6 */
} __rte_cache_aligned;

/* The lower MAC's record of a service flow: one cache line. */
#define DS_FLOW_HEADER 24
struct ds_flow {
	uint8_t header[DS_FLOW_HEADER]; /* the DOCSIS header with LEN, sequence and HCS to be set,
					 * at the end of the array */
	struct crypto_key key;
	uint16_t hcs; /* of the header with LEN and sequence 0 */
	uint8_t header_size; /* HCS included */
	bool sequenced;
} __rte_cache_aligned;

struct ds_tables {
	struct group_room room; /* what they are made for */
	struct ds_modem *modems;
	struct ds_flow *flows;
	uint32_t flow_count; /* numbers, of which some may be nobody's */
	uint32_t *flow_numbers; /* SG_MAX_MODEM_FLOWS a modem */
	struct rte_hash *ipv4; /* address -> ds_place */
	struct rte_hash *ipv6;
	struct rte_hash *mac;
};

/* What a hash lookup tells: the modem, and the number of the address among the modem's. */
static inline uint64_t ds_place(uint32_t modem, uint32_t address) {
	return (uint64_t)address << 32 | modem;
}

static inline uint32_t ds_place_modem(uint64_t place) {
	return (uint32_t)place;
}

static inline uint32_t ds_place_address(uint64_t place) {
	return (uint32_t)(place >> 32);
}

/*
 * Builds the tables for `room`, or for no more than the group has where that is NULL or less. Service flows
 * get numbers from 0 on, in the order of the group. `schedules` holds what the crypto provider made
 * of the key of each modem. Returns 0, or -1 after a message.
 */
int ds_tables_create(struct ds_tables *t, const struct service_group *sg,
		     const struct group_room *room, void *const *schedules);

/* Where the modem's flows are noted, SG_MAX_MODEM_FLOWS of them. */
static inline uint32_t *ds_modem_flows(const struct ds_tables *t, uint32_t modem) {
	return &t->flow_numbers[(size_t)modem * SG_MAX_MODEM_FLOWS];
}

/* The table that has addresses of this family. */
static inline struct rte_hash *ds_addresses(const struct ds_tables *t, uint8_t family) {
	return family == 4 ? t->ipv4 : t->ipv6;
}

/* Fills in the whole record of one of the modem's flows. */
void ds_flow_fill(struct ds_flow *d, const struct modem *m, const struct service_flow *f,
		  void *schedule);

/* Sets what the record tells of the MAC header; `h->ds` is DS_EHDR_PRIORITY or DS_EHDR_SEQUENCE. */
void ds_flow_set_header(struct ds_flow *f, const struct docsis_down_header *h);

void ds_tables_free(struct ds_tables *t);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the downstream stages: modems by address, and the data of a modem that packets need. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_hash.h>

#include "crypto/crypto.h"
#include "model/live/live_group.h"
#include "wire/docsis_mac.h"

/* The upper MAC's record of a modem, one cache line. */
struct ds_modem {
	uint8_t mac[6];
	uint8_t filter_group_count;
	uint8_t filter_default; /* enum filter_action, of the group */
	uint16_t filter_groups
		[SG_MAX_MODEM_FILTER_GROUPS]; /* indices of lists, as is classifier_set */
	uint32_t classifier_set;
	const uint32_t *flows; /* indices of its service flows, the primary one first */
	uint16_t cpe_limit, cpe_limit_ipv6;
	uint32_t cpe_period; /* low bits of the period's number */
	/* Active addresses, a bit each: seen in this period, and in the one before. */
	uint64_t cpe_recent;
	uint64_t cpe_before;
	uint64_t cpe_ipv6; /* of these, IPv6 addresses */
} __rte_cache_aligned;

/* Bytes of a ds_flow's header. A ds_flow is the lower MAC's record of a service flow, one cache
 * line. */
#define DS_FLOW_HEADER 24
struct ds_flow {
	/* The DOCSIS header, at the end of the array. LEN, sequence and HCS are set per frame. */
	uint8_t header[DS_FLOW_HEADER];
	struct crypto_key key;
	uint16_t hcs; /* of the header with LEN and sequence 0 */
	uint8_t header_size; /* with the HCS */
	bool sequenced;
	bool overwrites_tos;
	struct tos_masks tos; /* if `overwrites_tos` */
} __rte_cache_aligned;
_Static_assert(sizeof(struct ds_flow) == RTE_CACHE_LINE_SIZE, "one cache line per flow");

struct ds_tables {
	struct group_capacity capacity; /* their capacity */
	struct ds_modem *modems;
	struct ds_flow *flows;
	uint32_t flow_count; /* capacity; some indices may be unused */
	uint32_t *flow_numbers; /* SG_MAX_MODEM_FLOWS per modem */
	struct rte_hash *ipv4; /* address -> ds_entry */
	struct rte_hash *ipv6;
	struct rte_hash *mac;
};

/* The value of a hash entry: the modem, and the index of the address in its list. */
static inline uint64_t ds_entry(uint32_t modem, uint32_t address) {
	return (uint64_t)address << 32 | modem;
}

static inline uint32_t ds_entry_modem(uint64_t entry) {
	return (uint32_t)entry;
}

static inline uint32_t ds_entry_address(uint64_t entry) {
	return (uint32_t)(entry >> 32);
}

/*
 * Builds the tables for `capacity`, at least for what the group has; NULL: for that alone. Service
 * flows get indices from 0, in the order of the group. `schedules` has the crypto provider's key
 * schedule of each modem. Returns 0, or -1 after logging an error.
 */
int ds_tables_create(struct ds_tables *t, const struct service_group *sg,
		     const struct group_capacity *capacity, void *const *schedules);

/* Flow indices of the modem, SG_MAX_MODEM_FLOWS of them. */
static inline uint32_t *ds_modem_flows(const struct ds_tables *t, uint32_t modem) {
	return &t->flow_numbers[(size_t)modem * SG_MAX_MODEM_FLOWS];
}

/* The address table of the family. */
static inline struct rte_hash *ds_addresses(const struct ds_tables *t, uint8_t family) {
	return family == 4 ? t->ipv4 : t->ipv6;
}

/* Fills in the record of one of the modem's flows. */
void ds_flow_fill(struct ds_flow *d, const struct modem *m, const struct service_flow *f,
		  void *schedule);

/* Sets the header fields of the record. `h->ds` is DS_EHDR_PRIORITY or DS_EHDR_SEQUENCE. */
void ds_flow_set_header(struct ds_flow *f, const struct docsis_down_header *h);

void ds_tables_free(struct ds_tables *t);

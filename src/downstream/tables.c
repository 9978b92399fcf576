/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/tables.h"

#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "platform/large_pages.h"
#include "platform/log/log.h"
#include "wire/docsis_mac.h"

/* rte_hash_crc() loads aligned words, but addresses in a frame are not aligned. */
static uint32_t address_hash(const void *key, uint32_t size, uint32_t seed) {
	uint64_t low;
	uint32_t word;
	uint16_t half;

	if (size == 16) {
		memcpy(&low, (const uint8_t *)key + 8, sizeof(low));
		seed = rte_hash_crc_8byte(low, seed);
		memcpy(&low, key, sizeof(low));
		return rte_hash_crc_8byte(low, seed);
	}
	memcpy(&word, key, sizeof(word));
	seed = rte_hash_crc_4byte(word, seed);
	if (size == 6) {
		memcpy(&half, (const uint8_t *)key + 4, sizeof(half));
		seed = rte_hash_crc_2byte(half, seed);
	}
	return seed;
}

/* A table that takes `entries` keys in any case: full buckets are extended. */
static struct rte_hash *address_table_create(const char *what, const struct service_group *sg,
					     uint32_t key_size, size_t entries) {
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters p = {
		.name = name,
		.entries = (uint32_t)RTE_MAX(entries + entries / 4, (size_t)64),
		.key_len = key_size,
		.hash_func = address_hash,
		.socket_id = large_pages_socket(),
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};
	struct rte_hash *hash;

	snprintf(name, sizeof(name), "%s_%u", what, sg->id);
	hash = rte_hash_create(&p);
	if (hash == NULL)
		log_error("memory", LOG_NO_FIELDS,
			  "downstream: no hash table %s of %zu entries: %s", name, entries,
			  rte_strerror(rte_errno));
	return hash;
}

static int address_tables_create(struct ds_tables *t, const struct service_group *sg) {
	t->ipv4 = address_table_create("ds_ipv4", sg, 4, t->capacity.ipv4);
	t->ipv6 = address_table_create("ds_ipv6", sg, 16, t->capacity.ipv6);
	t->mac = address_table_create("ds_mac", sg, 6, t->capacity.modems);
	return t->ipv4 && t->ipv6 && t->mac ? 0 : -1;
}

static int address_table_add(struct rte_hash *hash, const void *key, uint32_t modem,
			     size_t address) {
	/* The table stores a pointer. Ours is a number of the same size. */
	void *entry = (void *)(uintptr_t)ds_entry(modem, (uint32_t)address);

	if (rte_hash_add_key_data(hash, key, entry) == 0)
		return 0;
	log_error("downstream", LOG_NO_FIELDS,
		  "downstream: address %zu of modem %u does not fit the hash table", address,
		  modem);
	return -1;
}

static int ds_modem_fill(struct ds_tables *t, const struct service_group *sg, uint32_t index) {
	const struct modem *m = &sg->modems[index];
	struct ds_modem *d = &t->modems[index];

	memcpy(d->mac, m->mac, sizeof(d->mac));
	d->filter_group_count = (uint8_t)m->filter_group_count;
	d->filter_default = (uint8_t)sg->filter_default;
	d->cpe_limit = (uint16_t)m->cpe_limit;
	d->cpe_limit_ipv6 = (uint16_t)m->cpe_limit_ipv6;
	for (size_t a = 0; a < m->address_count; a++) {
		const struct ip_address *ip = &m->addresses[a];

		if (address_table_add(ds_addresses(t, ip->family), ip->bytes, index, a) != 0)
			return -1;
	}
	return address_table_add(t->mac, m->mac, index, 0);
}

void ds_flow_set_header(struct ds_flow *f, const struct docsis_down_header *h) {
	struct docsis_down_header zero = *h;
	uint8_t text[DOCSIS_DOWN_HEADER_MAX];
	size_t size;

	zero.sequence = 0;
	size = docsis_down_header_write(&zero, 0, text);
	store_be16(text + DOCSIS_LEN_OFFSET, 0);
	memcpy(f->header + DS_FLOW_HEADER - size, text, size);
	f->hcs = docsis_hcs(text, size - DOCSIS_HCS_SIZE);
	f->header_size = (uint8_t)size;
	f->sequenced = h->ds == DS_EHDR_SEQUENCE;
}

/* MULPI: frames of a flow with a DSID have sequence numbers for resequencing; all have a
 * priority. */
void ds_flow_fill(struct ds_flow *d, const struct modem *m, const struct service_flow *f,
		  void *schedule) {
	const struct security_association *sa = &m->security;
	const struct docsis_down_header h = {
		.privacy = true,
		.encrypted = sa->cipher != CIPHER_NONE,
		.key_sequence = association_sequence(sa),
		.said = sa->said,
		.ds = f->has_dsid ? DS_EHDR_SEQUENCE : DS_EHDR_PRIORITY,
		.priority = f->priority,
		.dsid = f->dsid,
	};

	ds_flow_set_header(d, &h);
	d->overwrites_tos = f->overwrites_tos;
	d->tos = f->tos;
	d->key.schedule = schedule;
	d->key.cipher = (uint8_t)sa->cipher;
	d->key.sequence = h.key_sequence;
	memcpy(d->key.iv, association_iv(sa), sizeof(d->key.iv));
}

static void *zalloc_lines(const char *name, size_t count, size_t size) {
	void *p = rte_zmalloc_socket(name, count * size, RTE_CACHE_LINE_SIZE, large_pages_socket());

	if (p == NULL)
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory for %zu %s records",
			  count, name);
	return p;
}

/* The given capacity, but at least what the group has. */
static struct group_capacity capacity_of(const struct service_group *sg,
					 const struct group_capacity *given) {
	struct group_capacity capacity = given == NULL ? (struct group_capacity){0} : *given;
	uint32_t flows = 0, ipv4 = 0, ipv6 = 0;

	for (size_t m = 0; m < sg->modem_count; m++) {
		flows += (uint32_t)sg->modems[m].service_flow_count;
		for (size_t a = 0; a < sg->modems[m].address_count; a++)
			*(sg->modems[m].addresses[a].family == 4 ? &ipv4 : &ipv6) += 1;
	}
	capacity.modems = RTE_MAX(capacity.modems, (uint32_t)sg->modem_count);
	capacity.channels = RTE_MAX(capacity.channels, (uint32_t)sg->channel_count);
	capacity.bonding_groups =
		RTE_MAX(capacity.bonding_groups, (uint32_t)sg->bonding_group_count);
	capacity.filter_groups = RTE_MAX(capacity.filter_groups, (uint32_t)sg->filter_group_count);
	capacity.flows = RTE_MAX(capacity.flows, flows);
	capacity.ipv4 = RTE_MAX(capacity.ipv4, ipv4);
	capacity.ipv6 = RTE_MAX(capacity.ipv6, ipv6);
	return capacity;
}

int ds_tables_create(struct ds_tables *t, const struct service_group *sg,
		     const struct group_capacity *capacity, void *const *schedules) {
	uint32_t flow = 0;

	memset(t, 0, sizeof(*t));
	t->capacity = capacity_of(sg, capacity);
	t->flow_count = t->capacity.flows;
	t->modems = zalloc_lines("modem", t->capacity.modems, sizeof(*t->modems));
	t->flows = zalloc_lines("service flow", t->flow_count, sizeof(*t->flows));
	t->flow_numbers =
		zalloc_lines("flow number", (size_t)t->capacity.modems * SG_MAX_MODEM_FLOWS,
			     sizeof(*t->flow_numbers));
	if (!t->modems || !t->flows || !t->flow_numbers || address_tables_create(t, sg) != 0)
		return -1;
	for (uint32_t m = 0; m < t->capacity.modems; m++)
		t->modems[m].flows = ds_modem_flows(t, m);
	for (uint32_t i = 0; i < sg->modem_count; i++) {
		const struct modem *m = &sg->modems[i];

		if (!modem_exists(m))
			continue;
		if (ds_modem_fill(t, sg, i) != 0)
			return -1;
		for (size_t f = 0; f < m->service_flow_count; f++, flow++) {
			ds_modem_flows(t, i)[f] = flow;
			ds_flow_fill(&t->flows[flow], m, &m->service_flows[f], schedules[i]);
		}
	}
	return 0;
}

void ds_tables_free(struct ds_tables *t) {
	rte_hash_free(t->ipv4);
	rte_hash_free(t->ipv6);
	rte_hash_free(t->mac);
	rte_free(t->modems);
	rte_free(t->flows);
	rte_free(t->flow_numbers);
	memset(t, 0, sizeof(*t));
}

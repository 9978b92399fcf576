/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/state/slots.h"

#include <stdlib.h>
#include <string.h>

int us_free_slots_create(struct us_free_slots *f, uint32_t count) {
	f->slots = calloc((size_t)count + 1, sizeof(*f->slots));
	if (f->slots == NULL)
		return -1;
	for (f->count = 0; f->count < count; f->count++)
		f->slots[f->count] = count - 1 - f->count;
	return 0;
}

uint32_t us_slot_alloc(struct us_free_slots *f) {
	return f->count > 0 ? f->slots[--f->count] : US_NONE;
}

void us_slot_free(struct us_free_slots *f, uint32_t slot) {
	f->slots[f->count++] = slot;
}

/* Counts the addresses of `size` bytes and copies them to `out`, unless that is NULL. */
static uint32_t addresses_of(const struct modem *m, size_t size, void *out) {
	uint32_t count = 0;

	for (size_t a = 0; a < m->address_count; a++) {
		if ((m->addresses[a].family == 4) != (size == 4))
			continue;
		if (out != NULL)
			memcpy((uint8_t *)out + count * size, m->addresses[a].bytes, size);
		count++;
	}
	return count;
}

static uint32_t sids_of(const struct upstream_service_flow *f, uint32_t *out) {
	uint32_t count = 0;

	for (size_t c = 0; c < f->cluster_count; c++) {
		for (size_t s = 0; s < f->clusters[c].sid_count; s++) {
			const struct upstream_sid *k = &f->clusters[c].sids[s];

			if (out != NULL)
				out[count] = us_sid_key(k->channel, k->sid);
			count++;
		}
	}
	return count;
}

/* The same flow before the change; NULL if it is new or its framing changes. */
static const struct us_modem_data_flow *flow_before(const struct us_modem_data *before,
						    const struct upstream_service_flow *f) {
	for (uint32_t i = 0; before != NULL && i < before->flow_count; i++) {
		const struct us_modem_data_flow *b = &before->flows[i];

		if (b->id == f->id && b->segment_header == f->segment_header)
			return b;
	}
	return NULL;
}

static struct us_modem_data *modem_data_alloc(const struct modem *m,
					      const struct us_modem_data *before) {
	size_t flows = m->upstream_flow_count, sids = 0;
	size_t ipv4 = addresses_of(m, 4, NULL) + (before != NULL ? before->ipv4_count : 0u);
	size_t ipv6 = addresses_of(m, 16, NULL) + (before != NULL ? before->ipv6_count : 0u);
	struct us_modem_data *modem_data;

	for (size_t f = 0; f < flows; f++) {
		const struct us_modem_data_flow *b = flow_before(before, &m->upstream_flows[f]);

		sids += sids_of(&m->upstream_flows[f], NULL) + (b != NULL ? b->sid_count : 0u);
	}
	modem_data = calloc(1, sizeof(*modem_data) + flows * sizeof(modem_data->flows[0]) +
				       (ipv4 + sids) * sizeof(uint32_t) +
				       ipv6 * sizeof(modem_data->ipv6[0]));
	if (modem_data == NULL)
		return NULL;
	modem_data->flow_count = (uint32_t)flows;
	modem_data->ipv4 = (uint32_t *)(void *)&modem_data->flows[flows];
	modem_data->sids = modem_data->ipv4 + ipv4;
	modem_data->ipv6 = (uint8_t (*)[16])(void *)(modem_data->sids + sids);
	return modem_data;
}

/* Appends to the `count` entries of `list` those of `before` that it lacks. Returns how many. */
static uint16_t add_former(void *list, uint32_t count, const void *before, uint32_t before_count,
			   size_t size) {
	uint8_t *to = (uint8_t *)list + count * size;
	const uint8_t *from = before;
	uint16_t former = 0;

	for (uint32_t b = 0; b < before_count; b++, from += size) {
		bool present = false;

		for (uint32_t i = 0; i < count && !present; i++)
			present = memcmp((const uint8_t *)list + i * size, from, size) == 0;
		if (!present)
			memcpy(to + former++ * size, from, size);
	}
	return former;
}

static void modem_data_addresses(struct us_modem_data *modem_data, const struct modem *m,
				 const struct us_modem_data *before) {
	modem_data->ipv4_count = (uint16_t)addresses_of(m, 4, modem_data->ipv4);
	modem_data->ipv6_count = (uint16_t)addresses_of(m, 16, modem_data->ipv6);
	if (before == NULL)
		return;
	modem_data->former_ipv4 = add_former(modem_data->ipv4, modem_data->ipv4_count, before->ipv4,
					     before->ipv4_count, sizeof(modem_data->ipv4[0]));
	modem_data->former_ipv6 = add_former(modem_data->ipv6, modem_data->ipv6_count, before->ipv6,
					     before->ipv6_count, sizeof(modem_data->ipv6[0]));
}

struct us_modem_data *us_modem_data_create(const struct modem *m,
					   const struct us_modem_data *before) {
	struct us_modem_data *modem_data = modem_data_alloc(m, before);
	uint32_t used = 0;

	if (modem_data == NULL)
		return NULL;
	modem_data_addresses(modem_data, m, before);
	for (uint32_t f = 0; f < modem_data->flow_count; f++) {
		const struct upstream_service_flow *k = &m->upstream_flows[f];
		const struct us_modem_data_flow *b = flow_before(before, k);
		struct us_modem_data_flow *d = &modem_data->flows[f];

		d->id = k->id;
		d->flow = b != NULL ? b->flow : US_NONE;
		d->segment_header = k->segment_header;
		d->first_sid = used;
		d->sid_count = (uint16_t)sids_of(k, modem_data->sids + used);
		if (b != NULL)
			d->former_sids = add_former(modem_data->sids + used, d->sid_count,
						    before->sids + b->first_sid, b->sid_count,
						    sizeof(modem_data->sids[0]));
		used += d->sid_count + d->former_sids;
	}
	return modem_data;
}

int us_slots_create(struct us_slots *p, uint32_t modems) {
	p->modem_data = calloc((size_t)modems + 1, sizeof(struct us_modem_data *));
	p->reserved = calloc((size_t)modems + 1, sizeof(*p->reserved));
	return p->modem_data != NULL && p->reserved != NULL ? 0 : -1;
}

void us_slots_free(struct us_slots *p, uint32_t modems) {
	for (uint32_t m = 0; p->modem_data != NULL && m < modems; m++)
		free(p->modem_data[m]);
	free(p->modem_data);
	free(p->reserved);
	free(p->flows.slots);
	free(p->streams.slots);
	free(p->sessions.slots);
}

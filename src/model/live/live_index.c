/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/live_index.h"

static bool tables_new(struct live_index *index, struct arena *arena,
		       const struct group_capacity *capacity) {
	uint32_t max = 2 * (capacity->channels + capacity->modems) + capacity->bonding_groups +
		       capacity->filter_groups + 5 * capacity->upstream_channels + capacity->ipv4 +
		       2 * capacity->flows + capacity->upstream_flows + capacity->sids;

	return identity_table_new(&index->narrow, arena, max, 1) &&
	       identity_table_new(&index->wide, arena, capacity->ipv6, 2);
}

/* Allocates counts by slot for one kind of objects. */
static bool counts_new(uint32_t **counts, struct arena *arena, uint32_t slots) {
	*counts = arena_alloc(arena, slots, sizeof(**counts));
	return *counts != NULL;
}

struct live_index *live_index_new(struct arena *arena, const struct group_capacity *capacity) {
	struct live_index *index = arena_alloc(arena, 1, sizeof(*index));

	if (index == NULL)
		return NULL;
	index->reserved = arena_alloc(arena, capacity->bonding_groups, sizeof(index->reserved[0]));
	if (index->reserved == NULL || !tables_new(index, arena, capacity) ||
	    !counts_new(&index->users[LIVE_CHANNEL], arena, capacity->channels) ||
	    !counts_new(&index->users[LIVE_UPSTREAM_CHANNEL], arena, capacity->upstream_channels) ||
	    !counts_new(&index->users[LIVE_BONDING_GROUP], arena, capacity->bonding_groups) ||
	    !counts_new(&index->users[LIVE_FILTER_GROUP], arena, capacity->filter_groups) ||
	    !counts_new(&index->without_dsid, arena, capacity->bonding_groups) ||
	    !counts_new(&index->said_next, arena, capacity->modems) ||
	    !counts_new(&index->said_prev, arena, capacity->modems))
		return NULL;
	return index;
}

static struct identity_table *table_of(const struct live_index *index,
				       const struct identity *identity) {
	const struct identity_table *table = identity->wide ? &index->wide : &index->narrow;

	return (struct identity_table *)(uintptr_t)table;
}

uint32_t live_index_find(const struct live_index *index, const struct identity *identity) {
	const uint32_t *slot = identity_table_find(table_of(index, identity), identity->word);

	return slot != NULL ? *slot : IDENTITY_NONE;
}

struct entry {
	struct live_index *index;
	uint32_t slot;
};

static bool entry_add(void *context, const struct identity *identity) {
	const struct entry *entry = context;

	identity_table_add(table_of(entry->index, identity), identity->word, entry->slot);
	return true;
}

static bool entry_remove(void *context, const struct identity *identity) {
	const struct entry *entry = context;
	struct identity_table *table = table_of(entry->index, identity);

	identity_table_remove(table, identity_table_find(table, identity->word));
	return true;
}

static void said_add(struct live_index *index, uint16_t said, uint32_t slot) {
	const struct identity identity = identity_of_said(said);
	uint32_t *first = identity_table_find(&index->narrow, identity.word);

	index->said_prev[slot] = IDENTITY_NONE;
	index->said_next[slot] = first != NULL ? *first : IDENTITY_NONE;
	if (first == NULL) {
		identity_table_add(&index->narrow, identity.word, slot);
		return;
	}
	index->said_prev[*first] = slot;
	*first = slot;
}

static void said_remove(struct live_index *index, uint16_t said, uint32_t slot) {
	const struct identity identity = identity_of_said(said);
	uint32_t before = index->said_prev[slot], next = index->said_next[slot];
	uint32_t *first = identity_table_find(&index->narrow, identity.word);

	if (next != IDENTITY_NONE)
		index->said_prev[next] = before;
	if (before != IDENTITY_NONE)
		index->said_next[before] = next;
	else if (next != IDENTITY_NONE)
		*first = next;
	else
		identity_table_remove(&index->narrow, first);
}

/* Counts the references of a modem and the rates that it reserves; `sign` is 1 or -1. */
static void refer_modem(struct live_index *index, const struct modem *modem, uint32_t sign) {
	uint32_t *groups = index->users[LIVE_BONDING_GROUP];

	groups[modem->bonding_group] += sign;
	for (size_t f = 0; f < modem->service_flow_count; f++) {
		const struct service_flow *flow = &modem->service_flows[f];

		groups[flow->bonding_group] += sign;
		if (!flow->active)
			continue;
		index->reserved[flow->bonding_group] +=
			(uint64_t)(int32_t)sign * flow->reserved_rate;
		index->without_dsid[flow->bonding_group] += flow->has_dsid ? 0 : sign;
	}
	for (size_t g = 0; g < modem->filter_group_count; g++)
		index->users[LIVE_FILTER_GROUP][modem->filter_groups[g]] += sign;
	for (size_t f = 0; f < modem->upstream_flow_count; f++) {
		const struct upstream_service_flow *flow = &modem->upstream_flows[f];

		for (size_t c = 0; c < flow->cluster_count; c++) {
			for (size_t s = 0; s < flow->clusters[c].sid_count; s++)
				index->users[LIVE_UPSTREAM_CHANNEL]
					    [flow->clusters[c].sids[s].channel] += sign;
		}
	}
}

static void refer_all(struct live_index *index, enum live_object object, const void *item,
		      uint32_t sign) {
	const struct bonding_group *group = item;

	if (object == LIVE_MODEM)
		refer_modem(index, item, sign);
	if (object != LIVE_BONDING_GROUP)
		return;
	for (size_t c = 0; c < group->channel_count; c++)
		index->users[LIVE_CHANNEL][group->channels[c]] += sign;
}

void live_index_add(struct live_index *index, enum live_object object, const void *item,
		    uint32_t slot) {
	struct entry entry = {index, slot};

	identity_each(object, item, entry_add, &entry);
	if (object == LIVE_MODEM)
		said_add(index, ((const struct modem *)item)->security.said, slot);
	refer_all(index, object, item, 1);
	live_index_count(&index->used, object, item, 1);
}

void live_index_remove(struct live_index *index, enum live_object object, const void *item,
		       uint32_t slot) {
	struct entry entry = {index, slot};

	identity_each(object, item, entry_remove, &entry);
	if (object == LIVE_MODEM)
		said_remove(index, ((const struct modem *)item)->security.said, slot);
	refer_all(index, object, item, UINT32_MAX);
	live_index_count(&index->used, object, item, -1);
}

static void count_modem(struct group_capacity *sum, const struct modem *modem, uint32_t sign) {
	sum->modems += sign;
	sum->flows += sign * (uint32_t)modem->service_flow_count;
	sum->upstream_flows += sign * (uint32_t)modem->upstream_flow_count;
	for (size_t a = 0; a < modem->address_count; a++) {
		if (modem->addresses[a].family == 4)
			sum->ipv4 += sign;
		else
			sum->ipv6 += sign;
	}
	for (size_t f = 0; f < modem->upstream_flow_count; f++) {
		const struct upstream_service_flow *flow = &modem->upstream_flows[f];

		sum->streams += sign * (uint32_t)flow->cluster_count;
		for (size_t c = 0; c < flow->cluster_count; c++)
			sum->sids += sign * (uint32_t)flow->clusters[c].sid_count;
	}
}

void live_index_count(struct group_capacity *sum, enum live_object object, const void *item,
		      int sign) {
	const uint32_t step = (uint32_t)sign;

	switch (object) {
	case LIVE_MODEM: count_modem(sum, item, step); break;
	case LIVE_CHANNEL: sum->channels += step; break;
	case LIVE_UPSTREAM_CHANNEL: sum->upstream_channels += step; break;
	case LIVE_BONDING_GROUP: sum->bonding_groups += step; break;
	case LIVE_FILTER_GROUP: sum->filter_groups += step; break;
	default: break;
	}
}

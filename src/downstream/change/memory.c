/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a change. Lists have their maximum size. */
#include <stdlib.h>

#include "downstream/change/internal.h"

/* Maximum sizes. */
struct counts {
	size_t modems, flows_to_be, flows, addresses_to_be, addresses, channels;
	bool filter_groups;
};

static struct counts counts_of(const struct ds_change *c) {
	struct counts n = {0};

	for (size_t i = 0; i < c->changes->count; i++) {
		const struct live_change *l = &c->changes->list[i];
		const struct modem *now;

		n.filter_groups |= l->object == LIVE_FILTER_GROUP;
		n.channels += l->object == LIVE_BONDING_GROUP ? SG_MAX_CHANNELS : 0;
		if (l->object != LIVE_MODEM)
			continue;
		now = ds_present_modem(c, l->slot);
		n.modems++;
		n.flows_to_be += l->next != NULL ? l->modem->service_flow_count : 0;
		n.addresses_to_be += l->next != NULL ? l->modem->address_count + 1 : 0;
		n.flows += now != NULL ? now->service_flow_count : 0;
		n.addresses += now != NULL ? now->address_count + 1 : 0;
	}
	if (n.filter_groups)
		n.modems += c->d->tables.capacity.modems;
	return n;
}

/* For records that start at a cache line. */
static void *alloc_lines(size_t count, size_t size) {
	return aligned_alloc(RTE_CACHE_LINE_SIZE, (count + 1) * size);
}

static void *alloc_list(size_t count, size_t size) {
	return calloc(count + 1, size);
}

#define LIST(l, count) (((l).list = alloc_list((count), sizeof(*(l).list))) != NULL)

static bool allocate_slots(struct ds_change *c) {
	const struct group_capacity *capacity = &c->d->tables.capacity;
	const uint32_t slots[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = capacity->channels,
		[LIVE_BONDING_GROUP] = capacity->bonding_groups,
		[LIVE_FILTER_GROUP] = capacity->filter_groups,
		[LIVE_MODEM] = capacity->modems,
	};

	for (unsigned o = 0; o < LIVE_OBJECTS; o++) {
		c->change_of[o] = alloc_list(slots[o], sizeof(uint32_t));
		if (c->change_of[o] == NULL || !LIST(c->retiring[o], c->changes->count))
			return false;
	}
	return true;
}

bool ds_change_allocate(struct ds_change *c) {
	const size_t all = c->changes->count;
	const struct counts n = counts_of(c);

	c->owned = alloc_list(all, sizeof(*c->owned));
	c->writes.list = alloc_lines(n.flows_to_be, sizeof(*c->writes.list));
	return allocate_slots(c) && c->owned != NULL && c->writes.list != NULL &&
	       LIST(c->modems, n.modems) && LIST(c->numbers, n.flows_to_be) &&
	       LIST(c->allocated, n.flows_to_be) && LIST(c->closing, n.flows) &&
	       LIST(c->closing_groups, n.flows) && LIST(c->closing_channels, n.channels) &&
	       LIST(c->added, n.addresses_to_be) && LIST(c->removed, n.addresses) &&
	       LIST(c->flows, n.flows_to_be) && LIST(c->channels, all) && LIST(c->groups, all) &&
	       LIST(c->lists, all);
}

void ds_change_free(struct ds_change *c) {
	for (unsigned o = 0; o < LIVE_OBJECTS; o++) {
		free(c->change_of[o]);
		free(c->retiring[o].list);
	}
	free(c->owned);
	free(c->modems.list);
	free(c->numbers.list);
	free(c->allocated.list);
	free(c->closing.list);
	free(c->closing_groups.list);
	free(c->closing_channels.list);
	free(c->added.list);
	free(c->removed.list);
	free(c->flows.list);
	free(c->writes.list);
	free(c->channels.list);
	free(c->groups.list);
	free(c->lists.list);
	free(c);
}

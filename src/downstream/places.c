/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/places.h"

#include <stdlib.h>

#include "platform/log/log.h"

static bool places_allocate(struct ds_places *p, const struct group_room *room) {
	const uint32_t counts[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = room->channels,
		[LIVE_BONDING_GROUP] = room->bonding_groups,
		[LIVE_FILTER_GROUP] = room->filter_groups,
		[LIVE_MODEM] = room->modems,
	};

	p->free_flows = malloc((room->flows + (size_t)1) * sizeof(*p->free_flows));
	p->flows_leaving = calloc(room->bonding_groups + (size_t)1, sizeof(*p->flows_leaving));
	p->groups_leaving = calloc(room->channels + (size_t)1, sizeof(*p->groups_leaving));
	for (unsigned o = 0; o < LIVE_OBJECTS; o++) {
		p->leaving[o] = calloc(counts[o] + (size_t)1, sizeof(bool));
		if (p->leaving[o] == NULL)
			return false;
	}
	return p->free_flows != NULL && p->flows_leaving != NULL && p->groups_leaving != NULL;
}

int ds_places_create(struct downstream *d, const struct service_group *sg) {
	struct ds_places *p = &d->places;
	uint32_t used = 0;

	if (!places_allocate(p, &d->tables.room)) {
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory for places");
		return -1;
	}
	for (size_t m = 0; m < sg->modem_count; m++)
		used += (uint32_t)sg->modems[m].service_flow_count;
	for (uint32_t flow = d->tables.room.flows; flow > used; flow--)
		p->free_flows[p->free_flow_count++] = flow - 1;
	return 0;
}

void ds_places_free(struct ds_places *p) {
	free(p->free_flows);
	free(p->flows_leaving);
	free(p->groups_leaving);
	for (unsigned o = 0; o < LIVE_OBJECTS; o++)
		free(p->leaving[o]);
	*p = (struct ds_places){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "downstream/slots.h"

#include <stdlib.h>

#include "platform/log/log.h"

static bool slots_allocate(struct ds_slots *p, const struct group_capacity *capacity) {
	const uint32_t counts[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = capacity->channels,
		[LIVE_BONDING_GROUP] = capacity->bonding_groups,
		[LIVE_FILTER_GROUP] = capacity->filter_groups,
		[LIVE_MODEM] = capacity->modems,
	};

	p->free_flows = malloc((capacity->flows + (size_t)1) * sizeof(*p->free_flows));
	p->flows_leaving = calloc(capacity->bonding_groups + (size_t)1, sizeof(*p->flows_leaving));
	p->groups_leaving = calloc(capacity->channels + (size_t)1, sizeof(*p->groups_leaving));
	for (unsigned o = 0; o < LIVE_OBJECTS; o++) {
		p->retiring[o] = calloc(counts[o] + (size_t)1, sizeof(bool));
		if (p->retiring[o] == NULL)
			return false;
	}
	return p->free_flows != NULL && p->flows_leaving != NULL && p->groups_leaving != NULL;
}

int ds_slots_create(struct downstream *d, const struct service_group *sg) {
	struct ds_slots *p = &d->slots;
	uint32_t used = 0;

	if (!slots_allocate(p, &d->tables.capacity)) {
		log_error("memory", LOG_NO_FIELDS, "downstream: no memory for slots");
		return -1;
	}
	for (size_t m = 0; m < sg->modem_count; m++)
		used += (uint32_t)sg->modems[m].service_flow_count;
	for (uint32_t flow = d->tables.capacity.flows; flow > used; flow--)
		p->free_flows[p->free_flow_count++] = flow - 1;
	return 0;
}

void ds_slots_free(struct ds_slots *p) {
	free(p->free_flows);
	free(p->flows_leaving);
	free(p->groups_leaving);
	for (unsigned o = 0; o < LIVE_OBJECTS; o++)
		free(p->retiring[o]);
	*p = (struct ds_slots){0};
}

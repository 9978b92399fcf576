/* SPDX-License-Identifier: BSD-3-Clause */
/* Validates a change list: each slot occurs once, and is free for a new object; no object refers to
 * one that will not exist. */
#include "downstream/change/internal.h"
#include "downstream/qos.h"

static uint32_t capacity_for(const struct ds_change *c, enum live_object object) {
	const struct group_capacity *capacity = &c->d->tables.capacity;
	const uint32_t slots[LIVE_OBJECTS] = {
		[LIVE_CHANNEL] = capacity->channels,
		[LIVE_BONDING_GROUP] = capacity->bonding_groups,
		[LIVE_FILTER_GROUP] = capacity->filter_groups,
		[LIVE_MODEM] = capacity->modems,
	};

	return slots[object];
}

static const void *present(const struct ds_change *c, const struct live_change *l) {
	switch (l->object) {
	case LIVE_CHANNEL: return ds_present_channel(c, l->slot);
	case LIVE_BONDING_GROUP: return ds_present_bonding_group(c, l->slot);
	case LIVE_FILTER_GROUP: return ds_present_filter_group(c, l->slot);
	case LIVE_MODEM: return ds_present_modem(c, l->slot);
	default: return NULL;
	}
}

static bool slot_is_valid(struct ds_change *c, uint32_t number) {
	const struct live_change *l = &c->changes->list[number];

	if (l->object == LIVE_GROUP || l->object == LIVE_UPSTREAM_CHANNEL)
		return true;
	if (l->object >= LIVE_OBJECTS || l->slot >= capacity_for(c, l->object))
		return ds_refuse(c, NULL, "no free slot for one more object (slot %u)", l->slot);
	if (c->change_of[l->object][l->slot] != 0)
		return ds_refuse(c, l, "the object is twice in one change");
	if (c->d->slots.retiring[l->object][l->slot])
		return ds_refuse(c, l, "the removal of the slot's previous object is not complete");
	if (present(c, l) == NULL && l->next == NULL)
		return ds_refuse(c, l, "the object does not exist");
	c->change_of[l->object][l->slot] = number + 1;
	return true;
}

static bool bonding_group_is_valid(const struct ds_change *c, const struct live_change *l) {
	const struct bonding_group *g = l->bonding_group;
	const struct scheduler_group set = qos_group(g);
	const char *why = scheduler_check_group(c->d->upper.scheduler, &set);

	if (g->channel_count == 0)
		return ds_refuse(c, l, "it has no channels");
	if (why != NULL)
		return ds_refuse(c, l, "%s", why);
	for (size_t i = 0; i < g->channel_count; i++) {
		if (ds_next_channel(c, g->channels[i]) == NULL)
			return ds_refuse(c, l, "one of its channels does not exist");
	}
	return true;
}

static bool flows_are_valid(const struct ds_change *c, const struct live_change *l) {
	const struct modem *m = l->modem;

	if (m->service_flow_count == 0 || m->service_flow_count > SG_MAX_MODEM_FLOWS)
		return ds_refuse(c, l, "it has %zu service flows", m->service_flow_count);
	for (size_t f = 0; f < m->service_flow_count; f++) {
		const struct service_flow *flow = &m->service_flows[f];

		if (ds_next_bonding_group(c, flow->bonding_group) == NULL)
			return ds_refuse(c, l, "service flow %u: its bonding group does not exist",
					 flow->id);
		for (size_t k = 0; k < f; k++) {
			if (m->service_flows[k].id == flow->id)
				return ds_refuse(c, l,
						 "service flow %u: the ID is used "
						 "twice",
						 flow->id);
		}
	}
	for (size_t k = 0; k < m->classifier_count; k++) {
		if (m->classifiers[k].flow >= m->service_flow_count)
			return ds_refuse(c, l, "classifiers[%zu]: its service flow does not exist",
					 k);
	}
	return true;
}

static bool modem_is_valid(const struct ds_change *c, const struct live_change *l) {
	const struct modem *m = l->modem;
	const struct scheduler_modem set = qos_modem(m);
	const char *why = scheduler_check_modem(&set);

	if (why != NULL)
		return ds_refuse(c, l, "%s", why);
	if (m->address_count > SG_MAX_MODEM_ADDRESSES)
		return ds_refuse(c, l, "it has %zu addresses", m->address_count);
	if (m->filter_group_count > SG_MAX_MODEM_FILTER_GROUPS)
		return ds_refuse(c, l, "it has %zu filter groups", m->filter_group_count);
	for (size_t g = 0; g < m->filter_group_count; g++) {
		if (ds_next_filter_group(c, m->filter_groups[g]) == NULL)
			return ds_refuse(c, l, "one of its filter groups does not exist");
	}
	if (ds_present_modem(c, l->slot) == NULL && ds_schedule_of(c, l) == NULL)
		return ds_refuse(c, l, "it has no key");
	return flows_are_valid(c, l);
}

static bool values_are_valid(const struct ds_change *c, const struct live_change *l) {
	const char *why;

	if (l->group == NULL)
		return ds_refuse(c, l, "the group itself cannot be removed by a change");
	why = scheduler_check_rate_limit(l->group->rate_limit);
	if (why != NULL)
		return ds_refuse(c, l, "rate_limit: %s", why);
	return l->group->cpe_timeout_ns != 0 || ds_refuse(c, l, "cpe_timeout: is 0");
}

static bool object_is_valid(const struct ds_change *c, const struct live_change *l) {
	struct scheduler_channel set;
	const char *why;

	if (l->object == LIVE_GROUP)
		return values_are_valid(c, l);
	if (l->next == NULL)
		return true;
	switch (l->object) {
	case LIVE_CHANNEL:
		if (!channel_exists(l->channel))
			return ds_refuse(c, l, "its session is 0");
		set = qos_channel(&c->sg->rphy, l->channel);
		why = set.rate == 0 ? "it has no rate" : scheduler_check_channel(&set);
		return why == NULL || ds_refuse(c, l, "%s", why);
	case LIVE_BONDING_GROUP: return bonding_group_is_valid(c, l);
	case LIVE_MODEM: return modem_is_valid(c, l);
	default: return true;
	}
}

/* Whether a bonding group uses the channel of a removed or replaced object. */
static bool channel_is_needed(const struct ds_change *c, uint32_t slot) {
	for (uint32_t g = 0; g < c->d->tables.capacity.bonding_groups; g++) {
		const struct bonding_group *group = ds_next_bonding_group(c, g);

		for (size_t i = 0; group != NULL && i < group->channel_count; i++) {
			if (group->channels[i] == slot)
				return true;
		}
	}
	return false;
}

static bool modem_needs(const struct modem *m, enum live_object object, uint32_t slot) {
	if (object == LIVE_BONDING_GROUP) {
		for (size_t f = 0; f < m->service_flow_count; f++) {
			if (m->service_flows[f].bonding_group == slot)
				return true;
		}
		return false;
	}
	for (size_t g = 0; g < m->filter_group_count; g++) {
		if (m->filter_groups[g] == slot)
			return true;
	}
	return false;
}

static bool is_needed(const struct ds_change *c, const struct live_change *l) {
	if (l->object == LIVE_CHANNEL)
		return channel_is_needed(c, l->slot);
	for (uint32_t m = 0; m < c->d->tables.capacity.modems; m++) {
		const struct modem *modem = ds_next_modem(c, m);

		if (modem != NULL && modem_needs(modem, l->object, l->slot))
			return true;
	}
	return false;
}

static bool may_remove(const struct ds_change *c, const struct live_change *l) {
	if (l->next != NULL || l->object == LIVE_MODEM || l->object == LIVE_UPSTREAM_CHANNEL)
		return true;
	if (l->object == LIVE_BONDING_GROUP && c->d->slots.flows_leaving[l->slot] > 0)
		return ds_refuse(c, l, "the removal of its service flows is not complete");
	if (l->object == LIVE_CHANNEL && c->d->slots.groups_leaving[l->slot] > 0)
		return ds_refuse(c, l, "the removal of its bonding groups is not complete");
	return !is_needed(c, l) || ds_refuse(c, l, "it is still used");
}

bool ds_change_is_valid(struct ds_change *c) {
	const struct live_changes *all = c->changes;

	for (uint32_t i = 0; i < all->count; i++) {
		if (!slot_is_valid(c, i))
			return false;
	}
	for (size_t i = 0; i < all->count; i++) {
		if (!object_is_valid(c, &all->list[i]) || !may_remove(c, &all->list[i]))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares channels, bonding groups and service flows of a change, and validates them with the
 * scheduler. */
#include <string.h>

#include "downstream/change/internal.h"
#include "downstream/qos.h"

/* Whether the lower MAC writes the same for both channels. */
static bool written_alike(const struct channel *a, const struct channel *b) {
	return a->session == b->session && a->pseudowire == b->pseudowire &&
	       a->psp_extra == b->psp_extra && a->profile == b->profile;
}

/* A new channel's slot is unused, so its DEPI session can be prepared at once. */
static void prepare_channel(struct ds_change *c, const struct live_change *l) {
	const struct channel *now = ds_present_channel(c, l->slot);

	c->channels.list[c->channels.count++] = (struct ds_channel_set){
		.to = *l->channel,
		.in_scheduler = qos_channel(&c->sg->rphy, l->channel),
		.slot = l->slot,
		.is_new = now == NULL,
		.written = now != NULL && !written_alike(now, l->channel),
		.session_stays = now != NULL && now->session == l->channel->session,
	};
	if (now == NULL)
		depi_channel_set(&c->d->lower.depi, c->sg, l->slot, l->channel, false);
}

bool ds_prepare_channels(struct ds_change *c) {
	for (size_t i = 0; i < c->changes->count; i++) {
		const struct live_change *l = &c->changes->list[i];

		if (l->next == NULL)
			continue;
		if (l->object == LIVE_CHANNEL)
			prepare_channel(c, l);
		else if (l->object == LIVE_BONDING_GROUP)
			c->groups.list[c->groups.count++] =
				(struct ds_group_set){l->slot, qos_group(l->bonding_group)};
	}
	return true;
}

/* The flow's index in the modem's list, or the length of the list. */
static size_t flow_of_id(const struct modem *m, uint32_t id) {
	size_t f = 0;

	while (m != NULL && f < m->service_flow_count && m->service_flows[f].id != id)
		f++;
	return f;
}

/* Allocates a flow index. */
static bool alloc_number(struct ds_change *c, const struct live_change *l, uint32_t *flow) {
	struct ds_slots *p = &c->d->slots;

	if (p->free_flow_count == 0)
		return ds_refuse(
			c, l, "no free slot for one more service flow%s",
			c->d->tables.capacity.flows > 0 ? " before removed flows are drained" : "");
	*flow = p->free_flows[--p->free_flow_count];
	c->allocated.list[c->allocated.count++] = *flow;
	return true;
}

static bool scheduler_accepts(struct ds_change *c, const struct live_change *l,
			      const struct service_flow *f, const struct scheduler_flow *set) {
	const char *why = scheduler_check_flow(c->d->upper.scheduler, set);

	return why == NULL || ds_refuse(c, l, "service flow %u: %s", f->id, why);
}

/* Prepares the records of both MACs. Those of a new flow are written at once, as no stage reads
 * them yet; others only if they differ. */
static bool prepare_flow(struct ds_change *c, const struct live_change *l,
			 const struct service_flow *f, const struct service_flow *now,
			 uint32_t *flow, void *schedule) {
	struct ds_flow *record, to;
	struct ds_flow_set *set = &c->flows.list[c->flows.count];

	if (now == NULL && !alloc_number(c, l, flow))
		return false;
	c->numbers.list[c->numbers.count++] = *flow;
	record = &c->d->tables.flows[*flow];
	memset(&to, 0, sizeof(to));
	ds_flow_fill(&to, l->modem, f, schedule);
	*set = (struct ds_flow_set){*flow, qos_flow(f, l->slot, to.header_size)};
	if (!scheduler_accepts(c, l, f, &set->to))
		return false;
	if (now == NULL || to.header_size != record->header_size ||
	    memcmp(now, f, sizeof(*f)) != 0) /* a difference in padding costs a little time only */
		c->flows.count++;
	if (now == NULL)
		*record = to;
	else if (memcmp(record, &to, sizeof(to)) != 0)
		c->writes.list[c->writes.count++] = (struct ds_flow_write){to, *flow, l->slot};
	return true;
}

/* Closes flows that the modem does not keep. */
static void close_flows(struct ds_change *c, const struct modem *now, uint32_t slot,
			const struct modem *next) {
	for (size_t f = 0; now != NULL && f < now->service_flow_count; f++) {
		if (next != NULL &&
		    flow_of_id(next, now->service_flows[f].id) < next->service_flow_count)
			continue;
		c->closing.list[c->closing.count++] = ds_modem_flows(&c->d->tables, slot)[f];
		c->closing_groups.list[c->closing_groups.count++] =
			now->service_flows[f].bonding_group;
	}
}

static bool same_limit(const struct modem *a, const struct modem *b) {
	return a->aggregate_rate == b->aggregate_rate && a->aggregate_burst == b->aggregate_burst;
}

static bool prepare_modem(struct ds_change *c, const struct live_change *l) {
	const struct modem *now = ds_present_modem(c, l->slot), *m = l->modem;
	const uint32_t *numbers = ds_modem_flows(&c->d->tables, l->slot);
	void *schedule = ds_schedule_of(c, l);
	struct ds_modem_change *change = &c->modems.list[c->modems.count++];

	*change = (struct ds_modem_change){
		.slot = l->slot,
		.is_new = now == NULL,
		.limits = now == NULL || !same_limit(now, m),
		.aggregate = qos_modem(m),
		.first_number = (uint32_t)c->numbers.count,
		.flow_count = (uint32_t)m->service_flow_count,
	};
	if (schedule == NULL) /* the present one stays */
		schedule = c->d->tables.flows[numbers[0]].key.schedule;
	for (size_t f = 0; f < m->service_flow_count; f++) {
		const struct service_flow *flow = &m->service_flows[f];
		size_t k = flow_of_id(now, flow->id);
		bool known = now != NULL && k < now->service_flow_count;
		uint32_t number = known ? numbers[k] : 0;

		if (!prepare_flow(c, l, flow, known ? &now->service_flows[k] : NULL, &number,
				  schedule))
			return false;
	}
	close_flows(c, now, l->slot, m);
	return true;
}

bool ds_prepare_flows(struct ds_change *c) {
	for (size_t i = 0; i < c->changes->count; i++) {
		const struct live_change *l = &c->changes->list[i];

		if (l->object != LIVE_MODEM)
			continue;
		if (l->next == NULL)
			close_flows(c, ds_present_modem(c, l->slot), l->slot, NULL);
		else if (!prepare_modem(c, l))
			return false;
	}
	return true;
}

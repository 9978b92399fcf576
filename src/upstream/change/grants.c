/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans the upstream scheduler's part of a change: flows that are new or have other settings.
 *
 * A flow that is set again loses its pending requests; its modem requests again.
 */
#include <string.h>

#include "upstream/change/internal.h"

static bool same_sids(const struct sid_cluster *a, const struct sid_cluster *b) {
	return a->id == b->id && a->sid_count == b->sid_count &&
	       memcmp(a->sids, b->sids, a->sid_count * sizeof(a->sids[0])) == 0;
}

static bool same_flow(const struct upstream_service_flow *a,
		      const struct upstream_service_flow *b) {
	if (memcmp(&a->grants, &b->grants, sizeof(a->grants)) != 0 ||
	    a->cluster_count != b->cluster_count)
		return false;
	for (size_t i = 0; i < a->cluster_count; i++) {
		if (!same_sids(&a->clusters[i], &b->clusters[i]))
			return false;
	}
	return true;
}

/* Whether the modem has the flow with the same settings. */
static bool is_present(const struct us_change *c, uint32_t modem,
		       const struct upstream_service_flow *next) {
	const struct modem *m = &c->present->modems[modem];

	for (size_t f = 0; f < m->upstream_flow_count; f++) {
		if (m->upstream_flows[f].id == next->id)
			return same_flow(&m->upstream_flows[f], next);
	}
	return false;
}

static bool plan_flow(struct us_change *c, const struct upstream_service_flow *next,
		      uint32_t slot) {
	struct us_grant_plan plan = {.slot = slot, .unit = next->grants.request_multiplier};

	plan.flow = arena_alloc(c->memory, 1, us_grant_flow_size(next));
	if (plan.flow == NULL)
		return us_change_refuse(c, "no memory for a change of the upstream scheduler");
	us_grant_flow_fill(plan.flow, next);
	for (size_t k = 0; k < next->cluster_count; k++)
		plan.sids += (uint32_t)next->clusters[k].sid_count;
	return us_grants_add(c, &plan);
}

bool us_plan_grants(struct us_change *c, uint32_t modem, const struct upstream_service_flow *next,
		    const struct us_flow_plan *p) {
	if (!upstream_grants(c->u))
		return true;
	if (!p->is_new && !c->u->grant.refused[p->flow] && is_present(c, modem, next))
		return true;
	return plan_flow(c, next, p->flow);
}

static bool plan_refused_of(struct us_change *c, uint32_t modem) {
	const struct us_modem_data *modem_data = c->u->tables.slots.modem_data[modem];
	const struct modem *m = &c->present->modems[modem];

	for (uint32_t f = 0; f < modem_data->flow_count; f++) {
		uint32_t slot = modem_data->flows[f].flow;

		if (c->u->grant.refused[slot] && !plan_flow(c, &m->upstream_flows[f], slot))
			return false;
	}
	return true;
}

bool us_plan_refused(struct us_change *c) {
	const struct us_slots *p = &c->u->tables.slots;

	if (!upstream_grants(c->u) || c->u->grant.refused_count == 0)
		return true;
	for (uint32_t m = 0; m < c->u->tables.modem_count; m++) {
		if (p->modem_data[m] != NULL && !p->reserved[m] && !plan_refused_of(c, m))
			return false;
	}
	return true;
}

/* Whether the group's MAP messages are sent on the downstream channel in `slot`. */
static bool carries(const struct us_grant *g, uint32_t slot) {
	for (uint32_t i = 0; i < g->channel_count; i++) {
		const struct us_grant_channel *k = &g->channels[i];

		for (unsigned s = 0; s < k->stream_count; s++) {
			if (k->streams[s] == message_channel(g->messages, slot))
				return true;
		}
	}
	return false;
}

bool us_plan_carrier(struct us_change *c, const struct live_change *k) {
	if (!upstream_grants(c->u) || k->next != NULL || !carries(&c->u->grant, k->slot))
		return true;
	return us_change_refuse(
		c, "channel %u carries MAPs of the upstream scheduler: its removal needs a restart",
		c->present->channels[k->slot].id);
}

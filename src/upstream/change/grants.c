/* SPDX-License-Identifier: BSD-3-Clause */
/* What the upstream scheduler is told of a change: flows that come, or have other settings. Who is told anew is owed nothing
 * of what was asked for before: modems ask again. */
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

/* Whether the modem has it like this. */
static bool is_present(const struct us_change *c, uint32_t modem,
		       const struct upstream_service_flow *next) {
	const struct modem *m = &c->present->modems[modem];

	for (size_t f = 0; f < m->upstream_flow_count; f++) {
		if (m->upstream_flows[f].id == next->id)
			return same_flow(&m->upstream_flows[f], next);
	}
	return false;
}

bool us_plan_grants(struct us_change *c, uint32_t modem, const struct upstream_service_flow *next,
		    const struct us_flow_plan *p) {
	struct us_grant_plan plan = {.place = p->flow, .unit = next->grants.request_multiplier};

	if (!upstream_grants(c->u) || (!p->comes && is_present(c, modem, next)))
		return true;
	plan.flow = arena_alloc(c->memory, 1, us_grant_flow_size(next));
	if (plan.flow == NULL)
		return us_change_refuse(c, "no memory for a change of the upstream scheduler");
	us_grant_flow_fill(plan.flow, next);
	return us_grants_add(c, &plan);
}

static bool carries(const struct us_grant *g, uint32_t place) {
	for (uint32_t i = 0; i < g->channel_count; i++) {
		const struct us_grant_channel *k = &g->channels[i];

		for (unsigned s = 0; s < k->stream_count; s++) {
			if (k->streams[s] == message_channel(g->messages, place))
				return true;
		}
	}
	return false;
}

bool us_plan_carrier(struct us_change *c, const struct live_change *k) {
	if (!upstream_grants(c->u) || k->next != NULL || !carries(&c->u->grant, k->slot))
		return true;
	return us_change_refuse(
		c,
		"channel %u carries MAPs of the upstream scheduler: to remove it takes "
		"a new start",
		c->present->channels[k->slot].id);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the plan of modems, service flows and SID clusters from a configuration. */
#include <stdio.h>
#include <stdlib.h>

#include "modems/uplink_flow.h"

bool uplink_modem_sends(const struct modem *m) {
	return m->address_count > 0 && m->upstream_flow_count > 0;
}

/* Whether the modem is part of the plan. */
static bool sends(const struct service_group *sg, const struct uplink_plan_follow *follow,
		  size_t modem) {
	return uplink_modem_sends(&sg->modems[modem]) &&
	       (follow == NULL || follow->silent == NULL || !follow->silent[modem]);
}

/* Adds a flow to the counts by which plan_allocate() allocates. */
static void flow_counts_add(struct uplink_plan *p, const struct upstream_service_flow *flow) {
	p->count++;
	p->cluster_count += (uint32_t)flow->cluster_count;
	for (size_t c = 0; c < flow->cluster_count; c++)
		p->sid_count += (uint32_t)flow->clusters[c].sid_count;
}

/* Allocates the lists of a plan, which stay empty: all counts are 0. Returns false if memory is short. */
static bool plan_allocate(struct uplink_plan *p, const struct service_group *sg,
			  const struct uplink_plan_follow *follow) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		if (!sends(sg, follow, m))
			continue;
		p->modem_count++;
		for (size_t u = 0; u < modem->upstream_flow_count; u++)
			flow_counts_add(p, &modem->upstream_flows[u]);
	}
	p->modems = calloc(p->modem_count + 1, sizeof(*p->modems));
	p->all = calloc(p->count + 1, sizeof(*p->all));
	p->clusters = calloc(p->cluster_count + 1, sizeof(*p->clusters));
	p->sids = calloc(p->sid_count + 1, sizeof(*p->sids));
	p->modem_count = p->count = p->cluster_count = p->sid_count = 0;
	return p->modems != NULL && p->all != NULL && p->clusters != NULL && p->sids != NULL;
}

static void cluster_add(struct uplink_plan *p, const struct upstream_service_flow *flow,
			size_t cluster, const struct uplink_plan_follow *follow) {
	const struct sid_cluster *c = &flow->clusters[cluster];
	struct uplink_cluster *entry = &p->clusters[p->cluster_count];
	bool numbered = follow != NULL && follow->streams != NULL;

	*entry = (struct uplink_cluster){
		.cluster = {.id = c->id, .sids = &p->sids[p->sid_count], .sid_count = c->sid_count},
		.stream = numbered ? follow->streams[p->cluster_count] : p->cluster_count,
		.modem = p->modem_count - 1,
		.segment_header = flow->segment_header,
		.rewrite = rewrite_of(flow->overwrites_tos, &flow->tos),
	};
	for (size_t s = 0; s < c->sid_count; s++)
		p->sids[p->sid_count++] = c->sids[s];
	p->modems[p->modem_count - 1].cluster_count++;
	p->cluster_count++;
}

static void uplink_flow_add(struct uplink_plan *p, const struct upstream_service_flow *flow,
			    const struct uplink_plan_follow *follow) {
	p->all[p->count++] = (struct uplink_flow){
		.first = p->cluster_count,
		.count = (uint32_t)flow->cluster_count,
	};
	for (size_t c = 0; c < flow->cluster_count; c++)
		cluster_add(p, flow, c, follow);
}

int uplink_plan_create(struct uplink_plan *p, const struct service_group *sg,
		       const struct uplink_plan_follow *follow, bool newest,
		       struct key_store *store) {
	*p = (struct uplink_plan){.store = store};
	if (!plan_allocate(p, sg, follow)) {
		fprintf(stderr, "traffic: no memory for the upstream flows\n");
		return -1;
	}
	for (uint32_t m = 0; m < sg->modem_count; m++) {
		struct uplink_modem *modem = &p->modems[p->modem_count];

		if (!sends(sg, follow, m))
			continue;
		p->modem_count++;
		modem->newest = newest;
		modem->first_cluster = p->cluster_count;
		for (size_t u = 0; u < sg->modems[m].upstream_flow_count; u++)
			uplink_flow_add(p, &sg->modems[m].upstream_flows[u], follow);
		if (uplink_modem_create(modem, sg, m, store) != 0)
			return -1;
	}
	return 0;
}

bool uplink_plan_rewrites(const struct uplink_plan *p, uint32_t streams, uint32_t magic,
			  struct rewrites *r) {
	if (!rewrites_create(r, streams, magic)) {
		fprintf(stderr, "traffic: no memory for the upstream flows\n");
		return false;
	}
	for (uint32_t i = 0; i < p->cluster_count; i++)
		r->of[p->clusters[i].stream] = p->clusters[i].rewrite;
	return true;
}

void uplink_plan_free(struct uplink_plan *p) {
	for (uint32_t m = 0; m < p->modem_count; m++)
		uplink_modem_free(&p->modems[m], p->store);
	free(p->modems);
	free(p->all);
	free(p->clusters);
	free(p->sids);
	*p = (struct uplink_plan){0};
}

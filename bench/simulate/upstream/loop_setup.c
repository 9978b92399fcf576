/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "upstream/loop.h"
#include "upstream/loop_source.h"

#define SID_FIRST 1
#define HIGHEST (INT64_C(1) << 36) /* us/16: more than an hour */

static void create_access(struct loop *l) {
	const struct loop_scenario *s = l->scenario;
	struct access_channel channels[MAPS_MAX_CHANNELS];
	struct access_config config = {channels, s->channel_count, s->modems, s->modems,
				       0,	 s->seed};

	for (uint32_t i = 0; i < s->channel_count; i++)
		channels[i] = (struct access_channel){
			.id = (uint8_t)(i + 1),
			.ucd_count = s->channel.ucd_count,
			.frame = s->channel.frame,
			.frame_minislots = s->channel.frame_minislots,
			.minislot_bytes = s->channel.minislot_bytes,
			.burst_minislots = s->channel.burst_minislots,
			.request_minislots = s->channel.request_minislots,
		};
	l->access = access_create(&config, &l->error);
}

static void create_scheduler(struct loop *l) {
	const struct loop_scenario *s = l->scenario;
	struct maps_channel channels[MAPS_MAX_CHANNELS];
	struct maps_config config = {channels, s->channel_count, s->modems, 0, 0};

	for (uint32_t i = 0; i < s->channel_count; i++) {
		channels[i] = s->channel;
		channels[i].id = (uint8_t)(i + 1);
	}
	l->maps = maps_create(&config, &l->error);
}

/* Sets the flow's SIDs, which are equal on its channels. Flows get their channels in round robin. Returns their
 * number. */
static uint32_t sids_of(const struct loop *l, const struct loop_flow *f, uint32_t number,
			struct maps_sid *sids) {
	uint32_t all = l->scenario->channel_count;
	uint32_t count =
		f->group->channels == 0 || f->group->channels > all ? all : f->group->channels;

	for (uint32_t i = 0; i < count; i++)
		sids[i] = (struct maps_sid){
			.channel = (uint16_t)((number * count + i) % all),
			.sid = (uint16_t)(number + SID_FIRST),
		};
	return count;
}

static void set_modem(struct loop *l, const struct loop_flow *f, uint32_t number) {
	const struct loop_group *g = f->group;
	const struct loop_delays *d = &l->scenario->delays;
	uint64_t spread = g->propagation_max - g->propagation;
	struct access_modem modem = {
		.propagation = (uint32_t)(g->propagation + spread * f->number_in_group / g->count),
		.map_processing = (uint32_t)d->modem,
		.burst_processing = (uint32_t)d->burst,
		.map_loss = g->map_loss,
		.conduct = g->conduct,
		.excess = g->excess,
	};

	access_set_modem(l->access, number, &modem);
}

static void set_flow(struct loop *l, const struct loop_flow *f, uint32_t number) {
	struct maps_sid sids[MAPS_MAX_CHANNELS];
	uint32_t count = sids_of(l, f, number, sids);
	struct access_sid own[MAPS_MAX_CHANNELS];
	struct maps_cluster cluster = {sids, count};
	struct maps_flow wanted = f->group->flow;
	bool unsolicited = wanted.type == MAPS_UNSOLICITED;
	struct access_flow has = {
		.modem = number,
		.sids = own,
		.sid_count = count,
		.header_bytes = (uint16_t)l->scenario->header_bytes,
		.request_unit = f->group->request_unit,
		.patience = f->group->patience,
		.outstanding = (uint8_t)f->group->outstanding,
		.no_contention = unsolicited || wanted.type == MAPS_REAL_TIME_POLLING,
		.no_piggyback = unsolicited,
	};

	for (uint32_t i = 0; i < count; i++)
		own[i] = (struct access_sid){sids[i].channel, sids[i].sid};
	wanted.clusters = &cluster;
	wanted.cluster_count = 1;
	wanted.header_bytes = has.header_bytes;
	set_modem(l, f, number);
	l->error = maps_set_flow(l->maps, number, &wanted, 0);
	if (l->error == NULL)
		l->error = access_set_flow(l->access, number, &has, 0);
}

static void create_flows(struct loop *l) {
	uint32_t number = 0;

	for (uint32_t g = 0; g < l->scenario->group_count; g++) {
		const struct loop_group *group = &l->scenario->groups[g];

		for (uint32_t i = 0; i < group->count && l->error == NULL; i++, number++) {
			l->flows[number].group = group;
			l->flows[number].number_in_group = i;
			set_flow(l, &l->flows[number], number);
			loop_source_begin(l, number);
		}
	}
}

/* Allocates memory for the scenario. Returns false if it is short. */
static bool reserve(struct loop *l) {
	uint32_t modems = l->scenario->modems;
	bool all = true;

	l->flying_capacity = l->flying_free = 0;
	l->flows = calloc(modems, sizeof(*l->flows));
	l->carried = calloc(modems, sizeof(*l->carried));
	for (uint32_t g = 0; g < l->scenario->group_count; g++)
		all &= hdr_init(1, HIGHEST, 3, &l->measures[g].latency) == 0;
	return l->flows != NULL && l->carried != NULL && all && due_reserve(&l->arrivals, modems);
}

bool loop_setup(struct loop *l, const struct loop_scenario *scenario, FILE *record) {
	*l = (struct loop){
		.scenario = scenario,
		.record = record,
		.random = {.state = scenario->seed * 3 + 1},
		.error = "memory is short",
	};
	if (!reserve(l))
		return false;
	create_access(l);
	if (l->access == NULL)
		return false;
	create_scheduler(l);
	if (l->maps == NULL)
		return false;
	l->error = NULL;
	create_flows(l);
	return l->error == NULL;
}

void loop_free(struct loop *l) {
	for (uint32_t i = 0; l->flows != NULL && i < l->scenario->modems; i++)
		free(l->flows[i].packets);
	for (uint32_t g = 0; g < LOOP_GROUPS; g++)
		if (l->measures[g].latency != NULL)
			hdr_close(l->measures[g].latency);
	due_free(&l->arrivals);
	due_free(&l->arriving);
	free(l->flying);
	free(l->flows);
	free(l->carried);
	access_free(l->access);
	maps_free(l->maps);
}

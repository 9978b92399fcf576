/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup.h"

#include <stdlib.h>
#include <string.h>

#define PACKETS_MAX (1u << 20) /* so high that only the buffers of the flows limit */

static void make_scheduler(struct simulation *s) {
	const struct scenario *scenario = s->scenario;
	struct scheduler_channel channels[SCENARIO_MAX_CHANNELS] = {0};
	uint32_t all[SCENARIO_MAX_CHANNELS];
	struct scheduler_group group = {all, scenario->channel_count};
	struct scheduler_modem modems[SCENARIO_MAX_FLOWS] = {0};
	struct scheduler_config config = {
		.channels = channels,
		.channel_count = scenario->channel_count,
		.groups = &group,
		.group_count = 1,
		.modems = modems,
		.modem_count = scenario->flow_count,
		.flows = s->settings,
		.flow_count = scenario->flow_count,
		.packet_limit = PACKETS_MAX,
		.seed = scenario->seed,
	};

	for (uint32_t c = 0; c < scenario->channel_count; c++) {
		channels[c].rate = scenario->channel_rates[c];
		all[c] = c;
	}
	memcpy(s->settings, scenario->flows, sizeof(s->settings));
	for (uint32_t f = 0; f < scenario->flow_count; f++)
		s->settings[f].modem = f;
	s->scheduler = scheduler_create(&config, &s->error);
}

/* Duration in ns of a packet at the sustained rate, or on the first channel. */
static uint64_t jitter(const struct scenario *scenario, const struct sender_group *g) {
	uint64_t rate = scenario->flows[g->flow].sustained.rate;

	return 8000000000ull * g->bytes / (rate != 0 ? rate : scenario->channel_rates[0]);
}

/* Round-trip times of a group are spread evenly. */
static void make_senders(struct simulation *s) {
	unsigned n = 0;

	for (uint32_t g = 0; g < s->scenario->group_count; g++)
		s->sender_count += s->scenario->groups[g].count;
	s->senders = calloc(s->sender_count + 1, sizeof(*s->senders));
	if (s->senders == NULL) {
		s->error = "memory is short";
		return;
	}
	for (uint32_t g = 0; g < s->scenario->group_count; g++) {
		const struct sender_group *group = &s->scenario->groups[g];
		uint64_t step =
			group->count > 1 ? (group->rtt_max - group->rtt) / (group->count - 1) : 0;

		for (unsigned i = 0; i < group->count; i++) {
			struct sender *sender = &s->senders[n++];

			sender->group = group;
			sender->measure = &s->groups[g];
			sender->rtt = group->rtt + i * step;
			sender->jitter = jitter(s->scenario, group);
			tcp_init(&sender->tcp,
				 group->kind == SENDER_RENO ? CONGESTION_RENO : CONGESTION_CUBIC);
		}
	}
}

static void make_measures(struct simulation *s) {
	bool all = true;

	for (uint32_t f = 0; f < s->scenario->flow_count; f++)
		all &= (s->flows[f].delay = measure_histogram()) != NULL;
	for (uint32_t g = 0; g < s->scenario->group_count; g++)
		all &= (s->groups[g].delay = measure_histogram()) != NULL;
	if (!all)
		s->error = "memory is short";
}

bool setup(struct simulation *s, const struct scenario *scenario) {
	*s = (struct simulation){
		.scenario = scenario,
		.random = {.state = scenario->seed},
		.service = UINT64_MAX,
	};
	memcpy(s->changes, scenario->changes, sizeof(s->changes));
	make_scheduler(s);
	if (s->scheduler == NULL)
		return false;
	make_senders(s);
	make_measures(s);
	return s->error == NULL;
}

void simulation_free(struct simulation *s) {
	scheduler_free(s->scheduler);
	events_free(&s->events);
	free(s->senders);
	for (size_t i = 0; i < s->slab_count; i++)
		free(s->slabs[i]);
	free(s->slabs);
	for (unsigned f = 0; f < SCENARIO_MAX_FLOWS; f++) {
		free(s->flows[f].samples);
		hdr_close(s->flows[f].delay);
	}
	for (unsigned g = 0; g < SCENARIO_MAX_GROUPS; g++)
		hdr_close(s->groups[g].delay);
}

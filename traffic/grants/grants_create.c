/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the state of scheduled modems, which send in the grants of MAPs: clock, MAP pseudowires, events, queues.
 * grants.h has the contracts. */
#include <stdio.h>
#include <stdlib.h>

#include "grants/grants_modems.h"
#include "model/grants_times.h"

/* Transmissions from the modem's decision until the R-PHY device has sent them, after their last minislot. If none is
 * free, the modems wait. */
#define EVENTS_PER_CHANNEL 2048

const char *grants_missing_setting(const struct service_group *sg) {
	if (!sg->upstream.scheduled)
		return "an upstream scheduler (upstream.scheduler)";
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		for (size_t f = 0; f < modem->upstream_flow_count; f++) {
			if (!modem->upstream_flows[f].segment_header)
				return "segment headers of all upstream service flows";
		}
	}
	return NULL;
}

static bool events_create(struct grants *g) {
	uint32_t count = EVENTS_PER_CHANNEL * (uint32_t)g->sg->upstream_channel_count;

	g->events = calloc(count, sizeof(*g->events));
	g->unused = calloc(count, sizeof(*g->unused));
	if (g->events == NULL || g->unused == NULL || !due_reserve(&g->ends, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		g->unused[i] = i;
	g->event_count = g->unused_count = count;
	return true;
}

/* One MAP pseudowire, and one entry of the result, per upstream channel. */
static void channels_set(struct grants *g) {
	uint32_t sessions[SG_MAX_UPSTREAM_CHANNELS];
	uint32_t count = (uint32_t)g->sg->upstream_channel_count;

	for (uint32_t c = 0; c < count; c++) {
		sessions[c] = grants_map_session(&g->sg->upstream_channels[c]);
		g->result.use[c].id = g->sg->upstream_channels[c].id;
	}
	g->result.channels = count;
	map_pseudowires_set(&g->wires, sessions, count);
}

/* Whether grants of some flow may differ from its requests (grants_result.limited). */
static bool is_limited(const struct service_group *sg) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++) {
			const struct flow_grants *g = &sg->modems[m].upstream_flows[f].grants;

			if (g->sustained_rate != 0 || g->peak_rate != 0 ||
			    g->concatenated_burst != 0 || g->scheduling != SCHEDULING_BEST_EFFORT)
				return true;
		}
	}
	return false;
}

/* Returns false after a message. */
static bool memory_allocate(struct grants *g) {
	g->units = calloc(g->flows->stream_count, sizeof(*g->units));
	if (g->units != NULL && arrivals_create(&g->arrivals, g->flows) && events_create(g))
		return true;
	fprintf(stderr, "traffic: no memory for scheduled modems\n");
	return false;
}

struct grants *grants_create(const struct service_group *sg, struct uplink_flows *flows,
			     const struct impair_shares *impair, uint64_t seed) {
	struct grants *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		fprintf(stderr, "traffic: no memory for scheduled modems\n");
		return NULL;
	}
	*g = (struct grants){
		.sg = sg,
		.flows = flows,
		.impair = *impair,
		.seed = seed,
		.random = {seed},
		.interleaver = grants_samples(sg->upstream.scheduler.interleaver),
	};
	clock_start(&g->worker);
	docsis_clock_init(&g->clock);
	docsis_clock_start(&g->clock, &g->worker);
	channels_set(g);
	g->result.limited = is_limited(sg);
	if (memory_allocate(g) && grants_modems_create(g))
		return g;
	grants_free(g);
	return NULL;
}

void grants_free(struct grants *g) {
	if (g == NULL)
		return;
	access_free(g->access);
	arrivals_free(&g->arrivals);
	due_free(&g->ends);
	free(g->events);
	free(g->unused);
	free(g->units);
	free(g);
}

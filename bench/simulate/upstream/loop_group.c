/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one group of flows of a scenario: its traffic, its modems, and its scheduling service. */
#include <stdio.h>
#include <string.h>

#include "upstream/loop_fields.h"

#define KM_PER_MS 200. /* speed of light in fibre */
#define MODEM_KM 8
#define MODEM_KM_MAX 160
#define FRAME_BYTES 138

static const struct bounds rates = {0, 1e11}; /* bits per second */

static void read_sizes(struct fields *f, struct loop_group *g) {
	uint32_t count;
	const json_t *array = fields_array(f, "sizes", LOOP_SIZES, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct fields size = *f;
		uint64_t share = 1000000;

		snprintf(size.where + strlen(size.where), 16, "sizes[%u].", i);
		fields_open(&size, json_array_get(array, i));
		g->sizes[i].bytes = FRAME_BYTES;
		fields_number32(&size, "bytes", (struct bounds){16, 16000}, &g->sizes[i].bytes);
		fields_number(&size, "share", (struct bounds){0.001, 1}, 1e6, &share);
		g->sizes[i].share = (double)share / 1e6;
		fields_close(&size);
	}
	if (count > 0)
		g->size_count = count;
}

static void read_flow(struct fields *f, struct maps_flow *flow) {
	static const char *const types[] = {"best-effort", "nrtps", "rtps", "ugs",
					    "ugs-ad",	   "pgs",   NULL};
	unsigned type = MAPS_BEST_EFFORT;
	uint64_t burst = 3044;

	fields_choice(f, "type", types, &type);
	flow->type = (enum maps_type)type;
	loop_number8(f, "priority", (struct bounds){0, MAPS_PRIORITIES - 1}, &flow->priority);
	fields_number(f, "sustained_rate", rates, 1, &flow->sustained);
	fields_number(f, "burst", (struct bounds){1522, 1e9}, 1, &burst);
	fields_number(f, "reserved_rate", rates, 1, &flow->reserved);
	fields_number(f, "guaranteed_rate", rates, 1, &flow->guaranteed_rate);
	fields_number32(f, "max_burst", (struct bounds){0, 1e9}, &flow->max_burst);
	fields_number32(f, "grant_bytes", (struct bounds){0, 1e6}, &flow->grant_bytes);
	loop_number8(f, "grants", (struct bounds){0, 127}, &flow->grants);
	loop_samples(f, "grant_interval", (struct bounds){0, 1}, &flow->grant_interval);
	loop_samples(f, "grant_jitter", (struct bounds){0, 1}, &flow->grant_jitter);
	loop_samples(f, "poll_interval", (struct bounds){0, 1}, &flow->poll_interval);
	/* Without a sustained rate, `burst` has no effect. */
	flow->sustained_burst = flow->sustained == 0 ? 0 : (uint32_t)burst;
}

/* Reads kilometres into propagation delays one way, in samples. */
static void read_distance(struct fields *f, struct loop_group *g) {
	const double scale = LOOP_SECOND / 1000 / KM_PER_MS;

	g->propagation = (uint64_t)(MODEM_KM * scale);
	fields_number(f, "km", (struct bounds){0, MODEM_KM_MAX}, scale, &g->propagation);
	g->propagation_max = g->propagation;
	fields_number(f, "km_max", (struct bounds){0, MODEM_KM_MAX}, scale, &g->propagation_max);
	if (g->propagation_max < g->propagation)
		fields_mistake(f, "km_max", "is less than km");
}

static void read_modem(struct fields *f, struct loop_group *g) {
	static const char *const names[] = {"honest", "silent", "endless", NULL};
	static const enum access_conduct conducts[] = {ACCESS_HONEST, ACCESS_SILENT,
						       ACCESS_ENDLESS};
	unsigned conduct = 0;

	fields_number32(f, "channels", (struct bounds){0, MAPS_MAX_CHANNELS}, &g->channels);
	fields_number32(f, "outstanding", (struct bounds){1, ACCESS_OUTSTANDING}, &g->outstanding);
	loop_samples(f, "patience", (struct bounds){0, 1}, &g->patience);
	fields_number32(f, "request_unit", (struct bounds){1, 255}, &g->request_unit);
	fields_number32(f, "map_loss", (struct bounds){0, 1e6}, &g->map_loss);
	fields_number32(f, "request_loss", (struct bounds){0, 1e6}, &g->request_loss);
	fields_choice(f, "conduct", names, &conduct);
	g->conduct = conducts[conduct];
	fields_number32(f, "excess", (struct bounds){0, 1e6}, &g->excess);
}

static const struct loop_group group_defaults = {
	.label = "flows",
	.count = 1,
	.rate = 100000,
	.outstanding = 8,
	.patience = 204800, /* samples: 1 ms */
	.request_unit = 4,
	.sizes = {{FRAME_BYTES, 1}},
	.size_count = 1,
	.excess = 1522,
};

void loop_group_read(struct fields *f, const json_t *json, struct loop_group *g) {
	static const char *const arrivals[] = {"poisson", "regular", NULL};
	unsigned regular = 0;
	uint64_t jitter = 0;

	*g = group_defaults;
	fields_open(f, json);
	fields_text(f, "label", g->label, sizeof(g->label));
	fields_number32(f, "count", (struct bounds){1, LOOP_MODEMS}, &g->count);
	fields_number(f, "rate", (struct bounds){0, 1e10}, 1, &g->rate);
	fields_choice(f, "arrivals", arrivals, &regular);
	g->regular = regular != 0;
	fields_number(f, "jitter", (struct bounds){0, 1}, 1e9, &jitter);
	g->jitter = (double)jitter / 1e9;
	read_sizes(f, g);
	read_distance(f, g);
	read_modem(f, g);
	read_flow(f, &g->flow);
	fields_close(f);
}

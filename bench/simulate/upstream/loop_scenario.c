/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/loop_scenario.h"

#include <stdio.h>
#include <string.h>

#include "fields.h"

#define SECOND ((double)MAPS_HZ)
#define LONGEST 3600 /* seconds */
#define LIGHT_KM 200. /* km in a millisecond of cable */
#define SEGMENT_HEADER 8
#define MODEM_KM_MAX 160

static const struct bounds short_times = {0, 0.1}, rates = {0, 1e11};

static void number16(struct fields *f, const char *key, struct bounds b, uint16_t *out) {
	uint64_t value = *out;

	fields_number(f, key, b, 1, &value);
	*out = (uint16_t)value;
}

static void number8(struct fields *f, const char *key, struct bounds b, uint8_t *out) {
	uint16_t value = *out;

	number16(f, key, b, &value);
	*out = (uint8_t)value;
}

static void samples32(struct fields *f, const char *key, struct bounds b, uint32_t *out) {
	uint64_t value = *out;

	fields_number(f, key, b, SECOND, &value);
	*out = (uint32_t)value;
}

static void read_delays(const struct fields *parent, struct loop_delays *d) {
	static const char *const known[] = {"cmts", "downstream", "modem", "burst", "decode", NULL};
	struct fields f = *parent;
	const json_t *object = json_object_get(parent->object, "delays");

	if (object == NULL)
		return;
	strcat(f.where, "delays.");
	fields_open(&f, object, known);
	fields_number(&f, "cmts", short_times, SECOND, &d->cmts);
	fields_number(&f, "downstream", short_times, SECOND, &d->downstream);
	fields_number(&f, "modem", short_times, SECOND, &d->modem);
	fields_number(&f, "burst", short_times, SECOND, &d->burst);
	fields_number(&f, "decode", short_times, SECOND, &d->decode);
}

/* Defaults of an OFDMA channel are those of docsis-ns3; a SC-QAM channel has 5,120 ksym/s and 64-QAM. */
static void channel_defaults(struct maps_channel *c, enum maps_kind kind) {
	bool ofdma = kind == MAPS_OFDMA;

	*c = (struct maps_channel){
		.kind = kind,
		.id = 1,
		.ucd_count = 1,
		.data_iuc = ofdma ? MAP_PROFILE_13 : MAP_ADVANCED_LONG,
		.frame = ofdma ? 27648 : 2560, /* 135 us, 12.5 us */
		.frame_minislots = ofdma ? 235 : 1,
		.minislot_bytes = ofdma ? 48 : 42,
		.burst_minislots = ofdma ? 0 : 2,
		.interval = 414720, /* 2,025 us */
		.request_minislots = ofdma ? 1 : 2,
		.request_opportunities = ofdma ? 16 : 8,
		.data_start = 3,
		.data_end = 10,
		.ranging_start = 0,
		.ranging_end = 4,
	};
}

static void read_channel(const struct fields *parent, struct loop_scenario *s) {
	static const char *const known[] = {"kind",
					    "count",
					    "frame",
					    "frame_minislots",
					    "minislot_bytes",
					    "burst_minislots",
					    "map_interval",
					    "request_minislots",
					    "request_opportunities",
					    "backoff_start",
					    "backoff_end",
					    "initial_minislots",
					    "initial_interval",
					    "max_burst_minislots",
					    NULL};
	static const char *const kinds[] = {"sc-qam", "ofdma", NULL};
	struct fields f = *parent;
	const json_t *object = json_object_get(parent->object, "channels");
	struct maps_channel *c = &s->channel;
	unsigned kind = MAPS_OFDMA;

	channel_defaults(c, MAPS_OFDMA);
	if (object == NULL)
		return;
	strcat(f.where, "channels.");
	fields_open(&f, object, known);
	fields_choice(&f, "kind", kinds, &kind);
	channel_defaults(c, (enum maps_kind)kind);
	fields_number32(&f, "count", (struct bounds){1, MAPS_MAX_CHANNELS}, &s->channel_count);
	samples32(&f, "frame", (struct bounds){1e-6, 0.001}, &c->frame);
	number16(&f, "frame_minislots", (struct bounds){1, 512}, &c->frame_minislots);
	number16(&f, "minislot_bytes", (struct bounds){1, 1024}, &c->minislot_bytes);
	number16(&f, "burst_minislots", (struct bounds){0, 100}, &c->burst_minislots);
	number16(&f, "max_burst_minislots", (struct bounds){0, 4096}, &c->max_burst_minislots);
	samples32(&f, "map_interval", (struct bounds){1e-4, 0.05}, &c->interval);
	number16(&f, "request_minislots", (struct bounds){1, 16}, &c->request_minislots);
	number16(&f, "request_opportunities", (struct bounds){0, 1024}, &c->request_opportunities);
	number8(&f, "backoff_start", (struct bounds){0, 15}, &c->data_start);
	number8(&f, "backoff_end", (struct bounds){0, 15}, &c->data_end);
	number16(&f, "initial_minislots", (struct bounds){0, 512}, &c->initial_minislots);
	samples32(&f, "initial_interval", (struct bounds){0, 2}, &c->initial_interval);
}

static void read_sizes(struct fields *f, struct loop_group *g) {
	static const char *const known[] = {"bytes", "share", NULL};
	uint32_t count;
	const json_t *array = fields_array(f, "sizes", LOOP_SIZES, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct fields size = *f;
		uint64_t share = 1000000;

		snprintf(size.where + strlen(size.where), 16, "sizes[%u].", i);
		fields_open(&size, json_array_get(array, i), known);
		g->sizes[i].bytes = 128;
		fields_number32(&size, "bytes", (struct bounds){16, 16000}, &g->sizes[i].bytes);
		fields_number(&size, "share", (struct bounds){0.001, 1}, 1e6, &share);
		g->sizes[i].share = (double)share / 1e6;
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
	number8(f, "priority", (struct bounds){0, MAPS_PRIORITIES - 1}, &flow->priority);
	fields_number(f, "sustained_rate", rates, 1, &flow->sustained);
	fields_number(f, "burst", (struct bounds){1522, 1e9}, 1, &burst);
	fields_number(f, "reserved_rate", rates, 1, &flow->reserved);
	fields_number(f, "guaranteed_rate", rates, 1, &flow->guaranteed_rate);
	fields_number32(f, "max_burst", (struct bounds){0, 1e9}, &flow->max_burst);
	fields_number32(f, "grant_bytes", (struct bounds){0, 1e6}, &flow->grant_bytes);
	number8(f, "grants", (struct bounds){0, 127}, &flow->grants);
	samples32(f, "grant_interval", (struct bounds){0, 1}, &flow->grant_interval);
	samples32(f, "grant_jitter", (struct bounds){0, 1}, &flow->grant_jitter);
	samples32(f, "poll_interval", (struct bounds){0, 1}, &flow->poll_interval);
	flow->sustained_burst = flow->sustained == 0 ? 0 : (uint32_t)burst;
}

/* One way, in samples: a kilometre is 5 us. */
static void read_distance(struct fields *f, struct loop_group *g) {
	const double scale = SECOND / 1000 / LIGHT_KM;

	g->propagation = (uint64_t)(8 * scale);
	fields_number(f, "km", (struct bounds){0, MODEM_KM_MAX}, scale, &g->propagation);
	g->propagation_max = g->propagation;
	fields_number(f, "km_max", (struct bounds){0, MODEM_KM_MAX}, scale, &g->propagation_max);
	if (g->propagation_max < g->propagation)
		fields_mistake(f, "km_max", "is less than km");
}

static void read_group(struct fields *f, const json_t *json, struct loop_group *g) {
	static const char *const known[] = {"label",
					    "count",
					    "rate",
					    "arrivals",
					    "jitter",
					    "sizes",
					    "km",
					    "km_max",
					    "channels",
					    "outstanding",
					    "patience",
					    "request_unit",
					    "map_loss",
					    "request_loss",
					    "conduct",
					    "excess",
					    "type",
					    "priority",
					    "sustained_rate",
					    "burst",
					    "reserved_rate",
					    "guaranteed_rate",
					    "max_burst",
					    "grant_bytes",
					    "grants",
					    "grant_interval",
					    "grant_jitter",
					    "poll_interval",
					    NULL};
	static const char *const arrivals[] = {"poisson", "regular", NULL};
	static const char *const conducts[] = {"honest", "silent", "beyond", "endless", NULL};
	unsigned regular = 0;
	uint64_t jitter = 0;

	*g = (struct loop_group){.label = "flows",
				 .count = 1,
				 .rate = 100000,
				 .outstanding = 8,
				 .patience = 204800,
				 .request_unit = 4,
				 .sizes = {{138, 1}},
				 .size_count = 1,
				 .excess = 1522};
	fields_open(f, json, known);
	fields_text(f, "label", g->label, sizeof(g->label));
	fields_number32(f, "count", (struct bounds){1, LOOP_MODEMS}, &g->count);
	fields_number(f, "rate", (struct bounds){0, 1e10}, 1, &g->rate);
	fields_choice(f, "arrivals", arrivals, &regular);
	g->regular = regular != 0;
	fields_number(f, "jitter", (struct bounds){0, 1}, 1e9, &jitter);
	g->jitter = (double)jitter / 1e9;
	read_sizes(f, g);
	read_distance(f, g);
	fields_number32(f, "channels", (struct bounds){0, MAPS_MAX_CHANNELS}, &g->channels);
	fields_number32(f, "outstanding", (struct bounds){1, ACCESS_OUTSTANDING}, &g->outstanding);
	samples32(f, "patience", (struct bounds){0, 1}, &g->patience);
	fields_number32(f, "request_unit", (struct bounds){1, 255}, &g->request_unit);
	fields_number32(f, "map_loss", (struct bounds){0, 1e6}, &g->map_loss);
	fields_number32(f, "request_loss", (struct bounds){0, 1e6}, &g->request_loss);
	fields_choice(f, "conduct", conducts, &g->conduct);
	fields_number32(f, "excess", (struct bounds){0, 1e6}, &g->excess);
	read_flow(f, &g->flow);
}

static void read_groups(struct fields *f, struct loop_scenario *s) {
	const json_t *array = fields_array(f, "flows", LOOP_GROUPS, &s->group_count);

	for (uint32_t i = 0; i < s->group_count; i++) {
		struct fields group = *f;

		snprintf(group.where, sizeof(group.where), "flows[%u].", i);
		read_group(&group, json_array_get(array, i), &s->groups[i]);
		s->modems += s->groups[i].count;
	}
	if (s->modems == 0)
		fields_mistake(f, "flows", "at least one is needed");
	if (s->modems > LOOP_MODEMS)
		fields_mistake(f, "flows", "at most 16000 modems");
}

/* What follows from delays and distance: how early MAPs are made, and what requests they can know of. */
static void settle(struct loop_scenario *s) {
	struct maps_channel *c = &s->channel;
	const struct loop_delays *d = &s->delays;
	uint64_t far = 0;

	for (uint32_t i = 0; i < s->group_count; i++)
		if (s->groups[i].propagation_max > far)
			far = s->groups[i].propagation_max;
	c->lead = (uint32_t)(d->cmts + d->downstream + d->modem + d->burst + 2 * far);
	c->ack_delay =
		c->lead +
		(uint32_t)(d->decode + (uint64_t)c->frame *
					       (c->request_minislots + c->frame_minislots - 1) /
					       c->frame_minislots);
}

bool loop_scenario_read(const json_t *json, struct loop_scenario *out, char error[LOOP_ERROR]) {
	static const char *const known[] = {"duration", "warmup", "seed",	    "delays",
					    "channels", "flows",  "segment_header", NULL};
	struct fields f = {.error = error, .error_size = LOOP_ERROR};

	*out = (struct loop_scenario){
		.duration = 10ull * MAPS_HZ,
		.seed = 1,
		.channel_count = 1,
		.header_bytes = SEGMENT_HEADER,
		.delays = {40960, 22733, 127488, 27648,
			   27648}, /* docsis-ns3's: 200, 111, 622.5, 135, 135 us */
	};
	error[0] = '\0';
	fields_open(&f, json, known);
	fields_number(&f, "duration", (struct bounds){0.01, LONGEST}, SECOND, &out->duration);
	fields_number(&f, "warmup", (struct bounds){0, LONGEST}, SECOND, &out->warmup);
	fields_number(&f, "seed", (struct bounds){0, 1e15}, 1, &out->seed);
	fields_number32(&f, "segment_header", (struct bounds){0, 64}, &out->header_bytes);
	read_delays(&f, &out->delays);
	read_channel(&f, out);
	read_groups(&f, out);
	if (out->warmup >= out->duration)
		fields_mistake(&f, "warmup", "is not less than duration");
	settle(out);
	return error[0] == '\0';
}

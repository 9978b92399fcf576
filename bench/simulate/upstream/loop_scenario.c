/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/loop_scenario.h"

#include <stdio.h>
#include <string.h>

#include "upstream/loop_fields.h"

#define TIME_MAX 3600 /* seconds */
#define SEGMENT_HEADER 8 /* bytes */

static const struct bounds short_times = {0, 0.1}; /* seconds */

static void read_delays(struct fields *parent, struct loop_delays *d) {
	struct fields f = *parent;
	const json_t *object = fields_value(parent, "delays");

	if (object == NULL)
		return;
	strcat(f.where, "delays.");
	fields_open(&f, object);
	fields_number(&f, "cmts", short_times, LOOP_SECOND, &d->cmts);
	fields_number(&f, "downstream", short_times, LOOP_SECOND, &d->downstream);
	fields_number(&f, "modem", short_times, LOOP_SECOND, &d->modem);
	fields_number(&f, "burst", short_times, LOOP_SECOND, &d->burst);
	fields_number(&f, "decode", short_times, LOOP_SECOND, &d->decode);
	fields_close(&f);
}

/* Default channels: OFDMA as in docsis-ns3; SC-QAM with 5,120 ksym/s and 64-QAM. */
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

static void read_channel(struct fields *parent, struct loop_scenario *s) {
	static const char *const kinds[] = {"sc-qam", "ofdma", NULL};
	struct fields f = *parent;
	const json_t *object = fields_value(parent, "channels");
	struct maps_channel *c = &s->channel;
	unsigned kind = MAPS_OFDMA;

	channel_defaults(c, MAPS_OFDMA);
	if (object == NULL)
		return;
	strcat(f.where, "channels.");
	fields_open(&f, object);
	fields_choice(&f, "kind", kinds, &kind);
	channel_defaults(c, (enum maps_kind)kind);
	fields_number32(&f, "count", (struct bounds){1, MAPS_MAX_CHANNELS}, &s->channel_count);
	loop_samples(&f, "frame", (struct bounds){1e-6, 0.001}, &c->frame);
	loop_number16(&f, "frame_minislots", (struct bounds){1, 512}, &c->frame_minislots);
	loop_number16(&f, "minislot_bytes", (struct bounds){1, 1024}, &c->minislot_bytes);
	loop_number16(&f, "burst_minislots", (struct bounds){0, 100}, &c->burst_minislots);
	loop_number16(&f, "max_burst_minislots", (struct bounds){0, 4096}, &c->max_burst_minislots);
	loop_samples(&f, "map_interval", (struct bounds){1e-4, 0.05}, &c->interval);
	loop_number16(&f, "request_minislots", (struct bounds){1, 16}, &c->request_minislots);
	loop_number16(&f, "request_opportunities", (struct bounds){0, 1024},
		      &c->request_opportunities);
	loop_number8(&f, "backoff_start", (struct bounds){0, 15}, &c->data_start);
	loop_number8(&f, "backoff_end", (struct bounds){0, 15}, &c->data_end);
	loop_number16(&f, "initial_minislots", (struct bounds){0, 512}, &c->initial_minislots);
	loop_samples(&f, "initial_interval", (struct bounds){0, 2}, &c->initial_interval);
	fields_close(&f);
}

static void read_groups(struct fields *f, struct loop_scenario *s) {
	const json_t *array = fields_array(f, "flows", LOOP_GROUPS, &s->group_count);

	for (uint32_t i = 0; i < s->group_count; i++) {
		struct fields group = *f;

		snprintf(group.where, sizeof(group.where), "flows[%u].", i);
		loop_group_read(&group, json_array_get(array, i), &s->groups[i]);
		s->modems += s->groups[i].count;
	}
	if (s->modems == 0)
		fields_mistake(f, "flows", "at least one is needed");
	if (s->modems > LOOP_MODEMS)
		fields_mistake(f, "flows", "at most 16000 modems");
}

/* Derives MAP lead time and acknowledgement delay from delays and distance. */
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
	fields_open(&f, json);
	fields_number(&f, "duration", (struct bounds){0.01, TIME_MAX}, LOOP_SECOND, &out->duration);
	fields_number(&f, "warmup", (struct bounds){0, TIME_MAX}, LOOP_SECOND, &out->warmup);
	fields_number(&f, "seed", (struct bounds){0, 1e15}, 1, &out->seed);
	fields_number32(&f, "segment_header", (struct bounds){0, 64}, &out->header_bytes);
	read_delays(&f, &out->delays);
	read_channel(&f, out);
	read_groups(&f, out);
	if (out->warmup >= out->duration)
		fields_mistake(&f, "warmup", "is not less than duration");
	fields_close(&f);
	settle(out);
	return error[0] == '\0';
}

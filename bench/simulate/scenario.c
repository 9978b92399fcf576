/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

#include "fields.h"

#define SECOND 1e9 /* ns */
#define RATE_MIN 64000
#define RATE_MAX 1e11
#define DEFAULT_BURST_MIN 3044 /* bytes: MULPI's default of the maximum traffic burst */
/* the default of `burst` is what the rate sends in 1 ms, at least DEFAULT_BURST_MIN */
#define BURSTS_PER_SECOND 1000
#define BUFFER_MAX 1e9 /* bytes, of buffers, thresholds and bursts */
#define TIME_MAX 3600 /* seconds, of any time in a scenario */
/* bytes with CRC: default and maximum of senders' packets, minimum of bursts and buffers */
#define PACKET_MAX 1518

/* of values in the file: bits per second, seconds */
static const struct bounds rates = {RATE_MIN, RATE_MAX}, times = {0, TIME_MAX};

static void read_wred(struct fields *parent, struct scheduler_flow *flow) {
	struct fields f = *parent;
	uint64_t probability = flow->wred.max_probability, weight = flow->wred.weight;
	const json_t *object = fields_value(parent, "wred");

	if (object == NULL)
		return;
	strcat(f.where, "wred.");
	fields_open(&f, object);
	fields_number32(&f, "min_threshold", (struct bounds){0, BUFFER_MAX},
			&flow->wred.min_threshold);
	fields_number32(&f, "max_threshold", (struct bounds){1, BUFFER_MAX},
			&flow->wred.max_threshold);
	fields_number(&f, "max_probability", (struct bounds){1 / 65536., 1}, 65536, &probability);
	fields_number(&f, "weight", (struct bounds){1, 15}, 1, &weight);
	flow->wred.max_probability = (uint32_t)probability;
	flow->wred.weight = (uint8_t)weight;
	fields_close(&f);
}

static void flow_defaults(struct scheduler_flow *flow) {
	*flow = (struct scheduler_flow){
		.weight = 1,
		.buffer = 1000000,
		.aqm = SCHEDULER_DOCSIS_PIE,
		.wred = {.max_probability = 65536 / 10, .weight = 9},
		.latency_target = 10000000,
	};
}

static void read_flow(struct fields *f, const json_t *json, struct scheduler_flow *flow) {
	static const char *const aqms[] = {"tail-drop", "wred", "docsis-pie", NULL};
	uint64_t burst, priority = 0;
	unsigned aqm = SCHEDULER_DOCSIS_PIE;

	flow_defaults(flow);
	fields_open(f, json);
	fields_number(f, "sustained_rate", rates, 1, &flow->sustained.rate);
	burst = flow->sustained.rate / (8ul * BURSTS_PER_SECOND);
	burst = burst > DEFAULT_BURST_MIN ? burst : DEFAULT_BURST_MIN;
	fields_number(f, "burst", (struct bounds){PACKET_MAX, BUFFER_MAX}, 1, &burst);
	/* Without a sustained rate, `burst` has no effect. */
	flow->sustained.burst = flow->sustained.rate == 0 ? 0 : burst;
	fields_number32(f, "buffer", (struct bounds){PACKET_MAX, BUFFER_MAX}, &flow->buffer);
	flow->min_buffer = flow->max_buffer = flow->buffer;
	flow->wred.min_threshold = flow->buffer / 4;
	flow->wred.max_threshold = flow->buffer / 4 * 3;
	fields_choice(f, "aqm", aqms, &aqm);
	flow->aqm = (enum scheduler_aqm)aqm;
	read_wred(f, flow);
	fields_number(f, "latency_target", (struct bounds){0.001, 0.256}, SECOND,
		      &flow->latency_target);
	fields_number(f, "priority", (struct bounds){0, SCHEDULER_PRIORITIES - 1}, 1, &priority);
	flow->priority = (uint8_t)priority;
	fields_close(f);
}

/* Reads the index of a service flow. The service flows must have been read before. */
static void read_flow_index(struct fields *f, const struct scenario *s, uint32_t *out) {
	fields_number32(f, "service_flow", (struct bounds){0, s->flow_count - 1.}, out);
}

/* The service flows must have been read before. */
static void read_change(struct fields *f, const json_t *json, const struct scenario *s,
			struct rate_change *change) {
	fields_open(f, json);
	fields_number(f, "at", times, SECOND, &change->at);
	read_flow_index(f, s, &change->flow);
	fields_number(f, "sustained_rate", rates, 1, &change->rate);
	if (change->rate == 0)
		fields_mistake(f, "sustained_rate", "is missing");
	else if (s->flows[change->flow].sustained.rate == 0)
		fields_mistake(f, "service_flow", "the flow has no sustained rate to change");
	fields_close(f);
}

/* The service flows must have been read before. */
static void read_sender(struct fields *f, const json_t *json, const struct scenario *s,
			struct sender_group *g) {
	static const char *const kinds[] = {"reno", "cubic", "cbr", NULL};
	const struct bounds rtts = {0.0001, 10};
	unsigned kind = SENDER_CUBIC;

	*g = (struct sender_group){.count = 1, .bytes = PACKET_MAX, .stop = s->duration};
	g->rtt = 50000000;
	fields_open(f, json);
	fields_choice(f, "kind", kinds, &kind);
	g->kind = (enum sender_kind)kind;
	snprintf(g->label, sizeof(g->label), "%s", kinds[kind]);
	fields_text(f, "label", g->label, sizeof(g->label));
	read_flow_index(f, s, &g->flow);
	fields_number32(f, "count", (struct bounds){1, SCENARIO_MAX_SENDERS}, &g->count);
	fields_number(f, "rtt", rtts, SECOND, &g->rtt);
	g->rtt_max = g->rtt;
	fields_number(f, "rtt_max", rtts, SECOND, &g->rtt_max);
	fields_number(f, "start", times, SECOND, &g->start);
	fields_number(f, "spread", times, SECOND, &g->spread);
	fields_number(f, "stop", times, SECOND, &g->stop);
	fields_number32(f, "bytes", (struct bounds){64, PACKET_MAX}, &g->bytes);
	fields_number(f, "rate", (struct bounds){100, RATE_MAX}, 1, &g->rate);
	if (g->rtt_max < g->rtt)
		fields_mistake(f, "rtt_max", "is less than rtt");
	if ((g->rate != 0) != (g->kind == SENDER_CBR))
		fields_mistake(f, "rate", "required with cbr, and allowed only there");
	fields_close(f);
}

/* A reader of element `index` of an array, whose messages name the element. */
static struct fields element(const struct fields *top, const char *array, uint32_t index) {
	struct fields f = *top;

	snprintf(f.where, sizeof(f.where), "%s[%u].", array, index);
	return f;
}

static void read_channels(struct fields *top, struct scenario *s) {
	const json_t *array =
		fields_array(top, "channels", SCENARIO_MAX_CHANNELS, &s->channel_count);

	for (uint32_t i = 0; i < s->channel_count; i++) {
		struct fields f = element(top, "channels", i);

		fields_open(&f, json_array_get(array, i));
		fields_number(&f, "rate", rates, 1, &s->channel_rates[i]);
		if (s->channel_rates[i] == 0)
			fields_mistake(&f, "rate", "is missing");
		fields_close(&f);
	}
	if (s->channel_count == 0) {
		s->channel_rates[0] = 1890000000; /* OFDM, nominal */
		s->channel_count = 1;
	}
}

static void read_top(struct fields *f, const json_t *json, struct scenario *s) {
	fields_open(f, json);
	fields_number(f, "seed", (struct bounds){0, 1e9}, 1, &s->seed);
	fields_number(f, "duration", (struct bounds){0.1, TIME_MAX}, SECOND, &s->duration);
	fields_number(f, "warmup", times, SECOND, &s->warmup);
	fields_number(f, "sample", (struct bounds){0.001, TIME_MAX}, SECOND, &s->sample);
	if (s->warmup >= s->duration)
		fields_mistake(f, "warmup", "is not less than duration");
}

bool scenario_read(const json_t *json, struct scenario *out, char error[SCENARIO_ERROR]) {
	struct fields top = {.error = error, .error_size = SCENARIO_ERROR}, f;
	const json_t *flows, *changes, *senders;

	error[0] = '\0';
	*out = (struct scenario){.seed = 1, .duration = 30000000000, .sample = 50000000};
	read_top(&top, json, out);
	read_channels(&top, out);
	flows = fields_array(&top, "service_flows", SCENARIO_MAX_FLOWS, &out->flow_count);
	for (uint32_t i = 0; i < out->flow_count; i++) {
		f = element(&top, "service_flows", i);
		read_flow(&f, json_array_get(flows, i), &out->flows[i]);
	}
	if (out->flow_count == 0)
		fields_mistake(&top, "service_flows", "at least one is needed");
	changes = fields_array(&top, "changes", SCENARIO_MAX_CHANGES, &out->change_count);
	for (uint32_t i = 0; error[0] == '\0' && i < out->change_count; i++) {
		f = element(&top, "changes", i);
		read_change(&f, json_array_get(changes, i), out, &out->changes[i]);
	}
	senders = fields_array(&top, "senders", SCENARIO_MAX_GROUPS, &out->group_count);
	for (uint32_t i = 0; error[0] == '\0' && i < out->group_count; i++) {
		f = element(&top, "senders", i);
		read_sender(&f, json_array_get(senders, i), out, &out->groups[i]);
	}
	fields_close(&top);
	return error[0] == '\0';
}

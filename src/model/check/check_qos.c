/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks rates, buffers and queue management of downstream service flows and their modems. */
#include "model/check/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/defaults.h"
#include "model/units.h"

#define TEXT_SIZE 128
#define PROBABILITY_ONE 65536

typedef void format_value(uint64_t value, char text[UNITS_TEXT_SIZE]);

/* Writes limits such as "at least the max_frame of 2 kB". */
static void refuse_beyond(const struct check_context *at, const char *key, const char *relation,
			  const char *other, format_value *format, uint64_t value) {
	char allowed[TEXT_SIZE], text[UNITS_TEXT_SIZE];

	format(value, text);
	snprintf(allowed, sizeof(allowed), "%s the %s of %s", relation, other, text);
	check_refuse(at, key, allowed);
}

/* Reports a key that has no meaning without another one. */
static void refuse_unused(const struct check_context *at, const char *key, const char *without) {
	/* otherwise the key is absent, or the reader has reported its value */
	if (node_field(at->map, key) != NULL)
		check_refuse_without(at, key, without);
}

static void check_burst(const struct check_context *at, const char *key, uint32_t *burst,
			const char *rate_key, uint64_t rate) {
	uint32_t max_frame = at->check->sg->max_frame;

	if (!node_is_valid(at->map, rate_key))
		return;
	if (rate == 0)
		refuse_unused(at, key, rate_key);
	else if (*burst == 0)
		*burst = default_burst(rate);
	else if (*burst < max_frame)
		refuse_beyond(at, key, "at least", "max_frame", units_format_size, max_frame);
}

static void check_rates(const struct check_context *at, struct service_flow *flow) {
	static const char sustained[] = "max_sustained_rate";

	check_burst(at, "max_traffic_burst", &flow->traffic_burst, sustained, flow->sustained_rate);
	if (!node_is_valid(at->map, sustained))
		return;
	if (flow->sustained_rate == 0 && flow->peak_rate != 0)
		refuse_unused(at, "peak_rate", sustained);
	if (flow->sustained_rate == 0)
		return;
	if (flow->peak_rate != 0 && flow->peak_rate < flow->sustained_rate)
		refuse_beyond(at, "peak_rate", "at least", sustained, units_format_rate,
			      flow->sustained_rate);
	if (flow->reserved_rate > flow->sustained_rate)
		refuse_beyond(at, "min_reserved_rate", "at most", sustained, units_format_rate,
			      flow->sustained_rate);
}

static void check_reserved_packet(const struct check_context *at, const struct service_flow *flow) {
	static const char key[] = "min_reserved_packet", rate[] = "min_reserved_rate";
	uint32_t max_frame = at->check->sg->max_frame;

	if (flow->reserved_rate == 0 && node_is_valid(at->map, rate))
		refuse_unused(at, key, rate);
	else if (max_frame != 0 && flow->reserved_packet > max_frame)
		refuse_beyond(at, key, "at most", "max_frame", units_format_size, max_frame);
}

static void check_buffers(const struct check_context *at, struct service_flow *flow) {
	if (flow->buffer == 0)
		return; /* the reader refused it */
	if (flow->min_buffer == 0)
		flow->min_buffer = default_min_buffer(flow->buffer);
	if (flow->max_buffer == 0)
		flow->max_buffer = flow->buffer;
	if (flow->min_buffer > flow->buffer)
		refuse_beyond(at, "min_buffer", "at most", "buffer", units_format_size,
			      flow->buffer);
	if (flow->max_buffer < flow->buffer)
		refuse_beyond(at, "max_buffer", "at least", "buffer", units_format_size,
			      flow->buffer);
}

static void check_thresholds(const struct check_context *at, const struct wred *wred) {
	if (wred->min_threshold < wred->max_threshold)
		return;
	if (node_present(at->map, "max_threshold") != NULL)
		refuse_beyond(at, "max_threshold", "above", "min_threshold", units_format_size,
			      wred->min_threshold);
	else
		refuse_beyond(at, "min_threshold", "below", "max_threshold", units_format_size,
			      wred->max_threshold);
}

static void check_wred(const struct check_context *at, struct service_flow *flow) {
	struct path path = {.up = at->up, .key = "wred"};
	struct check_context inner = {at->check, node_field(at->map, path.key), &path};
	struct wred *wred = &flow->wred;

	/* the reader stored the denominator; 0: it refused the value */
	if (wred->max_probability != 0)
		wred->max_probability =
			(PROBABILITY_ONE + wred->max_probability / 2) / wred->max_probability;
	if (node_present(inner.map, "min_threshold") == NULL)
		wred->min_threshold = flow->buffer / 4;
	if (node_present(inner.map, "max_threshold") == NULL)
		wred->max_threshold = flow->buffer - flow->buffer / 4;
	if (flow->aqm != AQM_WRED)
		refuse_unused(at, path.key, "aqm: wred");
	else if (node_is_valid(at->map, "buffer") && node_is_valid(inner.map, "min_threshold") &&
		 node_is_valid(inner.map, "max_threshold"))
		check_thresholds(&inner, wred);
}

void check_flow_qos(struct check *check, const struct node *map, struct service_flow *flow,
		    const struct path *up) {
	struct check_context at = {check, map, up};

	check_rates(&at, flow);
	check_reserved_packet(&at, flow);
	check_buffers(&at, flow);
	if (!node_is_valid(map, "aqm"))
		return;
	check_wred(&at, flow);
	if (flow->aqm != AQM_DOCSIS_PIE)
		refuse_unused(&at, "latency_target", "aqm: docsis-pie");
}

void check_modem_qos(struct check *check, const struct node *map, struct modem *modem,
		     const struct path *up) {
	static const char key[] = "max_aggregate_rate";
	struct check_context at = {check, map, up};
	char allowed[TEXT_SIZE], text[UNITS_TEXT_SIZE];
	uint64_t reserved = 0;

	check_burst(&at, "max_aggregate_burst", &modem->aggregate_burst, key,
		    modem->aggregate_rate);
	for (size_t i = 0; i < modem->service_flow_count; i++) {
		if (modem->service_flows[i].active)
			reserved += modem->service_flows[i].reserved_rate;
	}
	if (modem->aggregate_rate == 0 || reserved <= modem->aggregate_rate)
		return;
	units_format_rate(reserved, text);
	snprintf(allowed, TEXT_SIZE, "at least %s, the sum of its flows' min_reserved_rate", text);
	check_refuse(&at, key, allowed);
}

uint64_t check_capacity(const struct service_group *sg, const struct bonding_group *group) {
	uint64_t capacity = 0;

	for (size_t i = 0; i < group->channel_count; i++) {
		uint64_t rate = sg->channels[group->channels[i]].rate;

		if (rate == 0)
			return 0;
		capacity += rate;
	}
	return capacity;
}

static void report_overbooked(struct check *check, const struct node *map, uint64_t capacity,
			      uint64_t reserved, size_t index) {
	struct path groups = {.key = "bonding_groups"}, item = {.up = &groups, .index = index};
	struct path path = {.up = &item, .key = "channels"};
	char rate[UNITS_TEXT_SIZE], needed[UNITS_TEXT_SIZE];

	units_format_rate(capacity, rate);
	units_format_rate(reserved, needed);
	errors_say(check->errors, node_present(map, "channels")->line, &path,
		   "the channels have %s, but the flows on them reserve %s (min_reserved_rate)",
		   rate, needed);
}

static void add_reserved(const struct modem *modem, uint64_t *reserved) {
	for (size_t i = 0; i < modem->service_flow_count; i++) {
		const struct service_flow *flow = &modem->service_flows[i];

		if (flow->active && flow->bonding_group != ID_UNKNOWN)
			reserved[flow->bonding_group] += flow->reserved_rate;
	}
}

void check_reserved(struct check *check, struct node *root) {
	const struct service_group *sg = check->sg;
	struct node *list = node_field(root, "bonding_groups");
	uint64_t *reserved = calloc(sg->bonding_group_count + 1, sizeof(*reserved));
	size_t i = 0;

	if (reserved == NULL) {
		errors_add_no_memory(check->errors);
		return;
	}
	for (size_t m = 0; m < sg->modem_count; m++)
		add_reserved(&sg->modems[m], reserved);
	for (struct node *item = list != NULL ? list->first : NULL; item != NULL;
	     item = item->next) {
		uint64_t capacity = check_capacity(sg, &sg->bonding_groups[i]);

		if (capacity != 0 && reserved[i] > capacity)
			report_overbooked(check, node_resolve(item), capacity, reserved[i], i);
		i++;
	}
	free(reserved);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes stages, drop reasons, counters and metrics. */
#include "sharing/sharing.h"
#include "telemetry/metrics/describe.h"
#include "telemetry/report.h"

/* Names of the queues that a stage uses in addition to the burst, or instead of it. */
static void stage_queues(json_t *entry, const struct stage_list *list, const struct stage *s) {
	json_t *also = json_array();

	if (s->input_queue != 0)
		json_object_set_new(entry, "from", json_string(list->queues[s->input_queue].name));
	if (s->output_queue != 0)
		json_object_set_new(entry, "gives",
				    json_string(list->queues[s->output_queue].name));
	for (unsigned q = 1; q < list->queue_count; q++) {
		if ((s->other_queues & STAGE_TO(q)) != 0)
			json_array_append_new(also, json_string(list->queues[q].name));
	}
	if (json_array_size(also) > 0)
		json_object_set_new(entry, "also", also);
	else
		json_decref(also);
}

static json_t *queues_json(const struct stage_list *list) {
	json_t *queues = json_array();

	for (unsigned q = 1; q < list->queue_count; q++)
		json_array_append_new(queues, json_pack("{s:s, s:s}", "name", list->queues[q].name,
							"about", list->queues[q].about));
	return queues;
}

/* Names of the drop reasons and counters of a stage. */
static void stage_counts(json_t *entry, const struct stage *s) {
	json_t *drops = json_array(), *counters = json_array();

	for (const enum drop_reason *r = s->drops; r != NULL && *r != DROP_NONE; r++)
		json_array_append_new(drops, json_string(drop_name(*r)));
	for (const enum counter *c = s->counters; c != NULL && *c != COUNTERS; c++)
		json_array_append_new(counters, json_string(counter_name(*c)));
	json_object_set_new(entry, "drops", drops);
	json_object_set_new(entry, "counters", counters);
}

static json_t *list_json(const struct stage_list *list) {
	json_t *stages = json_array();

	for (unsigned i = 0; i < list->count; i++) {
		const struct stage *s = &list->stages[i];

		json_t *entry = json_pack("{s:s, s:s, s:s}", "name", s->name, "about", s->about,
					  "dpdk", s->dpdk);

		stage_queues(entry, list, s);
		stage_counts(entry, s);
		json_array_append_new(stages, entry);
	}
	return json_pack("{s:s, s:o, s:o}", "name", list->name, "stages", stages, "queues",
			 queues_json(list));
}

/* Names and meanings of all drop reasons and counters of a direction. */
static json_t *names_json(enum direction direction, json_t *lists) {
	json_t *drops = json_object(), *values = json_object();

	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (drop_in((enum drop_reason)r, direction))
			json_object_set_new(drops, drop_name((enum drop_reason)r),
					    json_pack("{s:s, s:s}", "unit",
						      unit_name(drop_unit((enum drop_reason)r)),
						      "meaning",
						      drop_meaning((enum drop_reason)r)));
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		if (counter_in((enum counter)i, direction))
			json_object_set_new(values, counter_name((enum counter)i),
					    json_string(counter_meaning((enum counter)i)));
	}
	return json_pack("{s:o, s:o, s:o}", "lists", lists, "drops", drops, "counters", values);
}

json_t *report_describe(void) {
	json_t *down = json_array(), *up = json_array(), *port = json_array();

	for (unsigned l = 0; l < DS_PIPELINES; l++)
		json_array_append_new(down, list_json(&ds_lists[l]));
	for (unsigned l = 0; l < US_PIPELINES; l++)
		json_array_append_new(up, list_json(&us_lists[l]));
	for (unsigned l = 0; l < SHARE_LISTS; l++)
		json_array_append_new(port, list_json(&share_lists[l]));
	return json_pack("{s:o, s:o, s:o, s:o}", "downstream", names_json(DIRECTION_DOWN, down),
			 "upstream", names_json(DIRECTION_UP, up), "shared_port",
			 names_json(DIRECTION_PORT, port), "metrics", metrics_describe());
}

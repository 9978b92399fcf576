/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/describe.h"

#include "telemetry/metrics/walk.h"

static json_t *labels_json(const struct metric *m) {
	json_t *labels = json_array();

	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++)
		json_array_append_new(labels, json_string(m->labels[l]));
	return labels;
}

json_t *metrics_describe(void) {
	static const char *const wanted[] = {
		[SCOPE_PLAIN] = "always",
		[SCOPE_OF_GROUP] = "always",
		[SCOPE_OF_MODEM] = "modems",
		[SCOPE_OF_FLOW] = "flows",
	};
	json_t *list = json_array();
	unsigned count;
	const struct metric_entry *entries = metric_entries(&count);

	for (unsigned r = 0; r < count; r++) {
		const struct metric *m = &entries[r].m;

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:o, s:s, s:s}", "name", m->name,
						"type", metric_type_name(m->type), "unit", m->unit,
						"labels", labels_json(m), "help", m->help, "wanted",
						wanted[entries[r].wanted]));
	}
	return list;
}

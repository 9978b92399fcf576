/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/report_latency.h"

#include "pipeline/percentiles.h"

struct latency *report_latency_of(const struct served_group *g, enum direction direction) {
	struct latency *l = NULL;

	if (g->downstream == NULL) /* the slot is free */
		return NULL;
	if (direction == DIRECTION_DOWN)
		l = &g->downstream->latency;
	else if (g->upstream != NULL)
		l = &g->upstream->latency;
	return l != NULL && latency_measured(l) ? l : NULL;
}

static json_t *report_latency_json(const struct served_group *groups, unsigned count,
				   enum direction direction, bool recent) {
	struct hdr_histogram *all = percentiles_create();
	bool measured = false;
	json_t *json;

	for (unsigned g = 0; all != NULL && g < count; g++) {
		struct latency *l = report_latency_of(&groups[g], direction);

		if (l == NULL)
			continue;
		latency_readers_lock();
		latency_collect(l);
		hdr_add(all, recent ? l->recent : l->whole);
		if (recent)
			latency_reset(l);
		latency_readers_unlock();
		measured = true;
	}
	json = measured ? percentiles_json(all) : json_null();
	if (all != NULL)
		hdr_close(all);
	return json;
}

json_t *report_latency_whole(const struct served_group *groups, unsigned count,
			     enum direction direction) {
	return report_latency_json(groups, count, direction, false);
}

json_t *report_latency_reset(const struct served_group *groups, unsigned count,
			     enum direction direction) {
	return report_latency_json(groups, count, direction, true);
}

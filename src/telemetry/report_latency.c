/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/report_latency.h"

#include "pipeline/percentiles.h"

struct latency *report_latency_of(const struct instance *i, enum direction direction) {
	struct latency *l = NULL;

	if (direction == DIRECTION_DOWN)
		l = &i->downstream->latency;
	else if (i->upstream != NULL)
		l = &i->upstream->latency;
	return l != NULL && latency_measured(l) ? l : NULL;
}

json_t *report_latency_whole(const struct instance *i, enum direction direction) {
	struct latency *l = report_latency_of(i, direction);

	if (l == NULL)
		return json_null();
	latency_collect(l);
	return percentiles_json(l->whole);
}

json_t *report_latency_take(const struct instance *i, enum direction direction) {
	struct latency *l = report_latency_of(i, direction);
	json_t *json;

	if (l == NULL)
		return json_null();
	latency_collect(l);
	json = percentiles_json(l->recent);
	latency_reset(l);
	return json;
}

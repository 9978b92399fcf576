/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/latency_methods.h"

#include "pipeline/percentiles.h"
#include "telemetry/report_latency.h"

/* One entry per key, laid out as a table. */
/* clang-format off */
const struct key latency_get_params[] = {
	GROUP_KEY(struct latency_get_params, group),
	{.name = "reset", BOOL, AT(struct latency_get_params, reset), .fallback = "false",
	 HELP("reset the recent latencies after this response")},
	{0},
};

#define US_KEY(key, text)                                                                  \
	{.name = (key), .kind = KIND_REAL, .example = "1", HELP(text)}
static const struct key percentile_keys[] = {
	{.name = "packets", .required = true, INTEGER(0, INT64_MAX), .example = "1000",
	 HELP("packets since the last reset or since measuring began; 0: the other keys are "
	      "absent")},
	US_KEY("mean", "mean, in us"),
	US_KEY("p50", "median, in us"),
	US_KEY("p90", "90th percentile, in us"),
	US_KEY("p99", "99th percentile, in us"),
	US_KEY("p99_9", "99.9th percentile, in us"),
	US_KEY("p99_99", "99.99th percentile, in us"),
	US_KEY("p99_999", "99.999th percentile, in us"),
	US_KEY("max", "maximum, in us"),
	{.name = "histogram", .kind = KIND_LIST, .max = PERCENTILES_BUCKETS, .item = &bucket_item,
	 HELP("non-empty buckets of the histogram")},
	{0},
};
const struct key latency_get_result[] = {
	{.name = "downstream", .kind = KIND_MAP, .keys = percentile_keys,
	 HELP("latency downstream; absent if not measured")},
	{.name = "upstream", .kind = KIND_MAP, .keys = percentile_keys,
	 HELP("latency upstream; absent if not measured")},
	{0},
};
/* clang-format on */

static json_t *latency_json(const struct latency *l) {
	json_t *json = json_pack("{s:I}", "packets", (json_int_t)l->recent->total_count);
	json_t *figures = percentiles_json(l->recent);

	if (json_is_object(figures))
		json_object_update(json, figures);
	json_decref(figures);
	return json;
}

static void put_latency(json_t *answer, const char *name, const struct served_group *g,
			enum direction direction, bool reset) {
	struct latency *l = report_latency_of(g, direction);

	if (l == NULL)
		return;
	latency_readers_lock();
	latency_collect(l);
	json_object_set_new(answer, name, latency_json(l));
	if (reset)
		latency_reset(l);
	latency_readers_unlock();
}

json_t *latency_get(struct rpc_call *call) {
	const struct latency_get_params *p = call->params;
	const struct served_group *g = subject_group(call, &p->group);
	json_t *answer;

	if (g == NULL)
		return NULL;
	answer = json_object();
	put_latency(answer, "downstream", g, DIRECTION_DOWN, p->reset);
	put_latency(answer, "upstream", g, DIRECTION_UP, p->reset);
	return answer;
}

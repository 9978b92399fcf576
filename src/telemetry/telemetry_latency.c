/* SPDX-License-Identifier: BSD-3-Clause */
/* What is answered of the time that packets stay in the pipeline. */
#include "telemetry/telemetry_latency.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/percentiles.h"
#include "telemetry/report_latency.h"
#include "telemetry/telemetry_answer.h"

#define PART 128 /* buckets in an answer, which has at most 16 kB in DPDK 22.11 */

static const struct {
	const char *name;
	enum direction direction;
} directions[] = {{"downstream", DIRECTION_DOWN}, {"upstream", DIRECTION_UP}};

static uint64_t latency_ns(double us) {
	return (uint64_t)(us * 1e3 + 0.5);
}

static void put_percentiles(struct rte_tel_data *d, const struct hdr_histogram *h) {
	struct percentiles p = percentiles_us(h);

	telemetry_put(d, "packets", (uint64_t)h->total_count);
	telemetry_put(d, "mean_ns", latency_ns(p.mean));
	telemetry_put(d, "p50_ns", latency_ns(p.p50));
	telemetry_put(d, "p90_ns", latency_ns(p.p90));
	telemetry_put(d, "p99_ns", latency_ns(p.p99));
	telemetry_put(d, "p99_9_ns", latency_ns(p.p99_9));
	telemetry_put(d, "p99_99_ns", latency_ns(p.p99_99));
	telemetry_put(d, "p99_999_ns", latency_ns(p.p99_999));
	telemetry_put(d, "max_ns", latency_ns(p.max));
}

/* The histogram from `from` ns on, as far as it goes into an answer. */
static void latency_put_histogram(struct rte_tel_data *d, const struct hdr_histogram *h,
				  uint64_t from) {
	struct percentiles_bucket buckets[PERCENTILES_BUCKETS];
	unsigned count = percentiles_buckets(h, buckets), told = 0;

	for (unsigned b = 0; b < count && told < PART; b++) {
		char name[TELEMETRY_NUMBER];

		if (buckets[b].ns < from)
			continue;
		snprintf(name, sizeof(name), "%" PRIu64, buckets[b].ns);
		telemetry_put(d, name, buckets[b].packets);
		told++;
	}
}

/* All that is measured. */
static int answer_all(const struct served_group *g, bool reset, struct rte_tel_data *d) {
	rte_tel_data_start_dict(d);
	for (unsigned n = 0; n < RTE_DIM(directions); n++) {
		struct latency *l = report_latency_of(g, directions[n].direction);
		struct rte_tel_data *in;

		if (l == NULL)
			continue;
		latency_collect(l);
		in = telemetry_inner_named(d, directions[n].name);
		if (in != NULL)
			put_percentiles(in, l->recent);
		if (reset)
			latency_reset(l);
	}
	return 0;
}

static int answer_histogram(const struct served_group *g, enum direction direction,
			    const char *from, struct rte_tel_data *d) {
	struct latency *l = report_latency_of(g, direction);
	uint64_t first = 0;

	if (*from != '\0' && !telemetry_number(from + 1, UINT64_MAX, &first))
		return telemetry_complain(d, "found no time, allowed: the ns to begin with");
	rte_tel_data_start_dict(d);
	if (l == NULL)
		return 0;
	latency_collect(l);
	latency_put_histogram(d, l->recent, first);
	return 0;
}

static int answer(const struct served_group *g, const char *params, struct rte_tel_data *d) {
	bool reset = params != NULL && strcmp(params, "reset") == 0;

	if (params == NULL || reset)
		return answer_all(g, reset, d);
	for (unsigned n = 0; n < RTE_DIM(directions); n++) {
		size_t size = strlen(directions[n].name);

		if (strncmp(params, directions[n].name, size) == 0 &&
		    (params[size] == '\0' || params[size] == ' '))
			return answer_histogram(g, directions[n].direction, params + size, d);
	}
	return telemetry_complain(d, "found no direction, allowed: downstream, upstream or reset");
}

/* Clients of the socket have a thread each. */
int telemetry_latency(struct served_group *g, const char *params, struct rte_tel_data *d) {
	int ret;

	latency_readers_lock();
	ret = answer(g, params, d);
	latency_readers_unlock();
	return ret;
}

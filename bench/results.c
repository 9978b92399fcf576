/* SPDX-License-Identifier: BSD-3-Clause */
#include "results.h"

#include <stdlib.h>

static int by_cycles(const void *a, const void *b) {
	const struct bench_run *x = a, *y = b;

	return (x->cycles > y->cycles) - (x->cycles < y->cycles);
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of a double at `offset` bytes in each of `count` runs. */
static double median_at(const struct bench_run *runs, unsigned count, size_t offset) {
	double values[BENCH_MAX_RUNS];

	for (unsigned i = 0; i < count; i++)
		values[i] = *(const double *)((const char *)&runs[i] + offset);
	qsort(values, count, sizeof(values[0]), by_value);
	return values[count / 2];
}

static json_t *stages(struct bench *b, const struct bench_direction *d,
		      const struct bench_run *run) {
	json_t *out = json_object();

	for (unsigned l = 0; l < d->list_count; l++) {
		const struct pipeline *p = d->list(b, l);

		for (unsigned s = 0; s < p->count; s++)
			json_object_set_new(out, p->stages[s].name, json_real(run->stages[l][s]));
	}
	return out;
}

/* Reference cycles of all stages of a list. */
static double list_cycles(struct bench *b, const struct bench_direction *d,
			  const struct bench_run *run, unsigned list) {
	double cycles = 0;

	for (unsigned s = 0; s < d->list(b, list)->count; s++)
		cycles += run->stages[list][s];
	return cycles;
}

/* Throughput of two cores, which the slower one limits. The lower MAC is the last list. `bits_hz`: bits of a
 * packet times reference cycles per second. */
static json_t *pair_json(struct bench *b, const struct bench_direction *d,
			 const struct bench_run *run, double bits_hz) {
	double lower = list_cycles(b, d, run, d->list_count - 1);
	double upper = run->cycles - lower;
	double gbps = bits_hz / RTE_MAX(upper, lower) / 1e9;

	return json_pack("{s:f, s:f, s:s, s:f, s:f}", "upper_mac", upper, "lower_mac", lower,
			 "bound_by", upper > lower ? "upper_mac" : "lower_mac", "gbps", gbps,
			 "gbps_per_core", gbps / 2);
}

/* Cycles per packet of every run, to compare two files. */
static json_t *values_json(const struct bench_run *runs, unsigned count) {
	json_t *values = json_array();

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(values, json_real(runs[i].cycles));
	return values;
}

/* The stages are those of the run with median cycles. The bound, and the cycles of latencies and without
 * accounting, have medians of their own. */
json_t *bench_result(struct bench *b, const struct bench_direction *d, const char *mix,
		     struct bench_run *runs, unsigned count, const struct host *host) {
	const struct bench_run *median = &runs[count / 2];
	double mean, bound, plain, latency;
	json_t *result;

	qsort(runs, count, sizeof(runs[0]), by_cycles);
	mean = (double)median->bytes / (double)median->packets;
	bound = median_at(runs, count, offsetof(struct bench_run, bound));
	plain = median_at(runs, count, offsetof(struct bench_run, plain_cycles));
	latency = median_at(runs, count, offsetof(struct bench_run, latency_cycles));
	result = json_pack(
		"{s:s, s:s, s:i, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:f, s:f}",
		"direction", d->name, "mix", mix, "threads", (int)b->threads, "mean_bytes", mean,
		"cycles_per_packet", median->cycles, "stages", stages(b, d, median),
		"gbps_per_core", mean * 8 * (double)host->tsc_hz / median->cycles / 1e9,
		"crypto_bound_cycles", bound, "share_of_crypto_bound", bound / median->cycles,
		"cycles_without_accounting", plain, "cycles_latency", latency,
		"core_cycles_per_packet",
		median->cycles * (double)host->core_hz / (double)host->tsc_hz, "runs", (int)count,
		"min", runs[0].cycles, "max", runs[count - 1].cycles);
	json_object_set_new(result, "values", values_json(runs, count));
	if (b->threads == 2)
		json_object_set_new(result, "pair",
				    pair_json(b, d, median, mean * 8 * (double)host->tsc_hz));
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench: what a packet costs, stage by stage, as JSON. `vcmts bench pipeline` shows it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "commands.h"
#include "model/loader.h"
#include "pipeline.h"
#include "platform/platform.h"
#include "report.h"

#define MAX_RUNS 101
#define MAX_MIXES 32

struct bench_options {
	const char *config;
	const char *json;
	const char *mixes[MAX_MIXES];
	unsigned mix_count;
	unsigned runs;
	unsigned milliseconds;
};

static const char *const default_mixes[] = {"imix", "84", "256", "512", "1024", "1280", "1518"};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"mix", 'm', "MIX", 0, "imix, a size, or 84:15,256:10,1280:75; may be repeated", 0},
	{"runs", 'n', "N", 0, "runs of each mix, the median is shown (default 5)", 0},
	{"milliseconds", 't', "N", 0, "length of a run (default 1000)", 0},
	{"json", 'j', "FILE", 0, "where to write the results, - for stdout (default)", 0},
	{0},
};

static unsigned number(const char *text, unsigned low, unsigned high, struct argp_state *state) {
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value < low || value > high)
		argp_error(state, "found \"%s\", allowed: %u to %u", text, low, high);
	return (unsigned)value;
}

static error_t option(int key, char *value, struct argp_state *state) {
	struct bench_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'j': o->json = value; return 0;
	case 'm':
		if (o->mix_count == MAX_MIXES)
			argp_error(state, "--mix: at most %d", MAX_MIXES);
		o->mixes[o->mix_count++] = value;
		return 0;
	case 'n': o->runs = number(value, 1, MAX_RUNS, state); return 0;
	case 't': o->milliseconds = number(value, 10, 600000, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int by_cycles(const void *a, const void *b) {
	const struct bench_run *x = a, *y = b;

	return (x->cycles > y->cycles) - (x->cycles < y->cycles);
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of `count` numbers that stand `offset` bytes into each run. */
static double median_at(const struct bench_run *runs, unsigned count, size_t offset) {
	double values[MAX_RUNS];

	for (unsigned i = 0; i < count; i++)
		values[i] = *(const double *)((const char *)&runs[i] + offset);
	qsort(values, count, sizeof(values[0]), by_value);
	return values[count / 2];
}

static json_t *stages_json(const struct bench_run *run) {
	json_t *stages = json_object();

	for (unsigned l = 0; l < DS_PIPELINES; l++) {
		for (unsigned s = 0; s < ds_lists[l].count; s++)
			json_object_set_new(stages, ds_lists[l].stages[s].name,
					    json_real(run->stages[l][s]));
	}
	return stages;
}

/* `runs` are sorted by their cycles; the stages are those of the median run. */
static json_t *result_json(const char *mix, const struct bench_run *runs, unsigned count,
			   const struct host *host) {
	const struct bench_run *median = &runs[count / 2];
	double mean = (double)median->bytes / (double)median->packets;
	double bound = median_at(runs, count, offsetof(struct bench_run, bound));
	double plain = median_at(runs, count, offsetof(struct bench_run, plain_cycles));

	return json_pack("{s:s, s:s, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:i, s:f, s:f}",
			 "direction", "downstream", "mix", mix, "mean_bytes", mean,
			 "cycles_per_packet", median->cycles, "stages", stages_json(median),
			 "gbps_per_core", mean * 8 * (double)host->tsc_hz / median->cycles / 1e9,
			 "crypto_bound_cycles", bound, "share_of_crypto_bound",
			 bound / median->cycles, "cycles_without_accounting", plain,
			 "core_cycles_per_packet",
			 median->cycles * (double)host->core_hz / (double)host->tsc_hz, "runs",
			 (int)count, "min", runs[0].cycles, "max", runs[count - 1].cycles);
}

/* All runs of one mix. Returns NULL after a message. */
static json_t *measure_mix(struct bench *b, const char *text, const struct bench_options *o,
			   const struct host *host) {
	struct bench_run runs[MAX_RUNS];
	char error[160];
	struct mix mix;

	if (mix_parse(text, b->instance.sg->max_frame - RTE_ETHER_CRC_LEN, &mix, error,
		      sizeof(error)) != 0) {
		fprintf(stderr, "--mix: %s\n", error);
		return NULL;
	}
	for (unsigned i = 0; i < o->runs; i++) {
		fprintf(stderr, "%s: run %u of %u\n", text, i + 1, o->runs);
		if (bench_run(b, &mix, o->milliseconds, i + 1, &runs[i]) != 0)
			return NULL;
		if (!runs[i].proven || runs[i].bound == 0) {
			fprintf(stderr, "%s: run %u: %s\n", text, i + 1,
				runs[i].proven ? "no buffers for the crypto bound"
					       : "not every packet was proven");
			return NULL;
		}
	}
	qsort(runs, o->runs, sizeof(runs[0]), by_cycles);
	return result_json(text, runs, o->runs, host);
}

static int measure(struct bench *b, const struct bench_options *o) {
	json_t *results = json_array(), *root;
	struct host host;
	int ret = 0;

	host_measure(&host);
	for (unsigned i = 0; i < o->mix_count && ret == 0; i++) {
		json_t *result = measure_mix(b, o->mixes[i], o, &host);

		if (result == NULL)
			ret = -1;
		else
			json_array_append_new(results, result);
	}
	root = json_pack("{s:o, s:s, s:{s:s, s:I, s:I, s:b}}", "results", results, "configuration",
			 b->instance.sg->name, "host", "cpu", host.cpu, "tsc_hz",
			 (json_int_t)host.tsc_hz, "core_hz", (json_int_t)host.core_hz, "huge_pages",
			 platform_has_huge_pages());
	if (ret == 0)
		ret = report_write(root, o->json);
	json_decref(root);
	return ret;
}

static int bench(const struct bench_options *o, const struct service_group *sg) {
	struct platform_options p = {
		.program = "vcmts-bench",
		.main_core = PLATFORM_ANY_CORE,
		.memory_mb = instance_memory_mb(sg) * 2,
	};
	struct bench *b = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*b));
	int ret = -1;

	if (b != NULL && platform_start(&p) == 0) {
		memset(b, 0, sizeof(*b));
		if (bench_create(b, sg) == 0)
			ret = measure(b, o);
		bench_free(b);
		platform_stop();
	}
	free(b);
	return ret == 0 ? 0 : EXIT_TROUBLE;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Measures the cycles of a packet in each stage of the downstream.",
	};
	struct bench_options o = {.json = "-", .runs = 5, .milliseconds = 1000};
	struct service_group sg = {0};
	int status;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.config == NULL || service_group_load(o.config, &sg, stderr) != 0) {
		if (o.config == NULL)
			fprintf(stderr, "--config: a file is needed\n");
		return EXIT_MISTAKE;
	}
	if (o.mix_count == 0) {
		o.mix_count = RTE_DIM(default_mixes);
		memcpy(o.mixes, default_mixes, sizeof(default_mixes));
	}
	status = bench(&o, &sg);
	service_group_free(&sg);
	return status;
}

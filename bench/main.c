/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench: what a packet costs, stage by stage, as JSON. `vcmts bench pipeline` shows it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "commands.h"
#include "direction.h"
#include "model/loader.h"
#include "pipeline.h"
#include "platform/platform.h"
#include "program.h"
#include "report.h"
#include "results.h"

#define MAX_MIXES 32
#define DIRECTIONS 2

static const struct bench_direction *const directions[DIRECTIONS] = {
	&bench_downstream,
	&bench_upstream,
};

struct bench_options {
	const char *config;
	const char *json;
	const char *direction; /* NULL: both */
	const char *mixes[MAX_MIXES];
	unsigned mix_count;
	unsigned runs;
	unsigned milliseconds;
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"direction", 'd', "WHICH", 0, "downstream, upstream or both (default)", 0},
	{"mix", 'm', "MIX", 0,
	 "imix, upstream-imix, a size, or 84:15,256:10,1280:75; may be repeated", 0},
	{"runs", 'n', "N", 0, "runs of each mix, the median is shown (default 5)", 0},
	{"milliseconds", 't', "N", 0, "length of a run (default 900)", 0},
	{"json", 'j', "FILE", 0, "where to write the results, - for stdout (default)", 0},
	{0},
};

static const char *direction(const char *text, struct argp_state *state) {
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		if (strcmp(text, directions[d]->name) == 0)
			return directions[d]->name;
	}
	if (strcmp(text, "both") != 0)
		argp_error(state, "--direction: found \"%s\", allowed: downstream, upstream, both",
			   text);
	return NULL;
}

static error_t option(int key, char *value, struct argp_state *state) {
	struct bench_options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'd': o->direction = direction(value, state); return 0;
	case 'j': o->json = value; return 0;
	case 'm':
		if (o->mix_count == MAX_MIXES)
			argp_error(state, "--mix: at most %d", MAX_MIXES);
		o->mixes[o->mix_count++] = value;
		return 0;
	case 'n': o->runs = program_number(value, 1, BENCH_MAX_RUNS, state); return 0;
	case 't': o->milliseconds = program_number(value, 10, 600000, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* One run, into `out`. Returns 0, or -1 after a message. */
static int measure_run(struct bench *b, const struct bench_direction *d, const struct mix *mix,
		       const struct bench_options *o, unsigned number, struct bench_run *out) {
	if (bench_run(b, d, mix, o->milliseconds, number, out) != 0)
		return -1;
	if (out->proven && out->bound >= 0 && out->cycles > 0)
		return 0;
	fprintf(stderr, "run %u: %s\n", number,
		!out->proven	 ? "not every packet was proven"
		: out->bound < 0 ? "no buffers for the crypto bound"
				 : "too short");
	return -1;
}

/* All runs of one mix. Returns NULL after a message. */
static json_t *measure_mix(struct bench *b, const struct bench_direction *d, const char *text,
			   const struct bench_options *o, const struct host *host) {
	struct bench_run runs[BENCH_MAX_RUNS];
	char error[160];
	struct mix mix;

	if (mix_parse(text, b->instance.sg->max_frame - RTE_ETHER_CRC_LEN, &mix, error,
		      sizeof(error)) != 0) {
		fprintf(stderr, "--mix: %s\n", error);
		return NULL;
	}
	for (unsigned i = 0; i < o->runs; i++) {
		fprintf(stderr, "%s, %s: run %u of %u\n", d->name, text, i + 1, o->runs);
		if (measure_run(b, d, &mix, o, i + 1, &runs[i]) != 0)
			return NULL;
	}
	return bench_result(b, d, text, runs, o->runs, host);
}

/* Appends a result a mix. Returns 0, or -1 after a message. */
static int measure_direction(struct bench *b, const struct bench_direction *d,
			     const struct bench_options *o, const struct host *host,
			     json_t *results) {
	const char *const *mixes = o->mix_count > 0 ? o->mixes : d->mixes;
	unsigned count = o->mix_count > 0 ? o->mix_count : d->mix_count;

	for (unsigned i = 0; i < count; i++) {
		json_t *result = measure_mix(b, d, mixes[i], o, host);

		if (result == NULL)
			return -1;
		json_array_append_new(results, result);
	}
	return 0;
}

/* Whether a direction is asked for, and there. */
static bool is_measured(const struct bench_direction *d, const struct bench_options *o,
			const struct service_group *sg) {
	if (d == &bench_upstream && sg->upstream_channel_count == 0)
		return false;
	return o->direction == NULL || o->direction == d->name;
}

static int measure(struct bench *b, const struct bench_options *o) {
	const struct service_group *sg = b->instance.sg;
	json_t *results = json_array(), *root;
	struct host host;
	int ret = 0;

	host_measure(&host);
	for (unsigned d = 0; d < DIRECTIONS && ret == 0; d++) {
		if (is_measured(directions[d], o, sg))
			ret = measure_direction(b, directions[d], o, &host, results);
	}
	root = program_report(results, &host);
	json_object_set_new(root, "configuration", json_string(sg->name));
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
		.doc = "Measures the cycles of a packet in each stage of both directions.",
	};
	struct bench_options o = {.json = "-", .runs = 5, .milliseconds = 900};
	struct service_group sg = {0};
	int status;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.config == NULL || service_group_load(o.config, &sg, stderr) != 0) {
		if (o.config == NULL)
			fprintf(stderr, "--config: a file is needed\n");
		return EXIT_MISTAKE;
	}
	if (o.direction == bench_upstream.name && sg.upstream_channel_count == 0) {
		fprintf(stderr,
			"--direction upstream: the configuration has no upstream channels\n");
		status = EXIT_MISTAKE;
	} else {
		status = bench(&o, &sg);
	}
	service_group_free(&sg);
	return status;
}

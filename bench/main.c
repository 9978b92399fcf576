/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench: what a packet costs, stage by stage, as JSON. `vcmts bench pipeline` shows it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "commands.h"
#include "direction.h"
#include "footprint.h"
#include "model/loader.h"
#include "pair.h"
#include "pipeline.h"
#include "platform/platform.h"
#include "program.h"
#include "report.h"
#include "results.h"
#include "targets.h"

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
	bool published; /* of the mixes that are measured where none is asked for, the first */
	unsigned runs;
	unsigned milliseconds;
	unsigned threads;
	unsigned cores[2]; /* of upper and lower MAC, with two threads */
	double load_seconds;
	uint64_t configuration_bytes;
	unsigned flows; /* of the traffic; 0: as many as it has by itself */
};

/* How far the measurement is, in runs. */
struct done {
	unsigned runs, total;
};

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "service group, YAML", 0},
	{"direction", 'd', "WHICH", 0, "downstream, upstream or both (default)", 0},
	{"mix", 'm', "MIX", 0,
	 "imix, upstream-imix, a size, or 84:15,256:10,1280:75; may be repeated", 0},
	{"published", 'p', NULL, 0, "the published mix of each direction alone", 0},
	{"runs", 'n', "N", 0, "runs of each mix, the median is shown (default 5)", 0},
	{"milliseconds", 't', "N", 0, "length of a run (default 900)", 0},
	{"threads", 'T', "N", 0,
	 "2: upper and lower MAC on a core each, at the same time; downstream only (default 1)", 0},
	{"flows", 'f', "N", 0,
	 "addresses, protocols and ports that differ, downstream (default: one for each address "
	 "and kind of packet)",
	 0},
	PROGRAM_PROGRESS_OPTION,
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
	case 'f': o->flows = program_number(value, 1, FLOWS_MAX, state); return 0;
	case 'T': o->threads = program_number(value, 1, 2, state); return 0;
	case PROGRAM_PROGRESS_KEY: program_tells_progress(); return 0;
	case 'p': o->published = true; return 0;
	case 'n': o->runs = program_number(value, 1, BENCH_MAX_RUNS, state); return 0;
	case 't': o->milliseconds = program_number(value, 10, 600000, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* One run, into `out`. Returns 0, or -1 after a message or when it was asked to stop. */
static int measure_run(struct bench *b, const struct bench_direction *d, const struct mix *mix,
		       const struct bench_options *o, unsigned number, struct bench_run *out) {
	if (program_stopped() || bench_run(b, d, mix, o->milliseconds, number, out) != 0 ||
	    program_stopped())
		return -1;
	if (out->proven && out->bound >= 0 && out->cycles > 0)
		return 0;
	fprintf(stderr, "run %u: %s\n", number,
		!out->proven	 ? "not every packet was proven"
		: out->bound < 0 ? "no buffers for the crypto bound"
				 : "too short");
	return -1;
}

/*
 * All runs of one mix; of those that there were before it was stopped or one failed, the result is
 * appended. Returns 0, or -1 when some are missing.
 */
static int measure_mix(struct bench *b, const struct bench_direction *d, const char *text,
		       const struct bench_options *o, const struct host *host, struct done *done,
		       json_t *results) {
	struct bench_run runs[BENCH_MAX_RUNS];
	unsigned count = 0;
	char error[MIX_ERROR];
	struct mix mix;

	if (mix_parse(text, b->instance.sg->max_frame - RTE_ETHER_CRC_LEN, &mix, error,
		      sizeof(error)) != 0) {
		fprintf(stderr, "--mix: %s\n", error);
		return -1;
	}
	for (; count < o->runs; count++) {
		program_progress(done->runs, done->total, "%s, %s: run %u of %u", d->name, text,
				 count + 1, o->runs);
		if (measure_run(b, d, &mix, o, count + 1, &runs[count]) != 0)
			break;
		done->runs++;
	}
	if (count > 0)
		json_array_append_new(results, bench_result(b, d, text, runs, count, host));
	return count == o->runs ? 0 : -1;
}

static unsigned mixes_of(const struct bench_direction *d, const struct bench_options *o) {
	if (o->mix_count > 0)
		return o->mix_count;
	return o->published ? 1 : d->mix_count;
}

/* Appends a result a mix. Returns 0, or -1 when some are missing. */
static int measure_direction(struct bench *b, const struct bench_direction *d,
			     const struct bench_options *o, const struct host *host,
			     struct done *done, json_t *results) {
	const char *const *mixes = o->mix_count > 0 ? o->mixes : d->mixes;

	for (unsigned i = 0; i < mixes_of(d, o); i++) {
		if (measure_mix(b, d, mixes[i], o, host, done, results) != 0)
			return -1;
	}
	return 0;
}

/* Whether a direction is asked for, and there. */
static bool is_measured(const struct bench_direction *d, const struct bench_options *o,
			const struct service_group *sg) {
	if (d == &bench_upstream && (sg->upstream_channel_count == 0 || o->threads == 2))
		return false;
	return o->direction == NULL || o->direction == d->name;
}

static struct done nothing_done(const struct bench_options *o, const struct service_group *sg) {
	struct done done = {0};

	for (unsigned d = 0; d < DIRECTIONS; d++) {
		if (is_measured(directions[d], o, sg))
			done.total += mixes_of(directions[d], o) * o->runs;
	}
	return done;
}

/* Stores what was measured. Returns the exit status. */
static int measure(struct bench *b, const struct bench_options *o) {
	const struct service_group *sg = b->instance.sg;
	struct done done = nothing_done(o, sg);
	json_t *results = json_array(), *root;
	json_t *memory = footprint_memory_json(&b->footprint, sg->modem_count);
	struct host host;
	int ret = 0;

	program_catch_signals(); /* from now on there is something to keep */
	host_measure(&host);
	for (unsigned d = 0; d < DIRECTIONS && ret == 0; d++) {
		if (is_measured(directions[d], o, sg))
			ret = measure_direction(b, directions[d], o, &host, &done, results);
	}
	root = program_report(results, &host, ret == 0);
	json_object_set_new(root, "configuration", json_string(sg->name));
	json_object_set_new(root, "memory", memory);
	json_object_set_new(root, "start", footprint_start_json(&b->footprint));
	if (report_write(root, o->json) != 0)
		ret = -1;
	json_decref(root);
	if (ret == 0)
		return 0;
	return program_stopped() ? EXIT_STOPPED : EXIT_TROUBLE;
}

static int bench(const struct bench_options *o, const struct service_group *sg) {
	struct platform_options p = {
		.program = "vcmts-bench",
		.main_core = PLATFORM_ANY_CORE,
		.memory_mb = instance_memory_mb(sg) * 2,
	};
	struct bench *b = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*b));
	int status = EXIT_TROUBLE;

	if (o->threads == 2) {
		p.main_core = o->cores[0];
		p.workers[p.worker_count++] = o->cores[1];
	}
	if (b != NULL && platform_start(&p) == 0) {
		memset(b, 0, sizeof(*b));
		b->footprint.load = o->load_seconds;
		b->footprint.configuration = o->configuration_bytes;
		program_progress(0, nothing_done(o, sg).total, "setting up %zu modems",
				 sg->modem_count);
		b->flows = o->flows;
		if (bench_create(b, sg, o->threads) == 0)
			status = measure(b, o);
		bench_free(b);
		platform_stop();
	}
	free(b);
	return status;
}

/* With what it takes. Returns 0, or -1 after a message. */
static int load(struct bench_options *o, struct service_group *sg) {
	uint64_t memory = footprint_memory();
	double start = footprint_clock();

	if (o->config == NULL) {
		fprintf(stderr, "--config: a file is needed\n");
		return -1;
	}
	if (service_group_load(o->config, sg, stderr) != 0)
		return -1;
	o->load_seconds = footprint_clock() - start;
	o->configuration_bytes = footprint_memory() - memory;
	return 0;
}

/* Has the service group run on two cores. Returns 0, or -1 after a message. */
static int two_threads(struct bench_options *o, struct service_group *sg) {
	unsigned usable = pair_cores(&sg->threads, o->cores);

	if (usable < 2) {
		fprintf(stderr,
			"--threads 2: found %u core that this process may use, needed: 2; choose "
			"--threads 1\n",
			usable);
		return -1;
	}
	if (o->direction == bench_upstream.name) {
		fprintf(stderr,
			"--threads 2: the upstream runs on one; choose --direction downstream\n");
		return -1;
	}
	sg->threads.downstream = LAYOUT_1DS2T;
	sg->threads.upper_mac_core = o->cores[0];
	sg->threads.lower_mac_core = o->cores[1];
	return 0;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Measures the cycles of a packet in each stage of both directions.",
	};
	struct bench_options o = {.json = "-", .runs = 5, .milliseconds = 900, .threads = 1};
	struct service_group sg = {0};
	int status;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (load(&o, &sg) != 0)
		return EXIT_MISTAKE;
	if (o.direction == bench_upstream.name && sg.upstream_channel_count == 0) {
		fprintf(stderr,
			"--direction upstream: the configuration has no upstream channels\n");
		status = EXIT_MISTAKE;
	} else if (o.threads == 2 && two_threads(&o, &sg) != 0) {
		status = EXIT_MISTAKE;
	} else {
		status = bench(&o, &sg);
	}
	service_group_free(&sg);
	return status;
}

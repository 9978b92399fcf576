/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench: measures cycles per packet and stage, and writes JSON. `vcmts bench pipeline` shows it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "footprint.h"
#include "model/load/loader.h"
#include "options.h"
#include "pair.h"
#include "pipeline.h"
#include "platform/platform.h"
#include "program.h"
#include "requests.h"
#include "results.h"
#include "server/process.h"

/* Completed runs, and all runs to make. */
struct progress {
	unsigned done, total;
};

/* Measures run `number`, from 1, which is also the traffic's seed. Returns 0, or -1 after a message or a
 * signal; a run that proved not all packets or measured no bound has failed. */
static int measure_run(struct bench *b, const struct bench_direction *d, const struct mix *mix,
		       const struct bench_options *o, unsigned number, struct bench_run *out) {
	if (program_stopped() || bench_run(b, d, mix, o->milliseconds, number, out) != 0 ||
	    program_stopped())
		return -1;
	if (out->proven && out->bound >= 0 && out->cycles > 0)
		return 0;
	fprintf(stderr, "run %u: %s\n", number,
		!out->proven	 ? "not every packet was proven"
		: out->bound < 0 ? "the crypto bound was not measured"
				 : "too short");
	return -1;
}

/* Parses the mix `text`, measures its runs and appends the result of those completed. Returns 0, or -1 if
 * some are missing. */
static int measure_mix(struct bench *b, const struct bench_direction *d, const char *text,
		       const struct bench_options *o, const struct host *host,
		       struct progress *progress, json_t *results) {
	struct bench_run runs[BENCH_MAX_RUNS];
	unsigned count = 0;
	char error[MIX_ERROR];
	struct mix mix;

	if (mix_parse(text, bench_config(b)->max_frame - RTE_ETHER_CRC_LEN, &mix, error,
		      sizeof(error)) != 0) {
		fprintf(stderr, "--mix: %s\n", error);
		return -1;
	}
	for (; count < o->runs; count++) {
		program_progress(progress->done, progress->total, "%s, %s: run %u of %u", d->name,
				 text, count + 1, o->runs);
		if (measure_run(b, d, &mix, o, count + 1, &runs[count]) != 0)
			break;
		progress->done++;
	}
	if (count > 0)
		json_array_append_new(results, bench_result(b, d, text, runs, count, host));
	return count == o->runs ? 0 : -1;
}

/* The number of mixes: those of --mix; else the direction's own, of which --published takes the first. */
static unsigned mix_count(const struct bench_direction *d, const struct bench_options *o) {
	if (o->mix_count > 0)
		return o->mix_count;
	return o->published ? 1 : d->mix_count;
}

/* Appends one result per mix. Returns 0, or -1 if some are missing. */
static int measure_direction(struct bench *b, const struct bench_direction *d,
			     const struct bench_options *o, const struct host *host,
			     struct progress *progress, json_t *results) {
	const char *const *mixes = o->mix_count > 0 ? o->mixes : d->mixes;

	for (unsigned i = 0; i < mix_count(d, o); i++) {
		if (measure_mix(b, d, mixes[i], o, host, progress, results) != 0)
			return -1;
	}
	return 0;
}

/* Whether a direction is requested and possible: the upstream needs channels and one thread. */
static bool is_measured(const struct bench_direction *d, const struct bench_options *o,
			const struct service_group *sg) {
	if (d == &bench_upstream && (sg->upstream_channel_count == 0 || o->threads == 2))
		return false;
	return o->direction == NULL || o->direction == d->name;
}

/* Counts the runs to make. */
static struct progress progress_start(const struct bench_options *o,
				      const struct service_group *sg) {
	struct progress progress = {0};

	for (unsigned d = 0; d < DIRECTIONS; d++) {
		if (is_measured(bench_directions[d], o, sg))
			progress.total += mix_count(bench_directions[d], o) * o->runs;
	}
	return progress;
}

/* Writes the results. Returns the exit status. */
static int measure(struct bench *b, const struct bench_options *o) {
	const struct service_group *sg = bench_config(b);
	struct progress progress = progress_start(o, sg);
	json_t *results = json_array(), *root;
	json_t *memory = footprint_memory_json(&b->footprint, sg->modem_count);
	struct host host;
	int ret = 0;

	program_catch_signals(); /* from now on there are results to keep */
	host_measure(&host);
	for (unsigned d = 0; d < DIRECTIONS && ret == 0; d++) {
		if (is_measured(bench_directions[d], o, sg))
			ret = measure_direction(b, bench_directions[d], o, &host, &progress,
						results);
	}
	root = program_report(results, &host, ret == 0);
	json_object_set_new(root, "configuration", json_string(sg->name));
	json_object_set_new(root, "memory", memory);
	json_object_set_new(root, "start", footprint_start_json(&b->footprint));
	return program_end(root, o->json, ret);
}

/* Makes the runs that stdin requests, and answers on stdout. Returns the exit status. */
static int serve(struct bench *b) {
	program_catch_signals();
	return requests_serve(b, STDIN_FILENO, stdout) == 0 ? 0 : EXIT_FAILED;
}

/* Starts the EAL and the service group, then measures or serves. Returns the exit status. */
static int bench(const struct bench_options *o, const struct service_group *sg) {
	struct platform_options p = {
		.program = "vcmts-bench",
		.main_core = o->core,
	};
	struct bench *b = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*b));
	int status = EXIT_FAILED;

	if (o->threads == 2) {
		p.main_core = o->cores[0];
		p.workers[p.worker_count++] = o->cores[1];
	}
	if (b != NULL) {
		memset(b, 0, sizeof(*b));
		p.memory_mb = 2 * server_memory_mb(single_group_config(&b->lone, sg), NULL);
	}
	if (b != NULL && platform_start(&p) == 0) {
		b->footprint.load = o->load_seconds;
		b->footprint.configuration = o->configuration_bytes;
		program_progress(0, progress_start(o, sg).total, "setting up %zu modems",
				 sg->modem_count);
		b->flows = o->flows;
		if (bench_create(b, sg, o->threads) == 0)
			status = o->requests ? serve(b) : measure(b, o);
		bench_free(b);
		platform_stop();
	}
	free(b);
	return status;
}

/* Loads the configuration, and measures the time and memory that it takes. Returns 0, or -1 after a message. */
static int load(struct bench_options *o, struct service_group *sg) {
	uint64_t memory = footprint_memory();
	double start = monotonic_seconds();

	if (o->config == NULL) {
		fprintf(stderr, "--config: a file is needed\n");
		return -1;
	}
	if (service_group_load(o->config, sg, stderr) != 0)
		return -1;
	o->load_seconds = monotonic_seconds() - start;
	o->configuration_bytes = footprint_memory() - memory;
	return 0;
}

/* Assigns a core each to upper and lower MAC. Returns 0, or -1 after a message. */
static int pair_assign(struct bench_options *o, struct service_group *sg) {
	unsigned usable = pair_cores(&sg->threads, o->cores);

	if (usable < 2) {
		fprintf(stderr,
			"--threads 2: cores that this process may use: %u, needed: 2; choose "
			"--threads 1\n",
			usable);
		return -1;
	}
	if (o->direction == bench_upstream.name) {
		fprintf(stderr, "--threads 2: the upstream supports one thread only; choose "
				"--direction downstream\n");
		return -1;
	}
	sg->threads.downstream = LAYOUT_1DS2T;
	sg->threads.upper_mac_core = o->cores[0];
	sg->threads.lower_mac_core = o->cores[1];
	return 0;
}

int main(int argc, char **argv) {
	struct service_group sg = {0};
	struct bench_options o;
	int status;

	bench_options_parse(argc, argv, &o);
	if (load(&o, &sg) != 0)
		return EXIT_USAGE;
	if (o.direction == bench_upstream.name && sg.upstream_channel_count == 0) {
		fprintf(stderr,
			"--direction upstream: the configuration has no upstream channels\n");
		status = EXIT_USAGE;
	} else if (o.threads == 2 && pair_assign(&o, &sg) != 0) {
		status = EXIT_USAGE;
	} else {
		status = bench(&o, &sg);
	}
	service_group_free(&sg);
	return status;
}

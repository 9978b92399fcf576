/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench-scheduler: what the scheduler costs a packet, beside DPDK's, as JSON. `vcmts bench
 * scheduler` shows it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "commands.h"
#include "platform/platform.h"
#include "platform/pool.h"
#include "program.h"
#include "report.h"
#include "scheduler_results.h"

#define MAX_LOADS 8
#define MBUF_BYTES 256 /* without data, with all that a pool has around it */

const struct scheduler_subject *const scheduler_subjects[SUBJECTS] = {
	&subject_vcmts,
	&subject_rte_sched,
	&subject_rte_sched_turns,
	&subject_priorities,
};

struct options {
	const char *json;
	const struct bench_case *only; /* NULL: all */
	unsigned loads[MAX_LOADS];
	unsigned load_count;
	unsigned runs;
	unsigned milliseconds;
	bool real_time;
};

static const struct argp_option option_table[] = {
	{"case", 'c', "NAME", 0, "6ofdm, 2ofdm-32sc-qam or 8ofdm-192sc-qam (default: all)", 0},
	{"load", 'l', "PERCENT", 0, "of the channels; may be repeated (default 50, 95, 120)", 0},
	{"runs", 'n', "N", 0, "runs of each, the median is shown (default 5)", 0},
	{"milliseconds", 't', "N", 0, "length of a run (default 300)", 0},
	{"real-time", 'r', NULL, 0, "bursts wait for their time, as on a wire", 0},
	{"json", 'j', "FILE", 0, "where to write the results, - for stdout (default)", 0},
	{0},
};

static const struct bench_case *case_named(const char *name, struct argp_state *state) {
	for (unsigned i = 0; i < CASE_COUNT; i++) {
		if (strcmp(name, bench_cases[i].name) == 0)
			return &bench_cases[i];
	}
	argp_error(state, "--case: found \"%s\", allowed: %s, %s, %s", name, bench_cases[0].name,
		   bench_cases[1].name, bench_cases[2].name);
	return NULL;
}

static error_t option(int key, char *value, struct argp_state *state) {
	struct options *o = state->input;

	switch (key) {
	case 'c': o->only = case_named(value, state); return 0;
	case 'j': o->json = value; return 0;
	case 'l':
		if (o->load_count == MAX_LOADS)
			argp_error(state, "--load: at most %d", MAX_LOADS);
		o->loads[o->load_count++] = program_number(value, 1, 1000, state);
		return 0;
	case 'n': o->runs = program_number(value, 1, SCHEDULER_MAX_RUNS, state); return 0;
	case 'r': o->real_time = true; return 0;
	case 't': o->milliseconds = program_number(value, 10, 600000, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Mbufs for a case: all schedulers hold theirs at the same time. */
static unsigned buffers(const struct bench_case *c) {
	return SUBJECTS * (case_held(c) + PACKETS_WAITING + SUBJECT_BURST) + 4096;
}

/* Runs of the schedulers in turn, so that all see the same machine. Returns 0, or -1. */
static int run_in_turn(struct drive *drives, const struct bench_case *c, unsigned load,
		       const struct options *o, struct tally runs[][SCHEDULER_MAX_RUNS]) {
	for (unsigned s = 0; s < SUBJECTS; s++) {
		if (drive_settle(&drives[s], c) != 0)
			return -1;
		drives[s].real_time = o->real_time;
	}
	for (unsigned i = 0; i < o->runs; i++) {
		fprintf(stderr, "%s, %u %%: run %u of %u\n", c->name, load, i + 1, o->runs);
		for (unsigned s = 0; s < SUBJECTS; s++) {
			if (drive_run(&drives[s], o->milliseconds, &runs[s][i]) != 0)
				return -1;
		}
	}
	return 0;
}

/* Returns NULL after a message. */
static json_t *measure_load(const struct bench_case *c, unsigned load, const struct options *o,
			    const struct host *host, struct rte_mempool *pool) {
	static struct tally runs[SUBJECTS][SCHEDULER_MAX_RUNS];
	struct drive drives[SUBJECTS] = {0};
	int ret = 0;

	for (unsigned s = 0; s < SUBJECTS && ret == 0; s++)
		ret = drive_create(&drives[s], scheduler_subjects[s], c, load, pool);
	if (ret == 0)
		ret = run_in_turn(drives, c, load, o, runs);
	for (unsigned s = 0; s < SUBJECTS; s++)
		drive_free(&drives[s]);
	return ret == 0 ? scheduler_result(c, load, runs, o->runs, host) : NULL;
}

/* Appends a result a load. Returns 0, or -1 after a message. */
static int measure_case(const struct bench_case *c, const struct options *o,
			const struct host *host, json_t *results) {
	struct rte_mempool *pool = packet_pool(c->name, buffers(c), 0, 0);
	int ret = pool != NULL ? 0 : -1;

	for (unsigned i = 0; i < o->load_count && ret == 0; i++) {
		json_t *result = measure_load(c, o->loads[i], o, host, pool);

		ret = result != NULL ? json_array_append_new(results, result) : -1;
	}
	rte_mempool_free(pool);
	return ret;
}

static int measure(const struct options *o) {
	json_t *results = json_array(), *root;
	struct host host;
	int ret = 0;

	host_measure(&host);
	for (unsigned i = 0; i < CASE_COUNT && ret == 0; i++) {
		if (o->only == NULL || o->only == &bench_cases[i])
			ret = measure_case(&bench_cases[i], o, &host, results);
	}
	root = program_report(results, &host);
	if (ret == 0)
		ret = report_write(root, o->json);
	json_decref(root);
	return ret;
}

/* For the mbufs of the largest case that is measured, and for rte_sched's queues. */
static unsigned memory_mb(const struct options *o) {
	unsigned most = 0;

	for (unsigned i = 0; i < CASE_COUNT; i++) {
		if (o->only == NULL || o->only == &bench_cases[i])
			most = RTE_MAX(most, buffers(&bench_cases[i]));
	}
	return 128 + (unsigned)((uint64_t)most * MBUF_BYTES / 1000000);
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = option_table,
		.parser = option,
		.doc = "Measures the cycles that a packet costs in the scheduler and in DPDK's "
		       "rte_sched.",
	};
	struct options o = {.json = "-", .runs = 5, .milliseconds = 300};
	struct platform_options p = {
		.program = "vcmts-bench-scheduler",
		.main_core = PLATFORM_ANY_CORE,
	};
	int ret;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.load_count == 0) {
		memcpy(o.loads, (unsigned[]){50, 95, 120}, 3 * sizeof(o.loads[0]));
		o.load_count = 3;
	}
	p.memory_mb = memory_mb(&o);
	if (platform_start(&p) != 0)
		return EXIT_TROUBLE;
	ret = measure(&o);
	platform_stop();
	return ret == 0 ? 0 : EXIT_TROUBLE;
}

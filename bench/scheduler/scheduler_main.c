/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench-scheduler: measures cycles per packet of src/scheduler and of DPDK's rte_sched, and
 * writes JSON. `vcmts bench scheduler` shows it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "crypto/versions.h"
#include "platform/platform.h"
#include "platform/pool.h"
#include "platform/program/arguments.h"
#include "program.h"
#include "scheduler_results.h"
#include "server/process.h"

#define MAX_LOADS 8
#define MBUF_BYTES 256 /* of an mbuf without data, with the pool's overhead */

/* In the order of `ratios` in scheduler_results.c. A result has the figures of the first, and its cycles divided by
 * those of rte_sched. */
const struct scheduler_subject *const scheduler_subjects[SUBJECTS] = {
	&subject_vcmts, /* src/scheduler, flows share by weight */
	/* token buckets never limit: a modem's queues are emptied before the next modem */
	&subject_rte_sched,
	/* buckets of two frames: modems alternate, as in src/scheduler */
	&subject_rte_sched_quanta,
	&subject_priorities, /* src/scheduler, half of a modem's flows by priority */
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
	{"load", 'l', "PERCENT", 0,
	 "load in percent of the channels' capacity; may be "
	 "repeated (default 50, 95, 120)",
	 0},
	{"runs", 'n', "N", 0, "runs of each case and load, the median is shown (default 5)", 0},
	{"milliseconds", 't', "N", 0, "length of a run (default 300)", 0},
	{"real-time", 'r', NULL, 0, "let bursts arrive in real time instead of simulated time", 0},
	PROGRAM_PROGRESS_OPTION,
	ARGUMENTS_JSON('j', "write the results to this file"),
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
	case PROGRAM_PROGRESS_KEY: program_report_progress(); return 0;
	case 'r': o->real_time = true; return 0;
	case 't': o->milliseconds = program_number(value, 10, 600000, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Calls of run_each(): completed ones, and all that are to be made. */
struct progress {
	unsigned done, total;
};

/* Number of mbufs for a case. All subjects exist at the same time, each with full queues and a full rotation. */
static unsigned mbuf_count(const struct bench_case *c) {
	return SUBJECTS * (case_packets(c) + PACKETS_WAITING + SUBJECT_BURST) + 4096;
}

/* Runs each scheduler until it is steady. Returns 0, or -1 after a message or a signal. */
static int settle(struct drive *drives, const struct bench_case *c, const struct options *o) {
	for (unsigned s = 0; s < SUBJECTS; s++) {
		if (program_stopped() || drive_settle(&drives[s], c) != 0)
			return -1;
		drives[s].real_time = o->real_time;
	}
	return 0;
}

/* Runs each scheduler once. Returns 0, or -1 after a message or a signal. */
static int run_each(struct drive *drives, const struct options *o, unsigned number,
		    struct tally runs[][SCHEDULER_MAX_RUNS]) {
	for (unsigned s = 0; s < SUBJECTS; s++) {
		if (program_stopped() ||
		    drive_run(&drives[s], o->milliseconds, &runs[s][number]) != 0)
			return -1;
	}
	return 0;
}

/* Runs all schedulers, one after the other, `runs` times, so that all run under the same conditions. Returns how often
 * all have run. */
static unsigned run_alternately(struct drive *drives, const struct bench_case *c, unsigned load,
				const struct options *o, struct tally runs[][SCHEDULER_MAX_RUNS],
				struct progress *progress) {
	unsigned count = 0;

	program_progress(progress->done, progress->total, "%s, %u %%: settling", c->name, load);
	if (settle(drives, c, o) != 0)
		return 0;
	for (; count < o->runs; count++) {
		program_progress(progress->done, progress->total, "%s, %u %%: run %u of %u",
				 c->name, load, count + 1, o->runs);
		if (run_each(drives, o, count, runs) != 0)
			break;
		progress->done++;
	}
	return count;
}

/* Appends the result of the completed runs. Returns 0, or -1 if some are missing. */
static int measure_load(const struct bench_case *c, unsigned load, const struct options *o,
			const struct host *host, struct rte_mempool *pool,
			struct progress *progress, json_t *results) {
	static struct tally runs[SUBJECTS][SCHEDULER_MAX_RUNS];
	struct drive drives[SUBJECTS] = {0};
	unsigned count = 0;
	int ret = 0;

	for (unsigned s = 0; s < SUBJECTS && ret == 0; s++)
		ret = drive_create(&drives[s], scheduler_subjects[s], c, load, pool);
	if (ret == 0)
		count = run_alternately(drives, c, load, o, runs, progress);
	for (unsigned s = 0; s < SUBJECTS; s++)
		drive_free(&drives[s]);
	if (count > 0)
		json_array_append_new(results, scheduler_result(c, load, runs, count, host));
	return count == o->runs ? 0 : -1;
}

/* Appends one result per load. Returns 0, or -1 if some are missing. */
static int measure_case(const struct bench_case *c, const struct options *o,
			const struct host *host, struct progress *progress, json_t *results) {
	struct rte_mempool *pool = packet_pool(c->name, mbuf_count(c), 0, 0);
	int ret = pool != NULL ? 0 : -1;

	for (unsigned i = 0; i < o->load_count && ret == 0; i++)
		ret = measure_load(c, o->loads[i], o, host, pool, progress, results);
	rte_mempool_free(pool);
	return ret;
}

static bool is_measured(unsigned index, const struct options *o) {
	return o->only == NULL || o->only == &bench_cases[index];
}

/* Writes the results. Returns the exit status. */
static int measure(const struct options *o) {
	json_t *results = json_array(), *root;
	struct progress progress = {0};
	struct host host;
	int ret = 0;

	program_catch_signals();
	host_measure(&host);
	for (unsigned i = 0; i < CASE_COUNT; i++)
		progress.total += is_measured(i, o) ? o->load_count * o->runs : 0;
	for (unsigned i = 0; i < CASE_COUNT && ret == 0; i++) {
		if (is_measured(i, o))
			ret = measure_case(&bench_cases[i], o, &host, &progress, results);
	}
	root = program_report(results, &host, ret == 0);
	return program_end(root, o->json, ret);
}

/* Memory for the mbufs of the largest case, and for rte_sched's queues. */
static unsigned memory_mb(const struct options *o) {
	unsigned max = 0;

	for (unsigned i = 0; i < CASE_COUNT; i++) {
		if (is_measured(i, o))
			max = RTE_MAX(max, mbuf_count(&bench_cases[i]));
	}
	return 128 + (unsigned)((uint64_t)max * MBUF_BYTES / 1000000);
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = option_table,
		.parser = option,
		.doc = "Measures the cycles per packet of the scheduler and of DPDK's rte_sched.",
	};
	struct options o = {.json = "-", .runs = 5, .milliseconds = 300};
	struct platform_options p = {
		.program = "vcmts-bench-scheduler",
		.main_core = PLATFORM_ONE_CORE,
	};
	int status;

	versions_parse(&argp, argc, argv, &o);
	if (o.load_count == 0) {
		memcpy(o.loads, (unsigned[]){50, 95, 120}, 3 * sizeof(o.loads[0]));
		o.load_count = 3;
	}
	p.memory_mb = memory_mb(&o);
	if (platform_start(&p) != 0)
		return EXIT_FAILED;
	status = measure(&o);
	platform_stop();
	return status;
}

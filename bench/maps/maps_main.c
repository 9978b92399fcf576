/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench-maps: measures cycles of the upstream scheduler per request, grant and MAP, and its
 * share of a core, and writes JSON. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <rte_cycles.h>

#include "crypto/versions.h"
#include "maps_load.h"
#include "platform/platform.h"
#include "platform/program/arguments.h"
#include "program.h"
#include "server/process.h"

#define MAX_RUNS 25

struct options {
	const char *json;
	unsigned runs, rounds;
};

static const struct argp_option option_table[] = {
	{"runs", 'n', "N", 0, "runs of each case, the median is shown: 1 to 25 (default 5)", 0},
	{"rounds", 'r', "N", 0, "MAP intervals per run: 10 to 10000000 (default 2000)", 0},
	PROGRAM_PROGRESS_OPTION,
	ARGUMENTS_JSON('j', "write the results to this file"),
	{0},
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct options *o = state->input;

	switch (key) {
	case 'j': o->json = value; return 0;
	case 'n': o->runs = program_number(value, 1, MAX_RUNS, state); return 0;
	case 'r': o->rounds = program_number(value, 10, 10000000, state); return 0;
	case PROGRAM_PROGRESS_KEY: program_report_progress(); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* 0 if there is nothing to divide by. */
static double ratio(double part, double of) {
	return of > 0 ? part / of : 0;
}

/* Reference cycles of the whole scheduler per request, including MAPs without grants. */
static double per_request(const struct maps_tally *t) {
	return ratio(t->request_cycles + t->map_cycles, (double)t->requests);
}

static int by_cycles_per_request(const void *a, const void *b) {
	double x = per_request(a), y = per_request(b);

	return (x > y) - (x < y);
}

/*
 * The figures of the median run; sorts `runs`. In reference cycles: `request` to accept one; `grant` and `map`
 * to make MAPs, per grant and per MAP; `granted_request` and `values` of per_request(). `used`: share of the
 * minislots that are granted for data.
 */
static json_t *result(const struct maps_case *c, struct maps_tally *runs, unsigned count,
		      const struct host *host) {
	const struct maps_tally *t = &runs[count / 2];
	json_t *values = json_array();

	qsort(runs, count, sizeof(runs[0]), by_cycles_per_request);
	for (unsigned i = 0; i < count; i++)
		json_array_append_new(values, json_real(per_request(&runs[i])));
	return json_pack(
		"{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:o}", "case",
		c->name, "modems", (int)c->modems, "channels", (int)c->channels, "map_ms",
		c->map_ms, "request", ratio(t->request_cycles, (double)t->requests), "grant",
		ratio(t->map_cycles, (double)t->grants), "map",
		ratio(t->map_cycles, (double)t->maps), "granted_request", per_request(t),
		"grants_per_map", ratio((double)t->grants, (double)t->maps), "used",
		ratio((double)t->data_minislots, (double)t->minislots), "share_of_core",
		ratio(t->request_cycles + t->map_cycles, (double)host->tsc_hz * t->seconds),
		"core_cycles_per_request",
		per_request(t) * (double)host->core_hz / (double)host->tsc_hz, "runs", (int)count,
		"values", values);
}

/* Measures all cases; the report lacks a case of which a run is missing. Returns the exit status. */
static int measure(const struct options *o) {
	static struct maps_tally runs[MAX_RUNS];
	json_t *results = json_array();
	struct host host;
	int ret = 0;

	program_catch_signals();
	host_measure(&host);
	for (unsigned i = 0; i < MAPS_CASES && ret == 0; i++) {
		unsigned count = 0;

		for (; count < o->runs && ret == 0; count++) {
			program_progress(i * o->runs + count, MAPS_CASES * o->runs,
					 "%s: run %u of %u", maps_cases[i].name, count + 1,
					 o->runs);
			ret = program_stopped()
				      ? -1
				      : maps_load_run(&maps_cases[i], o->rounds, &runs[count]);
		}
		if (ret == 0)
			json_array_append_new(results, result(&maps_cases[i], runs, count, &host));
	}
	return program_end(program_report(results, &host, ret == 0), o->json, ret);
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = option_table,
		.parser = option,
		.doc = "Measures the cycles that the upstream scheduler takes.",
	};
	struct options o = {.json = "-", .runs = 5, .rounds = 2000};
	struct platform_options p = {
		.program = "vcmts-bench-maps",
		.main_core = PLATFORM_ONE_CORE,
		.memory_mb = 64,
	};
	int status;

	versions_parse(&argp, argc, argv, &o);
	if (platform_start(&p) != 0)
		return EXIT_FAILED;
	status = measure(&o);
	platform_stop();
	return status;
}

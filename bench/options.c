/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <argp.h>
#include <string.h>

#include "core/targets.h"
#include "crypto/versions.h"
#include "platform/platform.h"
#include "platform/program/arguments.h"
#include "program.h"
#include "results.h"
#include "server/process.h"

const struct bench_direction *const bench_directions[DIRECTIONS] = {
	&bench_downstream,
	&bench_upstream,
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
	{"flows", 'f', "N", 0, "downstream 5-tuples (default: one per address and kind of packet)",
	 0},
	{"core", 'k', "NUMBER", 0, "CPU of the one thread (default: the first usable one)", 0},
	{"requests", 'r', NULL, 0,
	 "run on request: reads lines of JSON from stdin, answers each by a line on stdout "
	 "(docs/results.md)",
	 0},
	PROGRAM_PROGRESS_OPTION,
	ARGUMENTS_JSON('j', "write the results to this file"),
	{0},
};

const struct bench_direction *bench_direction_named(const char *name) {
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		if (strcmp(name, bench_directions[d]->name) == 0)
			return bench_directions[d];
	}
	return NULL;
}

static const char *direction(const char *text, struct argp_state *state) {
	const struct bench_direction *found = bench_direction_named(text);

	if (found != NULL)
		return found->name;
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
	case 'k': o->core = program_number(value, 0, UINT16_MAX, state); return 0;
	case 'r': o->requests = true; return 0;
	case 'T': o->threads = program_number(value, 1, 2, state); return 0;
	case PROGRAM_PROGRESS_KEY: program_report_progress(); return 0;
	case 'p': o->published = true; return 0;
	case 'n': o->runs = program_number(value, 1, BENCH_MAX_RUNS, state); return 0;
	case 't': o->milliseconds = program_number(value, RUN_MS_MIN, RUN_MS_MAX, state); return 0;
	case ARGP_KEY_END:
		if (o->threads == 2 && o->core != PLATFORM_ONE_CORE)
			argp_error(state, "--threads 2: not with --core");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

void bench_options_parse(int argc, char **argv, struct bench_options *o) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Measures the cycles per packet of each stage, in both directions.",
	};

	*o = (struct bench_options){
		.json = "-",
		.runs = 5,
		.milliseconds = 900,
		.threads = 1,
		.core = PLATFORM_ONE_CORE,
	};
	versions_parse(&argp, argc, argv, o);
}

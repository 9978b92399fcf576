/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-bench-changes: measures the effect of changes on the packets, and writes JSON. `vcmts bench
 * changes` shows it. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "adding.h"
#include "bed.h"
#include "changes_results.h"
#include "crypto/versions.h"
#include "driver.h"
#include "platform/platform.h"
#include "platform/program/arguments.h"
#include "program.h"
#include "reloading.h"
#include "server/measure.h"
#include "server/process.h"

#define MAX_RUNS 101
#define MB 1000000

struct options {
	const char *config, *json;
	const char *mode; /* --what */
	/* of mode reload: path of the rewritten file; path of a file with its second content */
	const char *file, *other;
	unsigned runs, milliseconds;
	unsigned changes; /* per second */
	unsigned share; /* percent of the downstream rate that a run without a limit reaches */
	unsigned rate; /* Mbps of all groups; 0: by `share` */
	unsigned upstream_rate; /* Mbps */
};

static const struct argp_option option_table[] = {
	{"config", 'c', "FILE", 0, "service groups, YAML", 0},
	{"what", 'w', "WHAT", 0,
	 "changes (default): single changes; coming: the last group is added and removed "
	 "repeatedly; "
	 "reload: the configuration is reloaded; plain: none",
	 0},
	{"file", 'f', "FILE", 0,
	 "for reload: the file that changes; it is rewritten during the runs and restored at the "
	 "end (default: --config itself)",
	 0},
	{"other", 'o', "FILE", 0,
	 "for reload: a file with the content that every second reload has", 0},
	{"runs", 'n', "N", 0, "runs (default 5)", 0},
	{"milliseconds", 't', "N", 0,
	 "length of a run (default 1000); coming and reload end it after 64 operations", 0},
	{"changes", 'r', "N", 0, "changes per second (default 1000)", 0},
	{"share", 's', "PERCENT", 0,
	 "percent of the downstream rate that a first run without a limit reaches (default 90)", 0},
	{"rate", 'b', "MBPS", 0, "downstream rate of all groups in Mbps, instead of --share", 0},
	{"upstream-rate", 'u', "MBPS", 0, "upstream rate of all groups in Mbps (default 200)", 0},
	PROGRAM_PROGRESS_OPTION,
	ARGUMENTS_JSON('j', "write the results to this file"),
	{0},
};

static bool is_known(const char *mode) {
	static const char *const known[] = {"changes", "coming", "reload", "plain"};

	for (unsigned i = 0; i < RTE_DIM(known); i++) {
		if (strcmp(mode, known[i]) == 0)
			return true;
	}
	return false;
}

static error_t option(int key, char *value, struct argp_state *state) {
	struct options *o = state->input;

	switch (key) {
	case 'c': o->config = value; return 0;
	case 'w': o->mode = value; return 0;
	case 'f': o->file = value; return 0;
	case 'o': o->other = value; return 0;
	case 'n': o->runs = program_number(value, 1, MAX_RUNS, state); return 0;
	case 't': o->milliseconds = program_number(value, 10, 600000, state); return 0;
	case 'r': o->changes = program_number(value, 1, 100000, state); return 0;
	case 's': o->share = program_number(value, 1, 100, state); return 0;
	case 'b': o->rate = program_number(value, 1, 100000, state); return 0;
	case 'u': o->upstream_rate = program_number(value, 1, 10000, state); return 0;
	case 'j': o->json = value; return 0;
	case PROGRAM_PROGRESS_KEY: program_report_progress(); return 0;
	case ARGP_KEY_END:
		if (o->config == NULL)
			argp_error(state, "--config: a file is needed");
		if (!is_known(o->mode))
			argp_error(state,
				   "--what: found \"%s\", allowed: changes, coming, reload, plain",
				   o->mode);
		if (strcmp(o->mode, "reload") == 0 && o->other == NULL)
			argp_error(state, "--what reload: --other is needed");
		if (o->file == NULL)
			o->file = o->config;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Runs on the calling thread beside the traffic. The run ends when the task returns, after about `milliseconds`; it may
 * be shorter (adding.h, reloading.h) or longer (driver.h). */
typedef void side_task(void *arg, unsigned milliseconds);

/* Only waits. */
static void no_side_task(void *arg, unsigned milliseconds) {
	driver_run(arg, 0, milliseconds);
}

struct changes_arg {
	struct driver *driver;
	unsigned rate; /* changes per second */
	uint64_t count; /* set by changes_task(): requests made */
};

static void changes_task(void *arg, unsigned milliseconds) {
	struct changes_arg *a = arg;

	a->count = driver_run(a->driver, a->rate, milliseconds);
}

/* Runs and returns the results, or NULL after a message or a signal. */
static json_t *run(struct bed *b, const struct bed_load *load, unsigned milliseconds,
		   side_task *task, void *arg) {
	if (program_stopped() || bed_begin(b, load) != 0)
		return NULL;
	task(arg, milliseconds);
	if (bed_end(b) != 0 || program_stopped()) /* a signal shortens the run */
		return NULL;
	return result_json(b);
}

/* Determines the load of all runs: --rate, or a share of the downstream rate of a first run without a limit. Returns 0,
 * or -1 after a message or a signal. */
static int load_find(struct bed *b, struct driver *d, const struct options *o,
		     struct bed_load *load) {
	struct bed_result found;
	json_t *first;

	*load = (struct bed_load){
		.rate = (uint64_t)o->rate * MB,
		.upstream_rate = (uint64_t)o->upstream_rate * MB,
	};
	if (o->rate > 0)
		return 0;
	first = run(b, load, o->milliseconds, no_side_task, d);
	if (first == NULL)
		return -1;
	json_decref(first);
	bed_result(b, &found);
	load->rate = (uint64_t)(found.gbps * 1e9 * o->share / 100);
	return 0;
}

/* Appends the result of a run. Returns false if it is NULL. */
static bool add_run(json_t *results, json_t *found, const char *mode, unsigned number) {
	if (found == NULL)
		return false;
	json_object_set_new(found, "what", json_string(mode));
	json_object_set_new(found, "run", json_integer(number));
	json_array_append_new(results, found);
	return true;
}

/* Makes a plain run; in modes `changes` and `coming` also one with changes, under the same conditions. In mode
 * `reload`, measure_reloads() makes the second run. Returns false after a message or a signal. */
static bool measure_repetition(struct bed *b, struct driver *d, const struct options *o,
			       const struct bed_load *load, unsigned number, json_t *results) {
	struct changes_arg changes_arg = {d, o->changes, 0};
	struct adding adding = {.bed = b};
	json_t *found;

	program_progress(number, o->runs, "run %u of %u", number + 1, o->runs);
	if (!add_run(results, run(b, load, o->milliseconds, no_side_task, d), "plain", number))
		return false;
	if (strcmp(o->mode, "changes") == 0) {
		found = run(b, load, o->milliseconds, changes_task, &changes_arg);
		driver_json(d, changes_arg.count, o->milliseconds, found);
		return add_run(results, found, o->mode, number);
	}
	if (strcmp(o->mode, "coming") == 0) {
		found = run(b, load, o->milliseconds, adding_task, &adding);
		adding_json(&adding, found);
		return add_run(results, found, o->mode, number) && !adding.failed;
	}
	return true;
}

/* Makes all runs, each without and with reloads. Returns 0, or -1 after a message or a signal. */
static int measure_reloads(struct bed *b, struct driver *d, const struct options *o,
			   const struct bed_load *load, json_t *results) {
	struct reloading r = {0};
	int ret = reloading_open(&r, b, o->config, o->file, o->other);

	for (unsigned n = 0; n < o->runs && ret == 0; n++) {
		json_t *found;

		ret = measure_repetition(b, d, o, load, n, results) ? 0 : -1;
		if (ret != 0)
			break;
		found = run(b, load, o->milliseconds, reloading_task, &r);
		reloading_json(&r, found);
		ret = add_run(results, found, o->mode, n) && !r.failed ? 0 : -1;
	}
	reloading_close(&r);
	return ret;
}

/* Writes the results. Returns the exit status. */
static int measure(struct bed *b, struct driver *d, const struct options *o) {
	json_t *results = json_array(), *root;
	struct bed_load load;
	struct host host;
	int ret;

	program_catch_signals();
	host_measure(&host);
	ret = load_find(b, d, o, &load);
	/* Stage cycles are measured in mode `plain` only, as that costs cycles. In other modes they are 0. */
	server_account(&b->server, strcmp(o->mode, "plain") == 0);
	if (ret == 0 && strcmp(o->mode, "reload") == 0)
		ret = measure_reloads(b, d, o, &load, results);
	else
		for (unsigned n = 0; n < o->runs && ret == 0; n++)
			ret = measure_repetition(b, d, o, &load, n, results) ? 0 : -1;
	root = program_report(results, &host, ret == 0);
	json_object_set_new(root, "configuration", json_string(b->config.name));
	json_object_set_new(root, "groups", json_integer((json_int_t)b->config.group_count));
	json_object_set_new(root, "rate_gbps", json_real((double)load.rate / 1e9));
	return program_end(root, o->json, ret);
}

/* Starts the EAL with the cores of the configuration. Returns 0, or -1 after a message. */
static int start(const struct server_config *config, struct layout *l) {
	struct platform_options p = {
		.program = "vcmts-bench-changes",
		.main_core = config->main_core,
		/* server, and traffic of the same size */
		.memory_mb = 2 * server_memory_mb(config, NULL),
	};

	if (layout_make(l, config) != 0)
		return -1;
	if (l->worker_count > BED_WORKERS) {
		fprintf(stderr, "threads: found %u workers, allowed: at most %d\n", l->worker_count,
			BED_WORKERS);
		return -1;
	}
	p.worker_count = l->worker_count;
	memcpy(p.workers, l->cores, sizeof(p.workers));
	return platform_start(&p);
}

static int bench(const struct options *o, struct server_config *config) {
	struct bed *b = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*b));
	bool spares = strcmp(o->mode, "changes") == 0;
	struct driver d = {0};
	struct layout layout;
	int status = EXIT_FAILED;

	if (b == NULL || start(config, &layout) != 0) {
		free(b);
		return EXIT_FAILED;
	}
	memset(b, 0, sizeof(*b));
	if (bed_create(b, config, spares, strcmp(o->mode, "coming") == 0) == 0 &&
	    (!spares || driver_create(&d, b) == 0))
		status = measure(b, &d, o);
	driver_free(&d);
	bed_free(b);
	free(b);
	platform_stop();
	return status;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.options = option_table,
		.parser = option,
		.doc = "Measures how changes of service groups delay packets.",
	};
	struct options o = {
		.json = "-",
		.mode = "changes",
		.runs = 5,
		.milliseconds = 1000,
		.changes = 1000,
		.share = 90,
		.upstream_rate = 200,
	};
	struct server_config config;
	int status;

	versions_parse(&argp, argc, argv, &o);
	if (server_config_load(o.config, &config, stderr) != 0)
		return EXIT_USAGE;
	status = bench(&o, &config);
	server_config_free(&config);
	return status;
}

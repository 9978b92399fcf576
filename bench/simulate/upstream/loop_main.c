/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-simulate-upstream: modems that wait for their grants and the upstream scheduler, on a simulated clock. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "upstream/loop.h"

#define NAME "vcmts-simulate-upstream"
#define EXIT_TROUBLE 1
#define EXIT_MISTAKE 2

static const char *scenario_file, *record_file;

static error_t option(int key, char *text, struct argp_state *state) {
	switch (key) {
	case 'm': record_file = text; break;
	case ARGP_KEY_ARG:
		if (scenario_file != NULL)
			argp_error(state, "%s: one scenario at a time", text);
		scenario_file = text;
		break;
	case ARGP_KEY_NO_ARGS: argp_error(state, "a scenario is needed"); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool load(struct loop_scenario *scenario) {
	bool in = strcmp(scenario_file, "-") == 0;
	json_error_t syntax;
	json_t *json = in ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &syntax)
			  : json_load_file(scenario_file, JSON_REJECT_DUPLICATES, &syntax);
	char error[LOOP_ERROR] = "";

	if (json == NULL) {
		fprintf(stderr, NAME ": %s:%d: %s\n", scenario_file, syntax.line, syntax.text);
		return false;
	}
	if (!loop_scenario_read(json, scenario, error))
		fprintf(stderr, NAME ": %s: %s\n", scenario_file, error);
	json_decref(json);
	return error[0] == '\0';
}

static bool write_result(struct loop *l) {
	json_t *result = loop_result(l);
	bool written = json_dumpf(result, stdout, JSON_REAL_PRECISION(7)) == 0 && puts("") != EOF &&
		       fflush(stdout) == 0;

	json_decref(result);
	if (!written)
		fprintf(stderr, NAME ": the result cannot be written\n");
	return written;
}

static int simulate(const struct loop_scenario *scenario, FILE *record) {
	static struct loop l;
	const char *error = NULL;
	int status = EXIT_MISTAKE; /* what cannot be set up is a mistake in the scenario */

	if (!loop_setup(&l, scenario, record)) {
		error = l.error;
	} else {
		error = loop_run(&l);
		status = error == NULL && write_result(&l) ? 0 : EXIT_TROUBLE;
	}
	if (error != NULL)
		fprintf(stderr, NAME ": %s: %s\n", scenario_file, error);
	loop_free(&l);
	return status;
}

int main(int argc, char **argv) {
	static const struct argp_option options[] = {
		{"maps", 'm', "FILE", 0, "write all MAPs and requests there, as lines of JSON", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.args_doc = "SCENARIO",
		.doc = "Runs the scenario in a JSON file (-: stdin) and prints what came of it, as "
		       "JSON.",
	};
	static struct loop_scenario scenario;
	FILE *record = NULL;
	int status;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!load(&scenario))
		return EXIT_MISTAKE;
	if (record_file != NULL && (record = fopen(record_file, "w")) == NULL) {
		fprintf(stderr, NAME ": %s: %s\n", record_file, strerror(errno));
		return EXIT_MISTAKE;
	}
	status = simulate(&scenario, record);
	if (record != NULL && fclose(record) != 0 && status == 0) {
		fprintf(stderr, NAME ": %s: %s\n", record_file, strerror(errno));
		status = EXIT_TROUBLE;
	}
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-simulate-upstream: simulates scheduled modems and the upstream scheduler, on a simulated clock. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "upstream/loop.h"

#define NAME "vcmts-simulate-upstream"

static const char *scenario_file, *record_file;

static error_t option(int key, char *text, struct argp_state *state) {
	if (key != 'm')
		return program_argument(key, text, state, &scenario_file);
	record_file = text;
	return 0;
}

/* Reads the scenario. Returns false after a message. */
static bool load(struct loop_scenario *scenario) {
	json_t *json = program_scenario(NAME, scenario_file);
	char error[LOOP_ERROR] = "";

	if (json == NULL)
		return false;
	if (!loop_scenario_read(json, scenario, error))
		fprintf(stderr, NAME ": %s: %s\n", scenario_file, error);
	json_decref(json);
	return error[0] == '\0';
}

/* Runs the scenario and prints the result as JSON. Returns the exit status. */
static int simulate(const struct loop_scenario *scenario, FILE *record) {
	static struct loop l;
	const char *error = NULL;
	int status = EXIT_USAGE; /* a failed setup is a mistake in the scenario */

	if (!loop_setup(&l, scenario, record)) {
		error = l.error;
	} else {
		error = loop_run(&l);
		status = error == NULL && program_print(NAME, loop_result(&l)) ? 0 : EXIT_FAILED;
	}
	if (error != NULL)
		fprintf(stderr, NAME ": %s: %s\n", scenario_file, error);
	loop_free(&l);
	return status;
}

int main(int argc, char **argv) {
	static const struct argp_option options[] = {
		{"maps", 'm', "FILE", 0,
		 "write all MAPs and requests to this file, as lines "
		 "of JSON",
		 0},
		{0},
	};
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.args_doc = "SCENARIO",
		.doc = PROGRAM_DOC,
	};
	static struct loop_scenario scenario;
	FILE *record = NULL;
	int status;

	program_parse(&argp, argc, argv);
	if (!load(&scenario))
		return EXIT_USAGE;
	if (record_file != NULL && (record = fopen(record_file, "w")) == NULL) {
		fprintf(stderr, NAME ": %s: %s\n", record_file, strerror(errno));
		return EXIT_USAGE;
	}
	status = simulate(&scenario, record);
	if (record != NULL && fclose(record) != 0 && status == 0) {
		fprintf(stderr, NAME ": %s: %s\n", record_file, strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

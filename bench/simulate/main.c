/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-simulate: simulates TCP and constant bit rates through the downstream scheduler. */
#include <stdio.h>
#include <stdlib.h>

#include "program.h"
#include "result.h"
#include "scenario.h"
#include "simulation.h"

#define NAME "vcmts-simulate"

static const char *scenario_file;

static error_t option(int key, char *text, struct argp_state *state) {
	return program_argument(key, text, state, &scenario_file);
}

/* Reads the scenario. Returns false after a message. */
static bool load(struct scenario *scenario) {
	json_t *json = program_scenario(NAME, scenario_file);
	char error[SCENARIO_ERROR] = "";

	if (json == NULL)
		return false;
	if (!scenario_read(json, scenario, error))
		fprintf(stderr, NAME ": %s: %s\n", scenario_file, error);
	json_decref(json);
	return error[0] == '\0';
}

/* Runs the scenario and prints the result as JSON. Returns the exit status. */
static int simulate(const struct scenario *scenario) {
	struct simulation *s = calloc(1, sizeof(*s));
	const char *error = s != NULL ? simulation_run(s, scenario) : "memory is short";
	int status = EXIT_FAILED;

	if (error != NULL)
		fprintf(stderr, NAME ": %s: %s\n", scenario_file, error);
	else if (program_print(NAME, result_json(s)))
		status = 0;
	if (s != NULL)
		simulation_free(s);
	free(s);
	return status;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.parser = option,
		.args_doc = "SCENARIO",
		.doc = PROGRAM_DOC,
	};
	static struct scenario scenario;

	program_parse(&argp, argc, argv);
	if (!load(&scenario))
		return EXIT_USAGE;
	return simulate(&scenario);
}

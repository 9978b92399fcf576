/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmts-simulate: responsive senders through the scheduler, on a simulated clock. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "scenario.h"
#include "simulation.h"

#define EXIT_TROUBLE 1
#define EXIT_MISTAKE 2

static const char *scenario_file;

static error_t option(int key, char *text, struct argp_state *state) {
	switch (key) {
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

static bool load(struct scenario *scenario) {
	bool in = strcmp(scenario_file, "-") == 0;
	json_error_t syntax;
	json_t *json = in ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &syntax)
			  : json_load_file(scenario_file, JSON_REJECT_DUPLICATES, &syntax);
	char error[SCENARIO_ERROR] = "";

	if (json == NULL) {
		fprintf(stderr, "vcmts-simulate: %s:%d: %s\n", scenario_file, syntax.line,
			syntax.text);
		return false;
	}
	if (!scenario_read(json, scenario, error))
		fprintf(stderr, "vcmts-simulate: %s: %s\n", scenario_file, error);
	json_decref(json);
	return error[0] == '\0';
}

static int simulate(const struct scenario *scenario) {
	struct simulation *s = calloc(1, sizeof(*s));
	const char *error = s != NULL ? simulation_run(s, scenario) : "memory is short";
	json_t *result = error == NULL ? result_json(s) : NULL;
	int status = EXIT_TROUBLE;

	if (error != NULL)
		fprintf(stderr, "vcmts-simulate: %s: %s\n", scenario_file, error);
	else if (result != NULL && json_dumpf(result, stdout, JSON_REAL_PRECISION(7)) == 0 &&
		 puts("") != EOF && fflush(stdout) == 0)
		status = 0;
	else
		fprintf(stderr, "vcmts-simulate: the result cannot be written\n");
	json_decref(result);
	if (s != NULL)
		simulation_free(s);
	free(s);
	return status;
}

int main(int argc, char **argv) {
	static const struct argp argp = {
		.parser = option,
		.args_doc = "SCENARIO",
		.doc = "Runs the scenario in a JSON file (-: stdin) and prints what came of it, as "
		       "JSON.",
	};
	static struct scenario scenario;

	argp_err_exit_status = EXIT_MISTAKE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!load(&scenario))
		return EXIT_MISTAKE;
	return simulate(&scenario);
}

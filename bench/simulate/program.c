/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "platform/program/arguments.h"
#include "platform/program/version.h"

error_t program_argument(int key, char *text, struct argp_state *state, const char **file) {
	switch (key) {
	case ARGP_KEY_ARG:
		if (*file != NULL)
			argp_error(state, "%s: one scenario at a time", text);
		*file = text;
		break;
	case ARGP_KEY_NO_ARGS: argp_error(state, "a scenario is needed"); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The scheduler uses neither DPDK nor the crypto library. */
static void print_version(FILE *out, struct argp_state *state) {
	version_print(out, state->name, &(struct version_libraries){NULL});
}

void program_parse(const struct argp *argp, int argc, char **argv) {
	argp_program_version_hook = print_version;
	arguments_parse(argp, argc, argv, NULL);
}

json_t *program_scenario(const char *name, const char *file) {
	bool in = strcmp(file, "-") == 0;
	json_error_t syntax;
	json_t *json = in ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &syntax)
			  : json_load_file(file, JSON_REJECT_DUPLICATES, &syntax);

	if (json == NULL)
		fprintf(stderr, "%s: %s:%d: %s\n", name, file, syntax.line, syntax.text);
	return json;
}

bool program_print(const char *name, json_t *result) {
	bool written = result != NULL && json_dumpf(result, stdout, JSON_REAL_PRECISION(7)) == 0 &&
		       puts("") != EOF && fflush(stdout) == 0;

	json_decref(result);
	if (!written)
		fprintf(stderr, "%s: the result cannot be written\n", name);
	return written;
}

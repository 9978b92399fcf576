/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of simulation programs: argument, scenario file, exit statuses. */
#pragma once

#include <argp.h>
#include <stdbool.h>

#include <jansson.h>

#include "platform/program/exit_status.h"

#define PROGRAM_DOC "Runs the scenario in a JSON file (-: stdin) and prints the results as JSON."

/* Parses the one argument, the scenario, into `file`; returns ARGP_ERR_UNKNOWN for all others. */
error_t program_argument(int key, char *text, struct argp_state *state, const char **file);

/* Parses the arguments of main(), with the option --version. Wrong ones exit with EXIT_USAGE. */
void program_parse(const struct argp *argp, int argc, char **argv);

/* Loads the file (-: stdin); the caller frees the result. Returns NULL after a line on stderr that
 * begins with `name`. */
json_t *program_scenario(const char *name, const char *file);

/* Prints and frees the result. Returns false after a line on stderr. */
bool program_print(const char *name, json_t *result);

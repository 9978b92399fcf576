/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that simulates a scenario: its argument, the file, and exit statuses. */
#pragma once

#include <argp.h>
#include <stdbool.h>

#include <jansson.h>

#define EXIT_TROUBLE 1
#define EXIT_MISTAKE 2
#define PROGRAM_DOC \
	"Runs the scenario in a JSON file (-: stdin) and prints what came of it, as JSON."

/* Takes the one scenario of the command line into `file`; ARGP_ERR_UNKNOWN for all else. */
error_t program_argument(int key, char *text, struct argp_state *state, const char **file);

/* What is in the file (-: stdin), for the caller to free; NULL after a line on stderr, which `name` begins. */
json_t *program_scenario(const char *name, const char *file);

/* Prints it and frees it. False after a line on stderr. */
bool program_print(const char *name, json_t *result);

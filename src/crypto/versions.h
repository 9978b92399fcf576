/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of programs that use DPDK and the crypto library (platform/program/version.h). */
#pragma once

#include <argp.h>
#include <stdio.h>

#include <jansson.h>

/* As arguments_parse() (platform/program/arguments.h), with the option --version. */
error_t versions_parse(const struct argp *argp, int argc, char **argv, void *input);

/* Prints the lines of --version. */
void versions_print(FILE *out, const char *program);

/* The key `version` of a JSON file. The caller owns the reference. */
json_t *versions_json(void);

/* Logs one line, the first of a log. Does nothing if VERSIONS_LOGGED says that the parent process logged the same. */
void versions_log(void);

/* Environment variable: the line that the parent process has logged. */
#define VERSIONS_LOGGED "VCMTS_VERSION_LOGGED"

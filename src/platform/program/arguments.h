/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that all programs parse the same way. */
#pragma once

#include <argp.h>

/* The option --json [FILE] with its key; the parser gets a path, "-" for stdout, never NULL. `what` is the
 * beginning of its help. */
#define ARGUMENTS_JSON(key, what) \
	{"json", key, "FILE", OPTION_ARG_OPTIONAL, what "; -, or no FILE, is stdout", 0}

/* As argp_parse(), for options that may have a value (OPTION_ARG_OPTIONAL) also if the value is the next word, and with
 * "-" if there is none. Wrong arguments exit with EXIT_USAGE; returns what the parser returns. The strings live until the next call. */
error_t arguments_parse(const struct argp *argp, int argc, char **argv, void *input);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of saved files, for initial_*.c only. */
#pragma once

#include "power/initial_settings.h"

struct initial_format {
	const char *word; /* its name in the saved file */
	const char *format; /* of the file name, with one or two numbers */
	bool khz; /* the value is a number, not a word */
};
extern const struct initial_format initial_formats[INITIAL_KINDS];

/* Whether a file of this kind can have the value. */
bool initial_value_is_valid(enum initial_kind kind, const char *value);

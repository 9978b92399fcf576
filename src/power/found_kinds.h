/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of saved files, for found*.c only. */
#pragma once

#include "power/found.h"

struct found_format {
	const char *word; /* its name in the saved file */
	const char *format; /* of the file name, with one or two numbers */
	bool khz; /* the value is a number, not a word */
};
extern const struct found_format found_formats[FOUND_KINDS];

/* Whether a file of this kind can have the value. */
bool found_value_holds(enum found_kind kind, const char *value);

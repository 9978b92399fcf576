/* SPDX-License-Identifier: BSD-3-Clause */
/* The files whose values are kept, for found*.c only. */
#pragma once

#include "power/found.h"

struct found_row {
	const char *word; /* in the file of what was found */
	const char *format; /* of the name, of one or two numbers */
	bool khz; /* a number, not a word */
};
extern const struct found_row found_rows[FOUND_KINDS];

/* Whether a file of that kind can have the value. */
bool found_value_holds(enum found_kind kind, const char *value);

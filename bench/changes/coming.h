/* SPDX-License-Identifier: BSD-3-Clause */
/* A service group that comes to a server with traffic, and goes again. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "bed.h"

struct coming {
	struct bed *bed;
	unsigned count;
	double ms[64]; /* that its coming took */
	double work_ms[64]; /* of this the thread's own time */
	bool failed;
};

/* The last group of the file comes and goes as often as there is time for, beside the traffic of a run. */
void coming_beside(void *arg, unsigned milliseconds);

/* Into `found`, which may be NULL. */
void coming_json(const struct coming *c, json_t *found);

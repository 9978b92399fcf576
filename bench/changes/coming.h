/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds and removes a service group of a server with traffic. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "bed.h"

struct coming {
	struct bed *bed;
	unsigned count;
	double ms[64]; /* duration of each addition */
	double work_ms[64]; /* of this, CPU time of the thread */
	bool failed;
};

/* Adds and removes the configuration's last group repeatedly, in parallel to the traffic of a run. */
void coming_beside(void *arg, unsigned milliseconds);

/* Adds the figures to `found`, which may be NULL. */
void coming_json(const struct coming *c, json_t *found);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds and removes a service group of a server with traffic. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "bed.h"

struct adding {
	struct bed *bed;
	unsigned count;
	double ms[64]; /* duration of each addition */
	double work_ms[64]; /* of this, CPU time of the thread */
	bool failed;
};

/* Adds and removes the configuration's last group repeatedly for the given time, but at most 64 times, beside the
 * traffic of a run. `arg`: a struct adding, zeroed except `bed`. Sets `failed` after a message. */
void adding_task(void *arg, unsigned milliseconds);

/* Adds the figures to `found`, which may be NULL. */
void adding_json(const struct adding *c, json_t *found);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures operations that repeat during a run. */
#pragma once

#include <jansson.h>

/* CPU time of the thread in seconds. */
double stopwatch_work(void);

/* Sleeps between two operations, so that they do not affect each other. */
void stopwatch_pause(void);

/* Adds a list of values to `found`, which may be NULL. */
void stopwatch_json(json_t *found, const char *key, const double *values, unsigned count);

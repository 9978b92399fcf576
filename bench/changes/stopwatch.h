/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thing took that is done several times in a run. */
#pragma once

#include <jansson.h>

/* Seconds for which the thread had a core. */
double stopwatch_work(void);

/* Between two of them, so that each begins in peace. */
void stopwatch_rest(void);

/* A list of values into `found`, which may be NULL. */
void stopwatch_json(json_t *found, const char *key, const double *values, unsigned count);

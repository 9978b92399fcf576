/* SPDX-License-Identifier: BSD-3-Clause */
/* The query string of a request for metrics. */
#pragma once

#include "telemetry/metrics/metrics.h"

#define QUERY_NAMES 16
#define QUERY_NAMES_SIZE 512
#define QUERY_KEY 640 /* bytes of the whole query */

struct metrics_query {
	struct metrics_selection selection; /* points into the next members */
	char names[QUERY_NAMES_SIZE];
	const char *name_list[QUERY_NAMES];
	uint8_t modem[6];
	unsigned seen; /* arguments that were given, one bit each */
	char key[QUERY_KEY]; /* unique per selection */
	const char *wrong; /* NULL, or the reason for a refusal */
};

/* Adds an argument, which may contain any bytes; `value` may be NULL. Returns false from the first
 * error on. */
bool metrics_query_add(struct metrics_query *q, const char *name, const char *value);

/* Checks the combination after all arguments were added. Returns false with `wrong` set. */
bool metrics_query_end(struct metrics_query *q);

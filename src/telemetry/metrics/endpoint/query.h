/* SPDX-License-Identifier: BSD-3-Clause */
/* What a scraper asks for behind the ? of its request. */
#pragma once

#include "telemetry/metrics/metrics.h"

#define QUERY_NAMES 16
#define QUERY_NAMES_SIZE 512
#define QUERY_KEY 640 /* bytes of all of it */

struct metrics_query {
	struct metrics_selection selection; /* points into what follows */
	char names[QUERY_NAMES_SIZE];
	const char *name_list[QUERY_NAMES];
	uint8_t modem[6];
	unsigned taken; /* arguments, a bit each */
	char key[QUERY_KEY]; /* of one selection only */
	const char *wrong; /* NULL, or why it is refused */
};

/* Takes one argument, which may be of any bytes; `value` may be NULL. Returns false after the first that is wrong. */
bool metrics_query_add(struct metrics_query *q, const char *name, const char *value);

/* Once all were taken: what they mean together. Returns false where that is nothing. */
bool metrics_query_end(struct metrics_query *q);

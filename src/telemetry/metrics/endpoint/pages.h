/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that were made lately, for all who ask for the same: one thread's. */
#pragma once

#include <microhttpd.h>

#include "telemetry/metrics/endpoint/query.h"
#include "telemetry/metrics/metrics.h"
#include "telemetry/metrics/text.h"

#define PAGES_WHOLE 2 /* that have their places: all in either format */
#define PAGES (PAGES_WHOLE + 4) /* that are kept */
#define PAGES_AGE_MS 200 /* so old a page may be, from the moment that it was whole */
#define PAGES_MOST (64u << 20) /* bytes of one */

struct page {
	bool there; /* it was made, or cannot be: that is kept as long */
	unsigned code; /* why there is none; else 0 */
	struct MHD_Response *response; /* or NULL */
	uint64_t made; /* ms */
	enum metrics_format format;
	char key[QUERY_KEY];
};

struct pages {
	struct page list[PAGES];
	size_t most; /* bytes of one page, PAGES_MOST */
	uint64_t bytes; /* of all that were made and are not gone: slow readers keep theirs */
	struct metrics_http_counts *counts;
};

/*
 * The page of that selection, made anew where it is too old. It lives until the next call. NULL,
 * and `*code` says why: 503 while there are too many pages, 413 where it would be too large. Who asks for much
 * else cannot keep others from whole pages: these have their places.
 */
struct MHD_Response *pages_get(struct pages *p, const struct metrics_source *source,
			       const struct metrics_query *query, enum metrics_format format,
			       unsigned *code);

/* Forgets all; those that are being sent end with their connections. */
void pages_clear(struct pages *p);

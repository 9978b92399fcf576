/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of recent pages, for clients with the same query. Used by one thread. */
#pragma once

#include <microhttpd.h>

#include "telemetry/metrics/endpoint/query.h"
#include "telemetry/metrics/metrics.h"
#include "telemetry/metrics/text.h"

#define PAGES_WHOLE 2 /* slots reserved for unfiltered pages, one per format */
#define PAGES (PAGES_WHOLE + 4) /* slots of the cache */
#define PAGES_AGE_MS 200 /* maximum age of a page that is sent again */
#define PAGES_MAX_SIZE (64u << 20) /* limit of bytes of one page */

struct page {
	bool valid; /* the slot has a page or a failure, both of which are cached */
	unsigned code; /* HTTP status code of a failure; otherwise 0 */
	struct MHD_Response *response; /* NULL after a failure */
	uint64_t made; /* ms: time of generation */
	enum metrics_format format;
	char key[QUERY_KEY];
};

struct pages {
	struct page list[PAGES];
	size_t max; /* limit of bytes of one page */
	/* bytes of all pages in memory, including those that slow clients still receive */
	uint64_t bytes;
	struct metrics_http_counts *counts;
};

/*
 * The page of the query, generated if there is no recent one. It is valid until the next call. Returns NULL
 * with a status in `*code`: 503 with too many pages, 413 for a page that is too large. Filtered queries
 * cannot block unfiltered pages, which have reserved slots.
 */
struct MHD_Response *pages_get(struct pages *p, const struct metrics_source *source,
			       const struct metrics_query *query, enum metrics_format format,
			       unsigned *code);

/* Clears the cache; pages that are being sent live until their connections end. */
void pages_clear(struct pages *p);

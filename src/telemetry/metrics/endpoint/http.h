/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics endpoint: OpenMetrics over HTTP, served by one thread on the main core
 * (docs/decisions/012-metrics.md). It generates a page at most five times per second, and sends it to all
 * clients that request it meanwhile. Connections, their memory and time, and the memory of all pages are
 * limited.
 */
#pragma once

#include "telemetry/metrics/metrics.h"

struct metrics_http;

/* Listens on "ADDRESS:PORT"; port 0 selects a free one. Serves nothing yet. Returns NULL after a message. */
struct metrics_http *metrics_http_open(const char *address);

/* The URL, such as "http://127.0.0.1:9464/metrics". */
const char *metrics_http_url(const struct metrics_http *h);

/* Starts the thread, on the caller's cores. `source` must outlive the endpoint; sets its `http`. Returns 0,
 * or -1 after a message. */
int metrics_http_start(struct metrics_http *h, struct metrics_source *source);

/* Sets the response of /readyz; /ready and /live (health.h) check more while it is set. */
void metrics_http_ready(struct metrics_http *h, bool ready);

/* Ends the thread and frees the endpoint. `h` may be NULL. */
void metrics_http_close(struct metrics_http *h);

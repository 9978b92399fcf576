/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoint for scrapers: OpenMetrics over HTTP, by one thread on the main core (docs/decisions/012-metrics.md).
 * A page is made at most five times a second and goes to all who ask for it meanwhile; connections, their memory and
 * their time are limited, and so is the memory of all pages together.
 */
#pragma once

#include "telemetry/metrics/metrics.h"

struct metrics_http;

/* Listens on "ADDRESS:PORT", of port 0 on one that is free. Nobody is answered yet. NULL after a message. */
struct metrics_http *metrics_http_open(const char *address);

/* Where: "http://127.0.0.1:9464/metrics". */
const char *metrics_http_url(const struct metrics_http *h);

/* Begins to answer, from a thread on the caller's cores. `source` must live on until it is closed; its `http` is
 * set. Returns 0, or -1 after a message. */
int metrics_http_start(struct metrics_http *h, struct metrics_source *source);

/* What /readyz says; /ready and /live (health.h) ask more, while it is so. */
void metrics_http_ready(struct metrics_http *h, bool ready);

/* Ends the thread and frees it. Harmless on NULL. */
void metrics_http_close(struct metrics_http *h);

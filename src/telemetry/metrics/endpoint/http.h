/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics endpoint: OpenMetrics or Prometheus text over HTTP, served by one thread on the main
 * core (docs/decisions/012-metrics.md). All clients with the same query and format share a page,
 * which is at most 200 ms old. Connections, their memory and time, and the memory of all pages are
 * limited.
 */
#pragma once

#include "telemetry/metrics/metrics.h"

struct metrics_http;

/*
 * Listens on "ADDRESS:PORT", without serving requests yet; port 0 selects a free one. If the port is taken or no
 * interface has the address yet, logs a warning, and the thread tries again every 5 s: a passing state of the
 * machine must not keep packets from the subscribers. Returns NULL after a message if `address` can never be
 * used. `address` must outlive the endpoint.
 */
struct metrics_http *metrics_http_open(const char *address);

/* Starts the thread on the caller's cores, and sets `http` of `source`, which must outlive the
 * endpoint. Logs the URL once it listens. Returns 0, or -1 after a message. */
int metrics_http_start(struct metrics_http *h, struct metrics_source *source);

/* Sets whether the server is in service, which is the response of /readyz. While it is, /ready and
 * /live also depend on health.h; before and after, /ready fails and /live succeeds. */
void metrics_http_ready(struct metrics_http *h, bool ready);

/* Ends the thread and frees the endpoint. `h` may be NULL. */
void metrics_http_close(struct metrics_http *h);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the results of the data plane, as JSON (keys: docs/results.md) and as text. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "platform/host.h"
#include "server/server.h"

/*
 * {"version": versions_json(), "downstream": {received, transmitted, held, dropped, balanced, drops, counters, scheduler,
 * cycles_per_packet, pipeline_latency_us, seconds}, "upstream": {the same, units, requests}, "groups":
 * [{"id", "name", "downstream", "upstream"}], "workers", "host"}. With several groups, the top-level
 * directions are sums. `host` may be NULL: then times and cycles are omitted, and the same input gives the
 * same result. The caller owns the reference.
 */
json_t *report_json(const struct server *s, const struct host *host, double seconds);

/* The same as text for a terminal. */
void report_print(FILE *out, const struct server *s, const struct host *host, double seconds);

/* Whether `path`, which may be NULL, means stdout. Then stdout must contain only JSON. */
bool report_is_stdout(const char *path);

/* Writes `json` to the file at `path`, or to stdout for "-". Returns 0, or -1 after a message. */
int report_write(const json_t *json, const char *path);

/* The stage lists, drop reasons, counters and metrics, for docs and tools. The caller owns it. */
json_t *report_describe(void);

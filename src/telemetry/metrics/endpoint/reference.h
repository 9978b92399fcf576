/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names under which the reference reports (reference.def), so that its public dashboards load. It tells rates per
 * second, which are made here of two pages that are REFERENCE_WINDOW_S apart at least: the first has none.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "telemetry/metrics/metrics.h"

#define REFERENCE_WINDOW_S 1.0

struct reference;

/* Returns NULL when memory is short. */
struct reference *reference_open(void);

/* NULL is harmless. */
void reference_close(struct reference *r);

/* Writes a page in Prometheus' text format: each metric with its type, a gauge, and a line for each service group.
 * From one thread at a time. Returns false when memory is short: then nothing was written. */
bool reference_write(struct reference *r, const struct metrics_source *source, FILE *out);

/* The same in its parts: samples of one moment, `now` in seconds, go into the sink. */
void reference_begin(struct reference *r, double now);
struct metrics_sink reference_sink(struct reference *r);
bool reference_end(struct reference *r, FILE *out);

/* The rows of the table. */
unsigned reference_rows(void);
const char *reference_name(unsigned row);
const char *reference_made_of(unsigned row, bool per);

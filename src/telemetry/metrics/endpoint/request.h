/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the head of an HTTP request: path and format of the response. */
#pragma once

#include <stdbool.h>

#include "telemetry/metrics/text.h"

/*
 * The path of a request target. Servers must accept the absolute form (RFC 9112, 3.2.2): its path follows the
 * authority, "/" if empty. Any other form is returned unchanged. Points into `target` or to a constant.
 */
const char *request_path(const char *target);

/* The preferences of all Accept fields of a request. Zero it, then add each field value. */
struct request_accept {
	struct {
		/* 0: no match, 1: all types, 2: all of a type, 3: the type itself */
		unsigned specific;
		unsigned permille; /* q */
	} of[METRICS_OPEN + 1];
};

/* Adds the media ranges of a field value (RFC 9110, 12.5.1); malformed ones are skipped. */
void request_accept_add(struct request_accept *a, const char *value);

/*
 * The format with the larger weight; weight 0 means "not acceptable" (RFC 9110, 12.4.2). With equal weights,
 * OpenMetrics wins if it is named. If neither is acceptable, the format is Prometheus, as a server may
 * disregard the field (12.5.1).
 */
enum metrics_format request_format(const struct request_accept *a);

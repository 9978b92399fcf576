/* SPDX-License-Identifier: BSD-3-Clause */
/* What the head of an HTTP request asks for: the path of its target, and the format of the answer. */
#pragma once

#include <stdbool.h>

#include "telemetry/metrics/text.h"

/*
 * The path of a request target: of the absolute form, which servers must accept too (RFC 9112, 3.2.2), what follows the
 * authority, "/" where that is nothing. Of any other form the target itself. Points into `target`, or to a constant.
 */
const char *request_path(const char *target);

/* The preferences of all Accept fields of a request: zero, then fed with one field value after the other. */
struct request_accept {
	struct {
		unsigned
			specific; /* 0: none matches, 1: all types, 2: all of a type, 3: the type itself */
		unsigned permille; /* q */
	} of[METRICS_OPEN + 1];
};

/* Adds the media ranges of a field value (RFC 9110, 12.5.1); what is malformed is skipped. */
void request_accept_add(struct request_accept *a, const char *value);

/*
 * The format with the larger weight, of which 0 means "not acceptable" (RFC 9110, 12.4.2). Of equal weights OpenMetrics is chosen where
 * it is named. Where neither is acceptable it is that of Prometheus, as a server may disregard the field (12.5.1).
 */
enum metrics_format request_format(const struct request_accept *a);

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trial is asked to be: one line of JSON (docs/results.md, "Trials"). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "core/mix.h"
#include "core/shape.h"
#include "directions/traffic.h"
#include "model/service_group.h"

#define TRIAL_ERROR (MIX_ERROR + 32)

/* What the traffic of this program can do. */
struct trial_limits {
	const struct service_group *sg;
	bool downstream;
	bool upstream;
};

/* Its load points into it: it is not to be copied. */
struct trial_request {
	uint64_t duration_ns; /* of sending */
	struct traffic_load load;
	struct shape shape; /* that of the load, where it has one */
	json_t *asked; /* the request as it came; the caller owns the reference */
};

/*
 * Reads `size` bytes, strictly: unknown and doubled keys, other types and values out of range are
 * refused. Returns 0, or -1 with one line of UTF-8 in `error` (TRIAL_ERROR bytes).
 */
int trial_request_read(const char *line, size_t size, const struct trial_limits *limits,
		       struct trial_request *out, char *error);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The request of a trial: one line of JSON (docs/results.md, "Trials"). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "core/mix.h"
#include "core/shape.h"
#include "directions/traffic.h"
#include "model/service_group.h"

#define TRIAL_ERROR (MIX_ERROR + 32)

/* Capabilities of this program's traffic. */
struct trial_limits {
	const struct service_group *sg;
	bool downstream;
	bool upstream;
};

/* Must not be copied, as `load` points into it. */
struct trial_request {
	uint64_t duration_ns; /* duration of sending */
	struct traffic_load load;
	struct shape shape; /* of the load, if it has one */
	json_t *source; /* the request; the caller owns the reference */
};

/* Parses `size` bytes strictly: rejects unknown and duplicate keys, wrong types and values out of
 * range. Returns 0, or -1 with one line of UTF-8 in `error` (TRIAL_ERROR bytes). */
int trial_request_read(const char *line, size_t size, const struct trial_limits *limits,
		       struct trial_request *out, char *error);

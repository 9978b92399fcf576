/* SPDX-License-Identifier: BSD-3-Clause */
/* The request of a capture client: one line of untrusted JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/live/part.h"

#define TAP_REQUEST_MAX 4096 /* bytes of the line */
#define TAP_LINE 4096 /* bytes of a refusal */

#define TAP_RATE_DEFAULT 10000 /* packets per second */
#define TAP_SIZE_DEFAULT (UINT64_C(100) << 20) /* bytes of the file */
#define TAP_SIZE_MAX (UINT64_C(1) << 50)
#define TAP_SECONDS_MIN 0.001 /* a shorter one would be 0 ns, which means no limit */
#define TAP_SECONDS_MAX 31536000 /* a year */

struct tap_request {
	bool has_group;
	uint32_t group; /* ID */
	uint64_t down, up; /* boundaries, a bit each */
	bool drops;
	uint64_t reasons[TAP_REASON_WORDS]; /* a bit each */
	unsigned directions; /* bits of enum direction */
	uint8_t wants; /* bits: TAP_KNOWS_MODEM, .. */
	uint8_t mac[6];
	uint32_t sfid;
	uint32_t session;
	uint32_t rate, sample, snap;
	uint64_t count; /* packets; 0: no limit */
	uint64_t duration; /* ns; 0: no limit */
	uint64_t size; /* bytes of the file */
};

/* Reads a line. Returns false with the fault and the allowed values in `why`. */
bool tap_request_read(const char *line, size_t size, struct tap_request *request,
		      char why[TAP_LINE]);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the numbers of shapes. */
#pragma once

#include <stdbool.h>

#define SHAPE_TIME "a time with us, ms, s, min or h"
#define SHAPE_HOUR "an hour of the day, as 18:30 or 18.5h"
#define SHAPE_RATE \
	"a share as 50%, up to 1000%, or a rate as 500Mbps, up to 1 Tbps and ten times --rate"
#define SHAPE_DAY 24.0 /* hours */

/* These return whether the whole text is valid; if not, the output is undefined. */
/* "50%": 0.5; no upper limit. */
bool shape_share(const char *text, double *share);
/* A share, or bits per second as a share of `rate` (above 0); up to SHAPE_MAX_SHARE and PACING_RATE_MAX. */
bool shape_rate_share(const char *text, double rate, double *share);
/* Any time with a unit; "0" needs none. */
bool shape_time(const char *text, double *seconds);
/* Hours since midnight, 0..SHAPE_DAY: "18:30", or a time as in shape_time(). */
bool shape_hour(const char *text, double *hours);

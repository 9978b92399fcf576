/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the numbers of shapes. */
#pragma once

#include <stdbool.h>

#define SHAPE_TIME "a time with us, ms, s, min or h"
#define SHAPE_HOUR "an hour of the day, as 18:30 or 18.5h"
#define SHAPE_RATE \
	"a share as 50%, up to 1000%, or a rate as 500Mbps, up to 1 Tbps and ten times --rate"
#define SHAPE_DAY 24.0 /* hours */

/* Each returns whether the whole text is such a value: a share ("50%"), a rate in any unit as share
 * of `rate` bits per second, a time in seconds, an hour of the day. */
bool shape_share(const char *text, double *share);
bool shape_rate(const char *text, double rate, double *share);
bool shape_time(const char *text, double *seconds);
bool shape_hour(const char *text, double *hours);

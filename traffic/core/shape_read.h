/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the text form of a shape. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/shape.h"

#define SHAPE_ERROR 384

/* One line for help and messages. */
#define SHAPE_WORDS                                                          \
	"constant, bursts:on=TIME,off=TIME, bursts:period=TIME,duty=SHARE, " \
	"ramp:from=RATE,to=RATE,time=TIME, steps:RATE,RATE,..,each=TIME, "   \
	"points:TIME=RATE,TIME=RATE,.., points:@FILE, day, day:@FILE,time=TIME"

/*
 * Parses a shape. `rate` is 100 % in bits per second; rates in other units become shares of it. `duration`
 * (seconds, above 0) is the length of ramps, days and all steps together, unless the text gives another.
 * Returns true, or false with one line in `error` (SHAPE_ERROR bytes) that says what is wrong.
 */
bool shape_read(struct shape *s, const char *text, uint64_t rate, double duration, char *error);

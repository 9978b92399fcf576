/* SPDX-License-Identifier: BSD-3-Clause */
/* The words for a rate over time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/shape.h"

#define SHAPE_ERROR 384

/* One line, for help and messages. */
#define SHAPE_WORDS                                                          \
	"constant, bursts:on=TIME,off=TIME, bursts:period=TIME,duty=SHARE, " \
	"ramp:from=RATE,to=RATE,time=TIME, steps:RATE,RATE,..,each=TIME, "   \
	"points:TIME=RATE,TIME=RATE,.., points:@FILE, day, day:@FILE,time=TIME"

/*
 * Reads a shape. `rate` is what 100 % are, in bits per second, and what rates in other units are
 * shares of; `duration` (seconds, above 0) is how long ramps, days and all steps together last unless the
 * text says something else. Returns true, or false with one line of what is wrong in `error`
 * (SHAPE_ERROR bytes).
 */
bool shape_read(struct shape *s, const char *text, uint64_t rate, double duration, char *error);

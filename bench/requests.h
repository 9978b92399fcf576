/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs on request: a line of JSON in, a run, a line of JSON out, until the input ends (docs/results.md,
 * "Runs on request"). So runs of several service groups can take turns, or go on at the same time.
 */
#pragma once

#include <stdio.h>

#include "pipeline.h"

/*
 * Says that it is ready, then answers the requests that come from the file descriptor `in`. The run
 * under way when a signal comes is answered by an error, and is the last one. Returns 0, or -1 after a
 * message where answers cannot be written.
 */
int requests_serve(struct bench *b, int in, FILE *out);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs on request: reads a line of JSON, runs, writes a line of JSON, until the input ends
 * (docs/results.md, "Runs on request"). Runs of several service groups can so alternate or run in parallel.
 */
#pragma once

#include <stdio.h>

#include "pipeline.h"

/*
 * Writes that it is ready, then answers the requests from the file descriptor `in`. After a signal, it
 * answers the current run with an error and ends. Returns 0, or -1 after a message if answers cannot be
 * written.
 */
int requests_serve(struct bench *b, int in, FILE *out);

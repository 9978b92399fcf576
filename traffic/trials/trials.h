/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials on request: reads a line of JSON, runs a trial, writes a line of JSON, until the input ends
 * (docs/results.md, "Trials"). Modems and flows are kept between trials; counters start
 * at 0 in each.
 */
#pragma once

#include <signal.h>
#include <stdio.h>

#include <jansson.h>

#include "groups/run.h"
#include "platform/host.h"
#include "trials/trial_request.h"

struct trials {
	struct groups *groups; /* with exactly one service group */
	struct trial_limits limits;
	unsigned lcore; /* of the traffic's thread */
	const char *transport; /* "rings" or "ports" */
	const volatile sig_atomic_t *interrupted; /* number of signals that request the end */
	/* Set if the data plane runs in this process, else NULL. `begins` is called at the start of
	 * a trial on the traffic's thread and records its counters. `ended` is called at the end
	 * and adds their increase to the answer. */
	void (*begins)(void *data_plane, const struct traffic_load *load);
	void (*ended)(void *data_plane, json_t *answer);
	void *data_plane;
};

/*
 * Writes that it is ready, then answers the requests from the file descriptor `in` until its end or a
 * signal. A signal ends the current trial early, which is answered with an error. Returns 0, or -1 after a
 * message if answers cannot be written.
 */
int trials_serve(const struct trials *t, int in, FILE *out);

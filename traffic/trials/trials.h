/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials on request: a line of JSON in, a line of JSON out, until the input ends (docs/results.md,
 * "Trials"). The traffic lives on from trial to trial; what is counted is each trial's alone.
 */
#pragma once

#include <signal.h>
#include <stdio.h>

#include <jansson.h>

#include "groups/run.h"
#include "platform/host.h"
#include "trials/trial_request.h"

struct trials {
	struct groups *groups; /* one */
	struct trial_limits limits;
	unsigned lcore; /* that the traffic runs on */
	const char *transport; /* "rings" or "ports" */
	const volatile sig_atomic_t *interrupted; /* counts signals that ask for the end */
	/* Where the data plane is in this process: takes what it has counted when a trial begins, on the
	 * traffic's thread, and adds to its answer what was counted since. NULL otherwise. */
	void (*begins)(void *data_plane, const struct traffic_load *load);
	void (*ended)(void *data_plane, json_t *answer);
	void *data_plane;
};

/*
 * Says that it is ready, then answers the requests that come from the file descriptor `in`, until it
 * ends or a signal asks for it. A trial under way then ends early and is answered with an error.
 * Returns 0, or -1 after a message where answers cannot be written.
 */
int trials_serve(const struct trials *t, int in, FILE *out);

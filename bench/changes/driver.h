/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who asks for changes: requests of several kinds in turn, as their JSON, at a steady rate. They go the way of those
 * of the control socket but for the socket, on the thread that calls.
 */
#pragma once

#include <stdint.h>

#include <hdr_histogram.h>

#include "bed.h"
#include "control/methods/methods.h"
#include "control/rpc.h"

enum change_kind {
	CHANGE_MODEM_REMOVE,
	CHANGE_MODEM_ADD,
	CHANGE_RULES,
	CHANGE_KEY,
	CHANGE_RATE,
	CHANGE_KINDS,
};

extern const char *const change_names[CHANGE_KINDS];

#define DRIVER_ASKED 64 /* requests at work at a time */

/* Of one kind. */
struct driver_figures {
	struct hdr_histogram *ns; /* from the request to its answer */
	struct hdr_histogram *work_ns; /* of the thread's own time, all calls of one request */
	uint64_t refused;
};

struct driver_asked {
	struct rpc_work *work; /* NULL: free */
	enum change_kind kind;
	uint64_t since; /* ns */
	uint64_t spent; /* ns of the thread */
};

struct driver {
	struct bed *bed;
	struct methods methods;
	struct rpc rpc;
	json_t *spares[BED_SPARES]; /* all keys of these modems */
	struct driver_asked asked[DRIVER_ASKED];
	unsigned turn;
	struct driver_figures figures[CHANGE_KINDS];
	uint64_t late; /* requests that found no free place in time */
};

/* Returns 0, or -1 after a message. To be freed by driver_free() in either case. */
int driver_create(struct driver *d, struct bed *b);
void driver_free(struct driver *d);

/* Asks for `rate` changes a second, none where that is 0, and waits for the answers. Returns how many there were. */
uint64_t driver_run(struct driver *d, unsigned rate, unsigned milliseconds);

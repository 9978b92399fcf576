/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests changes of several kinds in round robin, as JSON, at a steady rate. The requests take
 * the path of the control socket without the socket, on the calling thread. */
#pragma once

#include <stdint.h>

#include <hdr_histogram.h>

#include "bed.h"
#include "control/methods/methods.h"
#include "control/rpc.h"

#define DRIVER_REQUESTS 64 /* maximum pending requests */

/* Figures of one kind. */
struct driver_figures {
	struct hdr_histogram *ns; /* from request to response */
	struct hdr_histogram *work_ns; /* CPU time of the thread, over all calls of a request */
	uint64_t refused;
};

struct driver_request {
	struct rpc_work *work; /* NULL: free */
	enum change_kind kind;
	uint64_t since; /* ns: time of the request */
	uint64_t spent; /* ns: CPU time */
};

struct driver {
	struct bed *bed;
	struct methods methods;
	struct rpc rpc;
	json_t *spares[BED_SPARES]; /* the spare modems, as modem.add takes them */
	struct driver_request requests[DRIVER_REQUESTS];
	unsigned step; /* number of the next request, over all runs */
	struct driver_figures figures[DRIVER_KINDS]; /* by enum change_kind, of the last run */
	uint64_t late; /* requests sent more than a period late */
};

/*
 * Creates the driver in the zeroed `d`, for the first group of `b`, which must outlive `d` and have spares. The
 * group must have filter groups, and the last 4 of its BED_SPARES spares an unused next key. Each of its other
 * modems must have less than 500 Mbps of traffic, as requests set 500 Mbps or more. Returns 0, or -1 after a message.
 * The caller frees it with driver_free() in either case.
 */
int driver_create(struct driver *d, struct bed *b);

/* Accepts a zeroed struct. */
void driver_free(struct driver *d);

/*
 * Requests `rate` changes per second for the given time and waits for the responses; 0: only waits for the given
 * time. Makes at least some requests of each kind, for longer if the rate is low. A signal ends it early. Returns
 * the number of requests.
 */
uint64_t driver_run(struct driver *d, unsigned rate, unsigned milliseconds);

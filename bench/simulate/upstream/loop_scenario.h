/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario of the closed loop of requests and grants in the upstream (loop.h), read from JSON;
 * docs/upstream-scheduler.md has its keys. Times are samples of MAPS_HZ (204.8 MHz), except `jitter`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "access/access.h"
#include "scheduler/maps/maps.h"

#define LOOP_ERROR 160
#define LOOP_GROUPS 16
#define LOOP_SIZES 8
#define LOOP_MODEMS 16000 /* each has a SID */

/* Delays from a MAP's creation to a decoded burst, without propagation. */
struct loop_delays {
	uint64_t cmts; /* from MAP created to MAP sent */
	uint64_t downstream; /* interleaver and symbols */
	uint64_t modem; /* from MAP received to bursts prepared */
	uint64_t burst; /* from prepared to transmitted */
	uint64_t decode; /* from received to decoded */
};

struct loop_size {
	uint32_t bytes; /* of a DOCSIS frame */
	double share; /* weight: share of the packets, relative to the sum over all sizes */
};

/* Equal flows, each with its own modem. */
struct loop_group {
	char label[32];
	uint32_t count;
	uint64_t rate; /* bits of DOCSIS frames per second, per flow */
	bool regular; /* false: Poisson process */
	double jitter; /* seconds: maximum random delay of a packet, if regular */
	struct loop_size sizes[LOOP_SIZES];
	uint32_t size_count;
	/* samples, one way; spread evenly over the flows from the first value to below the second */
	uint64_t propagation, propagation_max;
	uint32_t channels; /* per flow, in round robin over the flows; 0: all */
	/* as in struct access_flow: */
	uint32_t outstanding; /* limit of unanswered requests */
	uint32_t request_unit; /* bytes */
	uint32_t patience; /* samples that it waits for a known grant instead of contending */
	uint32_t map_loss, request_loss; /* per million */
	enum access_conduct conduct; /* not ACCESS_BEYOND */
	uint32_t excess; /* ACCESS_ENDLESS: size of each request in bytes, whatever is queued */
	struct maps_flow flow; /* without clusters and header bytes, which loop_setup.c adds */
};

struct loop_scenario {
	/* The warm-up is the first part of the duration and is not measured. */
	uint64_t duration, warmup;
	uint64_t seed;
	struct loop_delays delays;
	uint32_t channel_count;
	/* of all channels; the reader derives `lead` and `ack_delay` from the delays and the largest propagation */
	struct maps_channel channel;
	struct loop_group groups[LOOP_GROUPS];
	uint32_t group_count;
	uint32_t modems; /* sum over all groups */
	uint32_t header_bytes; /* of a segment */
};

/* Returns false with a line in `error` that names the key; `out` is then undefined. */
bool loop_scenario_read(const json_t *json, struct loop_scenario *out, char error[LOOP_ERROR]);

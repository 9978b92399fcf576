/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario of the upstream, read from JSON; docs/upstream-scheduler.md has its keys. Times in
 * samples. */
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

/* Delays from a MAP's creation to a decoded burst. */
struct loop_delays {
	uint64_t cmts; /* from MAP created to MAP sent */
	uint64_t downstream; /* interleaver and symbols */
	uint64_t modem; /* from MAP received to bursts prepared */
	uint64_t burst; /* from prepared to transmitted */
	uint64_t decode; /* from received to decoded */
};

struct loop_size {
	uint32_t bytes; /* of a DOCSIS frame */
	double share; /* share of the packets */
};

/* Equal flows, each with its own modem. */
struct loop_group {
	char label[32];
	uint32_t count;
	uint64_t rate; /* bits of DOCSIS frames per second, per flow */
	bool regular; /* false: Poisson process */
	double jitter; /* maximum delay in s of a packet, if regular */
	struct loop_size sizes[LOOP_SIZES];
	uint32_t size_count;
	uint64_t propagation, propagation_max; /* samples, one way; spread evenly over the flows */
	uint32_t channels; /* per flow, in round robin; 0: all */
	/* unanswered requests, bytes, samples: as in struct access_flow */
	uint32_t outstanding, request_unit, patience;
	uint32_t map_loss, request_loss; /* per million */
	unsigned conduct; /* enum access_conduct */
	uint32_t excess; /* bytes of each request of ACCESS_ENDLESS */
	struct maps_flow flow; /* without clusters */
};

struct loop_scenario {
	uint64_t duration, warmup, seed;
	struct loop_delays delays;
	uint32_t channel_count;
	struct maps_channel channel; /* all channels are equal */
	struct loop_group groups[LOOP_GROUPS];
	uint32_t group_count;
	uint32_t modems; /* sum over all groups */
	uint32_t header_bytes; /* of a segment */
};

/* Returns false with a line in `error` that names the key. */
bool loop_scenario_read(const json_t *json, struct loop_scenario *out, char error[LOOP_ERROR]);

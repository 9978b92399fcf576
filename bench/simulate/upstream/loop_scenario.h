/* SPDX-License-Identifier: BSD-3-Clause */
/* What is simulated of an upstream, read from JSON; docs/upstream-simulation.md has its keys. Times in samples. */
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

/* How long what takes, from a MAP made to a burst understood. */
struct loop_delays {
	uint64_t cmts; /* MAP made until it is sent */
	uint64_t downstream; /* interleaver and symbols */
	uint64_t modem; /* MAP heard until bursts can be prepared */
	uint64_t burst; /* prepared until it is transmitted */
	uint64_t decode; /* received until it is understood */
};

struct loop_size {
	uint32_t bytes; /* of a DOCSIS frame */
	double share; /* of the packets */
};

/* Flows that are alike, each of a modem of its own. */
struct loop_group {
	char label[32];
	uint32_t count;
	uint64_t rate; /* bits of DOCSIS frames a second, of each */
	bool regular; /* or as a Poisson process */
	double jitter; /* s at most that a packet comes after its time, where regular */
	struct loop_size sizes[LOOP_SIZES];
	uint32_t size_count;
	uint64_t propagation, propagation_max; /* samples, one way: spread evenly over the flows */
	uint32_t channels; /* each has, in turn; 0: all */
	uint32_t outstanding, request_unit, patience;
	uint32_t map_loss, request_loss; /* of a million */
	unsigned conduct; /* enum access_conduct */
	uint32_t excess;
	struct maps_flow flow; /* without its clusters */
};

struct loop_scenario {
	uint64_t duration, warmup, seed;
	struct loop_delays delays;
	uint32_t channel_count;
	struct maps_channel channel; /* each is like this */
	struct loop_group groups[LOOP_GROUPS];
	uint32_t group_count;
	uint32_t modems; /* of all groups */
	uint32_t header_bytes; /* of a segment */
};

/* Returns false with a line in `error` that names the key. */
bool loop_scenario_read(const json_t *json, struct loop_scenario *out, char error[LOOP_ERROR]);

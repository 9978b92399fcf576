/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulates the upstream as a closed loop without packets: random arrivals, the modems of traffic/access,
 * the scheduler of src/scheduler/maps, and the delays between them, on a simulated clock.
 *
 *     arrivals ─► modems ─► bursts ─► decoded: packets, requests ─► scheduler ─► MAPs ─┐
 *                   ▲───────────────── after the delays of the downstream ─────────────┘
 */
#pragma once

#include <stdio.h>

#include <hdr_histogram.h>

#include "access/due.h"
#include "random/random.h"
#include "upstream/loop_scenario.h"

#define LOOP_UNIT 204.8 /* samples per us */

/* A queued packet. */
struct loop_packet {
	uint64_t arrived; /* samples: at the modem */
	uint32_t bytes; /* bytes not sent yet */
};

/* A flow: its source, and a ring of its packets. */
struct loop_flow {
	const struct loop_group *group;
	uint32_t number_in_group;
	uint64_t next; /* arrival of the next packet, without jitter */
	struct loop_packet *packets;
	uint32_t first, count, capacity;
	uint64_t departed; /* samples: its last packet left the CMTS; packets stay in order */
};

/* Measurements of a group of flows after the warm-up. */
struct loop_measure {
	struct hdr_histogram *latency; /* us/16 */
	uint64_t packets, bytes; /* that left the CMTS */
	uint64_t given_up; /* packets */
	uint64_t min, max; /* bytes of the flows with least and most; set at the end */
};

/* A request in flight to the scheduler, or a detected collision. */
struct loop_flying {
	struct maps_request request; /* 0 bytes: a collision */
	uint32_t collided; /* flows that collided; 0: a request */
	uint32_t next; /* in the list of unused entries */
};

struct loop {
	const struct loop_scenario *scenario;
	struct maps *maps;
	struct access *access;
	struct loop_flow *flows;
	uint64_t *carried; /* bytes by flow, after the warm-up */
	struct loop_measure measures[LOOP_GROUPS];
	struct due arrivals; /* next packets at the modems, by flow */
	struct due arriving; /* requests and collisions at the scheduler, by entry of `flying` */
	struct loop_flying *flying;
	uint32_t flying_capacity, flying_free; /* `flying_free`: the first unused entry */
	struct random random;
	uint64_t now; /* samples */
	FILE *record; /* MAPs and requests as lines of JSON; or NULL */
	const char *error;
	/* Counts after the warm-up. */
	struct access_counts access_before, access_after;
	struct maps_counts maps_before[MAPS_MAX_CHANNELS], maps_after[MAPS_MAX_CHANNELS];
	/* of data grants: minislots with bytes of bursts and their overhead */
	uint64_t used_minislots;
	uint64_t used_channel[MAPS_MAX_CHANNELS];
	uint64_t lost_requests; /* by an impairment */
	uint64_t verdicts[MAPS_VERDICTS];
	uint64_t packets; /* arrived in the whole run */
};

/* Creates scheduler and modems. Returns false with `error` set. The caller frees it with
 * loop_free() in either case. */
bool loop_setup(struct loop *l, const struct loop_scenario *scenario, FILE *record);
void loop_free(struct loop *l);

/* Runs the simulation. Returns NULL, or the error. */
const char *loop_run(struct loop *l);

/* Returns a new object, or NULL if memory is short. */
json_t *loop_result(struct loop *l);

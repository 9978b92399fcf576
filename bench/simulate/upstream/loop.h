/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream as a closed loop, without packets: random arrivals, the modems of traffic/access, the scheduler of
 * src/scheduler/maps, and the delays between them, on a simulated clock.
 *
 *     arrivals ─► modems ─► bursts ─► decoded: packets, requests ─► scheduler ─► MAPs ─┐
 *                   ▲──────────────────────── after the downstream's delays ──────────┘
 */
#pragma once

#include <stdio.h>

#include <hdr_histogram.h>

#include "access/due.h"
#include "random/random.h"
#include "upstream/loop_scenario.h"

#define LOOP_UNIT 204.8 /* samples in a us: the histograms' unit */

/* A packet that waits. */
struct loop_packet {
	uint64_t came;
	uint32_t bytes; /* what is left of it */
};

/* One flow: its source, and its packets in a ring. */
struct loop_flow {
	const struct loop_group *group;
	uint32_t number_in_group;
	uint64_t next; /* when the next packet comes, without jitter */
	struct loop_packet *packets;
	uint32_t first, count, room;
	uint64_t left; /* when its last packet left the CMTS: they stay in order */
};

/* What a group of flows saw, after the warm-up. */
struct loop_measure {
	struct hdr_histogram *latency; /* us/16 */
	uint64_t packets, bytes; /* that left the CMTS */
	uint64_t given_up; /* packets */
	uint64_t least, most; /* bytes of the flow that had least and most; after the end */
};

/* A request on its way to the scheduler, or a collision that was seen. */
struct loop_flying {
	struct maps_request request; /* 0 bytes: a collision */
	uint32_t collided;
	uint32_t next; /* of those not in use */
};

struct loop {
	const struct loop_scenario *scenario;
	struct maps *maps;
	struct access *access;
	struct loop_flow *flows;
	uint64_t *carried; /* bytes, by flow, after the warm-up */
	struct loop_measure measures[LOOP_GROUPS];
	struct due arrivals, arriving;
	struct loop_flying *flying;
	uint32_t flying_room, flying_free;
	struct random random;
	uint64_t now;
	FILE *record; /* MAPs and requests as lines of JSON; NULL: none */
	const char *error;
	/* After the warm-up. */
	struct access_counts access_before, access_after;
	struct maps_counts maps_before[MAPS_MAX_CHANNELS], maps_after[MAPS_MAX_CHANNELS];
	uint64_t used_minislots; /* of data grants: with bytes of bursts, and their overhead */
	uint64_t used_channel[MAPS_MAX_CHANNELS];
	uint64_t lost_requests; /* as an impairment */
	uint64_t verdicts[MAPS_VERDICTS];
	uint64_t packets; /* that came, of the whole run */
};

/* Makes scheduler and modems. Returns false with `error` set; to be freed by loop_free() in either case. */
bool loop_setup(struct loop *l, const struct loop_scenario *scenario, FILE *record);
void loop_free(struct loop *l);

/* Runs it all. Returns NULL, or what went wrong. */
const char *loop_run(struct loop *l);

/* A new object, or NULL where memory is short. */
json_t *loop_result(struct loop *l);

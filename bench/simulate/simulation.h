/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Senders on a simulated clock, with the scheduler between them and their receivers:
 *
 *   sender ── half the round trip ──► scheduler ──► channel ── half the round trip ──► acknowledgement
 *
 * The senders' links have no limit, so packets queue only in the scheduler. A host delays each packet by a
 * random time, up to its duration at the service flow's rate. Otherwise senders synchronize with the queue,
 * and some always find it full (Floyd and Jacobson, "On Traffic Phase Effects in Packet-Switched
 * Gateways"). Receivers get bonded packets in order and acknowledge each.
 */
#pragma once

#include "events.h"
#include "measure.h"
#include "random/random.h"
#include "scenario.h"
#include "tcp.h"

struct packet;

struct sender {
	const struct sender_group *group;
	struct group_measure *measure;
	uint64_t rtt; /* ns, without queueing delay */
	uint64_t jitter; /* ns: maximum random delay of a packet */
	uint64_t arrival; /* at the scheduler, of the latest packet */
	struct tcp tcp;
	bool timer_runs;
	uint64_t bytes; /* delivered, from the end of the warm-up */
};

struct simulation {
	const struct scenario *scenario;
	struct scheduler *scheduler;
	struct events events;
	struct random random;
	uint64_t now; /* ns */
	uint64_t service; /* next time at which the scheduler is called */
	struct sender *senders;
	unsigned sender_count;
	struct flow_measure flows[SCENARIO_MAX_FLOWS];
	struct group_measure groups[SCENARIO_MAX_GROUPS];
	struct scheduler_flow settings[SCENARIO_MAX_FLOWS]; /* current settings */
	uint64_t settings_since[SCENARIO_MAX_FLOWS]; /* the capacity is counted until then */
	uint64_t delivered[SCENARIO_MAX_FLOWS]; /* time of the latest delivery */
	uint64_t channel_free[SCENARIO_MAX_CHANNELS]; /* when the latest packet ends */
	struct rate_change changes[SCENARIO_MAX_CHANGES]; /* of the scenario */
	struct packet *unused; /* list of unused packets */
	struct packet **slabs; /* memory of the packets */
	size_t slab_count;
	const char *error; /* NULL: none */
};

/* Runs a scenario to its end. Returns NULL, or the error. */
const char *simulation_run(struct simulation *s, const struct scenario *scenario);

void simulation_free(struct simulation *s);

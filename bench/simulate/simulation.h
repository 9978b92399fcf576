/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Senders on a simulated clock, and the scheduler between them and their receivers:
 *
 *   sender ── half the round trip ──► scheduler ──► channel ── half the round trip ──► acknowledgement
 *
 * The senders' links have no limit of their own: what is queued is queued in the scheduler. A host
 * takes a random time for each packet, up to what it takes at the service flow's rate: without it, senders
 * fall into step with the queue, and some find it full each time (Floyd and Jacobson, "On Traffic Phase
 * Effects in Packet-Switched Gateways"). Receivers get bonded packets back in order, and acknowledge each.
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
	uint64_t rtt; /* ns, without the queue */
	uint64_t jitter; /* ns: up to so much later a packet sets out */
	uint64_t arrival; /* of the latest packet at the scheduler */
	struct tcp tcp;
	bool timer_runs;
	uint64_t bytes; /* delivered, from the end of the warm-up on */
};

struct simulation {
	const struct scenario *scenario;
	struct scheduler *scheduler;
	struct events events;
	struct random random;
	uint64_t now; /* ns */
	uint64_t service; /* when the scheduler is asked for packets */
	struct sender *senders;
	unsigned sender_count;
	struct flow_measure flows[SCENARIO_MAX_FLOWS];
	struct group_measure groups[SCENARIO_MAX_GROUPS];
	struct scheduler_flow settings[SCENARIO_MAX_FLOWS]; /* that are in force */
	uint64_t settings_since[SCENARIO_MAX_FLOWS];
	uint64_t delivered[SCENARIO_MAX_FLOWS]; /* when the latest packet will be */
	uint64_t channel_free[SCENARIO_MAX_CHANNELS];
	struct rate_change changes[SCENARIO_MAX_CHANGES]; /* the scenario's */
	struct packet *unused; /* a list */
	struct packet **slabs; /* where packets live */
	size_t slab_count;
	const char *error; /* what went wrong; NULL: nothing */
};

/* Runs a scenario to its end. Returns NULL, or says what went wrong. */
const char *simulation_run(struct simulation *s, const struct scenario *scenario);

void simulation_free(struct simulation *s);

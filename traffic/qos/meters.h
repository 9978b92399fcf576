/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quality of service as the modems see it: what the rates of service flows, modems and channels let
 * through, and how long packets of each priority took. It is measured here and judged by `vcmts run`.
 *
 * One thread. It knows the group as it was when the run began: what changes is not judged.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/targets.h"
#include "model/service_group.h"
#include "proof/resequencer.h"
#include "qos/meter.h"

#define METERS_PRIORITIES 8
/* A packet that takes longer waits in the scheduler: ports do not hold so much. */
#define METERS_WAIT_MS 50

struct meter_flow {
	struct rate_limit sustained;
	struct rate_limit peak;
	struct backlog backlog;
	uint32_t modem; /* index */
	uint32_t id; /* SFID; 0: no such flow */
	uint16_t group; /* index of the bonding group */
	uint8_t priority;
	uint8_t weight;
	bool reserves; /* some flow of its modem has a reserved rate */
	bool free; /* neither the flow nor its modem has a rate, and nothing is reserved */
};

struct meter_modem {
	struct rate_limit aggregate;
	struct backlog backlog;
	uint32_t first_id; /* SFID of its first flow, which tells it */
};

struct meter_channel {
	struct rate_limit limit;
	struct backlog backlog; /* of the bytes of DEPI frames */
	uint32_t id;
};

/* Of packets of flows that are `free`. */
struct meter_delay {
	uint64_t packets;
	double cycles; /* together */
};

struct meter_group {
	struct meter_delay delays[METERS_PRIORITIES];
	uint64_t channels[SG_MAX_CHANNELS / 64]; /* a bit for each */
	double load; /* the largest part of its rate that one of them carried, up to meters_stop() */
	uint32_t id;
};

struct meters {
	struct meter_flow *flows; /* by stream */
	struct meter_modem *modems;
	struct meter_group *groups;
	struct meter_channel channels[SG_MAX_CHANNELS];
	uint32_t flow_count, modem_count, group_count, channel_count;
	double rate_limit; /* of the service group, bytes a cycle; 0: none */
	uint64_t wait; /* cycles of METERS_WAIT_MS */
	double hz;
	uint64_t since; /* when the first packet came; 0: none did */
	uint64_t until; /* when the last packet was sent; 0: it is still sent */
};

/* NULL: no memory. To be freed by meters_free(). */
struct meters *meters_create(const struct service_group *sg, const struct targets *targets,
			     uint64_t tsc_hz);

void meters_free(struct meters *q);

/* Takes note of a packet that arrived in its place at TSC `now`. NULL for `q`: of nothing, as below. */
void meters_packet(struct meters *q, const struct arrived *packet, uint64_t now);

/* Takes note of a DEPI frame of `bytes` on a channel. */
void meters_depi(struct meters *q, uint32_t channel, uint32_t bytes, uint64_t now);

/* Nothing more is sent: what waits then is drained, which tells nothing of shares. */
void meters_stop(struct meters *q, uint64_t now);

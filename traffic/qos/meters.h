/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quality of service at the modems: rates of service flows, modems and channels, and delays of packets by
 * priority. `vcmts run` compares the results with the configuration.
 *
 * Used by one thread. The configuration is that of the start of the run; objects that a change adds are not
 * measured.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/targets.h"
#include "model/service_group.h"
#include "proof/prefetch.h"
#include "proof/resequencer.h"
#include "qos/meter.h"

#define METERS_PRIORITIES 8
/* A packet with a longer delay has waited in the scheduler, as ports do not buffer so much. */
#define METERS_WAIT_MS 50

struct meter_flow {
	struct rate_limit sustained;
	struct rate_limit peak;
	struct backlog backlog;
	uint32_t modem; /* index */
	uint32_t id; /* SFID; 0: unused */
	uint16_t group; /* index of the bonding group */
	uint8_t priority;
	uint8_t weight;
	bool reserves; /* a flow of its modem has a reserved rate */
	bool free; /* neither the flow nor its modem has a rate limit or a reserved rate */
};

struct meter_modem {
	struct rate_limit aggregate;
	struct backlog backlog;
	uint32_t first_id; /* SFID of its first flow, which identifies the modem */
};

struct meter_channel {
	struct rate_limit limit;
	struct backlog backlog; /* in bytes of DEPI frames */
	uint32_t id;
};

/* Delays of packets of flows that are `free`. */
struct meter_delay {
	uint64_t packets;
	double cycles; /* sum of the delays */
};

struct meter_group {
	struct meter_delay delays[METERS_PRIORITIES];
	uint64_t channels[SG_MAX_CHANNELS / 64]; /* bitmap of its channels */
	/* largest ratio of carried bytes to rate among its channels, until meters_stop() */
	double load;
	uint32_t id;
};

struct meters {
	struct meter_flow *flows; /* by stream */
	struct meter_modem *modems;
	struct meter_group *groups;
	struct meter_channel channels[SG_MAX_CHANNELS];
	uint32_t flow_count, modem_count, group_count, channel_count;
	double rate_limit; /* of the service group, bytes per cycle; 0: none */
	uint64_t wait; /* cycles of METERS_WAIT_MS */
	double hz;
	uint64_t since; /* arrival of the first packet; 0: none arrived */
	uint64_t until; /* end of sending; 0: still sending */
};

/* Returns NULL if memory is short. The caller frees it with meters_free(). */
struct meters *meters_create(const struct service_group *sg, const struct targets *targets,
			     uint64_t tsc_hz);

void meters_free(struct meters *q);

/* Counts a packet delivered in order at TSC `now`. These functions do nothing if `q` is NULL. */
void meters_packet(struct meters *q, const struct arrived *packet, uint64_t now);

/* Prefetches what meters_packet() needs for a packet of `stream` of the modem with index `modem`. */
static inline void meters_prefetch(const struct meters *q, uint32_t stream, uint32_t modem) {
	if (q == NULL || stream >= q->flow_count || modem >= q->modem_count)
		return;
	prefetch_record(&q->flows[stream], sizeof(*q->flows));
	prefetch_record(&q->modems[modem], sizeof(*q->modems));
}

/* Counts a DEPI frame of `bytes` on a channel. */
void meters_depi(struct meters *q, uint32_t channel, uint32_t bytes, uint64_t now);

/* Marks the end of sending. Queues drain from then on, which says nothing about shares. */
void meters_stop(struct meters *q, uint64_t now);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service flow and channel access scheduling on opaque packet handles, with the time given by the
 * caller. Pure C.
 *
 * What it does today: one queue a service flow with a limit in bytes, round robin by packet over
 * the flows of a bonding group, the channel of the group that is free first, and a rate limit for
 * the whole service group. A channel is given work at most SCHEDULER_LEAD_NS ahead of its rate, so
 * that queues build up here, where a packet can still be dropped for a reason, and not in the
 * R-PHY device.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULER_LEAD_NS 500000
#define SCHEDULER_RATE_MIN 1000 /* bits per second */

struct scheduler;

struct scheduler_channel {
	uint64_t rate; /* bits per second, at least SCHEDULER_RATE_MIN */
};

struct scheduler_group {
	const uint32_t *channels; /* indices */
	size_t channel_count; /* at least one */
};

struct scheduler_flow {
	uint32_t group; /* index of the bonding group */
	uint32_t buffer; /* bytes that may wait */
};

/* Copied by scheduler_create(); the arrays need not live on. */
struct scheduler_config {
	const struct scheduler_channel *channels;
	size_t channel_count;
	const struct scheduler_group *groups;
	size_t group_count;
	const struct scheduler_flow *flows;
	size_t flow_count;
	uint64_t rate_limit; /* bits per second of the service group, from
			      * SCHEDULER_RATE_MIN; 0 = none */
	uint32_t packet_limit; /* packets that all queues may hold together */
};

enum scheduler_verdict {
	SCHEDULER_QUEUED,
	SCHEDULER_FLOW_FULL, /* the flow's buffer has no room: the caller keeps the packet */
	SCHEDULER_FULL, /* packet_limit is reached: the caller keeps the packet */
};

struct scheduler_grant {
	void *packet;
	uint32_t flow;
	uint16_t channel;
	uint16_t sequence; /* counts the flow's grants, modulo 65,536: the DSID's sequence number */
};

/* Returns NULL when memory is short, a rate is too low, or the configuration names a group or
 * channel that is not there. To be freed by scheduler_free(). */
struct scheduler *scheduler_create(const struct scheduler_config *config);

/* Frees the scheduler. Packets still queued remain the caller's: drain first. */
void scheduler_free(struct scheduler *s);

/*
 * Queues a packet of `bytes` for `flow`. `channel_bytes` is what it takes of the channel, DOCSIS
 * overhead included; the same bytes count against the rate limit of the service group.
 */
enum scheduler_verdict scheduler_enqueue(struct scheduler *s, uint32_t flow, void *packet,
					 uint32_t bytes, uint32_t channel_bytes);

/* Takes out up to `n` packets that a channel can send at time `now` (ns). Returns how many. */
unsigned scheduler_dequeue(struct scheduler *s, uint64_t now, struct scheduler_grant *grants,
			   unsigned n);

/* Takes out up to `n` packets without regard to channels, to empty the queues at a stop. */
unsigned scheduler_drain(struct scheduler *s, void **packets, unsigned n);

/* Packets in all queues. */
uint32_t scheduler_held(const struct scheduler *s);

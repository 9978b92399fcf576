/* SPDX-License-Identifier: BSD-3-Clause */
/* A service group in service: its configuration, keys, downstream and upstream. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "downstream/downstream.h"
#include "model/live/live_group.h"
#include "model/service_group.h"
#include "server/group_crypto.h"
#include "server/layout.h"
#include "server/pools.h"
#include "server/worker.h"
#include "upstream/upstream.h"

/* The packet sources and sinks of a group. */
struct group_endpoints {
	struct packet_source from_network, from_rphy;
	struct packet_sink to_network, to_rphy;
	struct packet_sink to_control; /* may be unset */
};

/* What the server provides. All of it outlives the group. */
struct group_resources {
	struct group_endpoints endpoints;
	const struct server_pools *pools;
	bool linear; /* the R-PHY port does not transmit chained mbufs */
	uint32_t queued_max; /* limit of packets in its queues */
	uint32_t hand_over_max; /* limit of packets between upper and lower MAC */
	uint32_t pending_max; /* limit of bytes pending in its upstream */
	uint32_t in_flight_max; /* limit of buffers in flight in its upstream */
	struct crypto_provider *provider;
	struct worker *upper, *lower, *upstream; /* may be the same */
};

struct served_group {
	/* The configuration in service; `sg` points to it. Threads other than the control thread
	 * read it under the server's lock only. */
	struct live_group live;
	const struct service_group *sg;
	char *device; /* live.sg.crypto.device if a change has set it; else NULL */
	struct group_crypto crypto;
	double keys_seconds; /* s that making the keys took */
	/* replaced keys, counted per modem, by enum crypto_direction */
	uint64_t key_rolls[CRYPTO_UPLINK + 1];
	bool in_service; /* in service: other threads may read the group */
	bool drained; /* it receives nothing */
	uint64_t emptied; /* of its empty source while drained, see served_group_connect() */
	struct pool_needs needs; /* buffers that it may keep */
	struct worker *upper; /* owns the scheduler */
	struct worker *lower, *upstream_worker; /* may be the same */
	struct downstream *downstream;
	struct upstream *upstream; /* NULL if no upstream channels are configured */
};

/* Creates the zeroed `g` with a copy of `sg`; no worker runs its pipelines yet. Returns 0, or -1
 * and logs the reason. The caller calls served_group_free() in either case. */
int served_group_create(struct served_group *g, const struct service_group *sg,
			const struct group_resources *r);

/* Reserves entries for its pipelines at its workers, then adds the pipelines. The first returns 0,
 * or -1 and logs the reason. */
int served_group_reserve(const struct served_group *g);
void served_group_enter(struct served_group *g);

/* Removes parts (bits of enum layout_part) from their workers: when it returns, no worker runs
 * them. */
void served_group_leave(struct served_group *g, unsigned parts);

/* Moves one part to another worker, which must have free entries. */
#define SERVED_GROUP_PART 3 /* pipelines of a part, at most */
struct worker *served_group_worker(const struct served_group *g, enum layout_part part);
void served_group_move(struct served_group *g, enum layout_part part, struct worker *to);

/*
 * Changes the sources and sinks, between two rounds of each worker. A source whose `emptied` is
 * that of the group is always empty, and polls of it do not count: reassembly timers stand still
 * until the group has another source.
 */
void served_group_connect(struct served_group *g, const struct group_endpoints *endpoints);

/* Starts or stops its upstream scheduler; in effect on return. No effect if it has none. */
void served_group_grant(struct served_group *g, bool on);

/* Ends upstream reception: pending parts expire by their timers. Workers may run. */
void served_group_end(struct served_group *g);

/* Number of pending packets and parts of packets. */
uint64_t served_group_pending(const struct served_group *g);

/* The same for a group that receives nothing, and exact: each worker counts its own part between
 * two rounds, in the order of the packet flow. For the control thread. */
uint64_t served_group_remaining(const struct served_group *g);

/* Pending parts whose missing parts have not arrived; they stay while nothing is received. */
uint64_t served_group_waiting(const struct served_group *g);

/* Whether received = transmitted + drops + pending. Call it when no worker runs. */
bool served_group_balanced(const struct served_group *g);

/* Whether a pending packet would still move on without new input. */
bool served_group_busy(const struct served_group *g);

/* Stop reception, and run one round of the stages that empty the group. No worker may be
 * running. */
void served_group_close(struct served_group *g);
void served_group_drain_round(struct served_group *g);

/* Drops everything pending for the reasons of a stop. No worker may be running. */
void served_group_stop(struct served_group *g);

/* Frees everything but the configuration. The ports must be closed. Accepts a zeroed or partly
 * created struct. */
void served_group_free(struct served_group *g);

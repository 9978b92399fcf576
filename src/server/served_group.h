/* SPDX-License-Identifier: BSD-3-Clause */
/* A service group in service: both directions, their keys, and its quality of service. */
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

/* Where packets come from, and where they go. */
struct group_wires {
	struct packet_source from_network, from_rphy;
	struct packet_sink to_network, to_rphy;
	struct packet_sink to_control; /* may be none */
};

/* What the server provides: all of it outlives the group. */
struct group_resources {
	struct group_wires wires;
	const struct server_pools *pools;
	bool linear; /* the R-PHY port takes no chains of buffers */
	uint32_t queued_max; /* packets in its queues */
	uint32_t hand_over_max; /* packets between upper and lower MAC */
	uint32_t held_max; /* bytes that wait in its upstream */
	uint32_t moving_max; /* buffers that are on their way in it */
	struct crypto_provider *provider;
	struct worker *upper, *lower, *upstream; /* they may be the same */
};

struct served_group {
	/* What is in service, `sg` its configuration. For other threads than the control thread under the
	 * server's lock only. */
	struct live_group live;
	const struct service_group *sg;
	char *device; /* live.sg.crypto.device, where a change has set it; else NULL */
	struct group_crypto crypto;
	double keys_seconds; /* what making both took */
	uint64_t key_rolls[CRYPTO_UPLINK + 1]; /* keys that gave way to others, a modem each */
	bool there; /* to be told of by others */
	bool drained; /* it receives nothing */
	uint64_t emptied; /* of the source that it has then */
	struct pool_needs needs; /* what it may keep of the pools */
	struct worker *upper; /* which owns the scheduler */
	struct worker *lower, *upstream_worker; /* they may be the same */
	struct downstream *downstream;
	struct upstream *upstream; /* NULL where the configuration has no upstream channels */
};

/* Makes the zeroed `g` with a copy of `sg`; no worker has its lists yet. Returns 0, or -1 after a message. To be
 * freed by served_group_free() in either case. */
int served_group_create(struct served_group *g, const struct service_group *sg,
			const struct group_resources *r);

/* Room for its lists at its workers, and then the lists. The first returns 0, or -1 after a message. */
int served_group_reserve(const struct served_group *g);
void served_group_enter(struct served_group *g);

/* From when it returns on, no worker runs the parts (bits of enum layout_part). */
void served_group_leave(struct served_group *g, unsigned parts);

/* Has one part run by another worker, which has room for it. */
#define SERVED_GROUP_PART 3 /* lists of a part, at most */
struct worker *served_group_worker(const struct served_group *g, enum layout_part part);
void served_group_move(struct served_group *g, enum layout_part part, struct worker *to);

/*
 * Other wires, between two rounds of each worker. A source whose `emptied` is that of the group is always empty,
 * and nothing comes of asking it: what waits for missing parts goes on waiting, until it has another one.
 */
void served_group_wire(struct served_group *g, const struct group_wires *wires);

/* Whether its upstream scheduler makes MAPs, from when it returns on; harmless where it has none. */
void served_group_grant(struct served_group *g, bool on);

/* Nothing more comes: what waits for missing parts is given up in its time. Also while workers run. */
void served_group_end(struct served_group *g);

/* Packets and parts of packets that are in it. */
uint64_t served_group_held(const struct served_group *g);

/* The same where nothing comes any more, and sure: each worker counts what is its own between two of its rounds, when
 * no packet is in its hands, in the order of travel. By the control thread. */
uint64_t served_group_left(const struct served_group *g);

/* Of these, parts whose rest has not come: where nothing is received, they stay. */
uint64_t served_group_waiting(const struct served_group *g);

/* Whether received = transmitted + drops + held. To be asked when no worker runs. */
bool served_group_balanced(const struct served_group *g);

/* Whether something in it would still go on its way though nothing came in. */
bool served_group_busy(const struct served_group *g);

/* Nothing more is received; one round of what takes out what is in it. No worker may be running. */
void served_group_close(struct served_group *g);
void served_group_drain_round(struct served_group *g);

/* Ends all that is held, under the reasons of a stop. No worker may be running. */
void served_group_stop(struct served_group *g);

/* Frees everything but the configuration. The ports are closed.
 * Harmless on a zeroed or half-made one. */
void served_group_free(struct served_group *g);

/* SPDX-License-Identifier: BSD-3-Clause */
/* A service group in service: both directions, their crypto sessions, and its quality of service. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "downstream/downstream.h"
#include "model/service_group.h"
#include "platform/crypto.h"
#include "server/pools.h"
#include "server/worker.h"
#include "upstream/upstream.h"

/* What the server provides: all of it outlives the group. */
struct group_resources {
	struct packet_source from_network, from_rphy;
	struct packet_sink to_network, to_rphy;
	struct packet_sink to_control; /* its port may be PACKET_NO_PORT */
	const struct server_pools *pools;
	bool linear; /* the R-PHY port takes no chains of buffers */
	uint32_t queued_max; /* packets in its queues */
	uint32_t hand_over_max; /* packets between upper and lower MAC */
	struct docsis_crypto *crypto;
	uint16_t crypto_queues[2]; /* of the crypto device: downstream, upstream */
	struct worker *upper, *lower, *upstream; /* they may be the same */
};

struct served_group {
	const struct service_group *sg; /* what everything was made of */
	/* The same, or what changed its quality of service since: the scheduler has that. For threads
	 * other than the one that calls served_group_set_qos() under the lock only. */
	const struct service_group *qos;
	pthread_mutex_t qos_lock;
	struct docsis_crypto *crypto; /* the server's */
	void **sessions; /* DOWNLINK, one a modem */
	void **up_sessions; /* UPLINK, two a modem; NULL without an upstream */
	double sessions_seconds; /* what making both took */
	struct worker *upper; /* which owns the scheduler */
	struct downstream *downstream;
	struct upstream *upstream; /* NULL where the configuration has no upstream channels */
};

/* Crypto sessions that the group will have. */
unsigned served_group_sessions(const struct service_group *sg);

/* Makes the zeroed `g` and gives its lists to its workers, which do not run. Returns 0, or -1 after a
 * message. To be freed by served_group_free() in either case. */
int served_group_create(struct served_group *g, const struct service_group *sg,
			const struct group_resources *r);

/* Tells what the scheduler has now. Afterwards nobody reads what it had before. */
void served_group_set_qos(struct served_group *g, const struct service_group *qos);

/* Packets and parts of packets that are in it. */
uint64_t served_group_held(const struct served_group *g);

/* Whether received = transmitted + drops + held. To be asked when no worker runs. */
bool served_group_balanced(const struct served_group *g);

/* Whether something in it would still go on its way though nothing came in. */
bool served_group_busy(const struct served_group *g);

/* Whether the cycles of all stages are measured; they are after served_group_create(). */
void served_group_account(struct served_group *g, bool on);

/* Whether it is measured how long packets stay; it is not after served_group_create(). May be called
 * while workers run. Returns 0, or -1 after a message. */
int served_group_latency(struct served_group *g, bool on);

/* Nothing more is received; one round of what takes out what is in it. No worker may be running. */
void served_group_close(struct served_group *g);
void served_group_drain_round(struct served_group *g);

/* Ends all that is held, under the reasons of a stop. No worker may be running. */
void served_group_stop(struct served_group *g);

/* Frees everything but the configuration. The crypto device has been stopped, the ports are closed.
 * Harmless on a zeroed or half-made one. */
void served_group_free(struct served_group *g);

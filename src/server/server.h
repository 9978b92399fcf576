/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server: service groups in service, and what they share: ports, the crypto provider, buffers, workers (docs/decisions/008-server.md). It is made in this order:
 *
 *     server_ports_find()     which devices there are; EAL is started with them
 *     server_create()         workers, buffer pools
 *     server_ports_open()     or server_ports_give() by who made ports
 *     server_serve()          the groups
 *     server_ports_start()    packets may come
 *     server_steering_start() to queues of the groups
 *
 * and freed by server_free() from wherever this ended.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "crypto/providers.h"
#include "model/server_config.h"
#include "platform/cpus.h"
#include "power/idle/cpu.h"
#include "server/layout.h"
#include "server/pools.h"
#include "server/ports.h"
#include "server/served_group.h"
#include "server/shares.h"
#include "server/worker.h"

/* Who makes the rounds of workers that have no threads, and lets time go on between them: a replay. */
struct server_rounds {
	void (*pass)(void *arg); /* makes rounds until a little time is over */
	void *arg;
};

/* What groups counted that are not there any more. */
struct server_gone {
	unsigned groups;
	struct counters down, up;
	struct counters ports; /* of ports that were shared */
	uint64_t up_in[UNITS], up_out[UNITS];
	uint64_t requests[REQUEST_KINDS];
};

/* What is measured on request; see server/measure.h. */
struct server_measure {
	bool on;
	uint64_t since,
		until; /* ns by server_now(): it was switched on and, where it is off, off; 0: never */
};
struct server_measures {
	struct server_measure cycles, latency;
};

struct server_watcher; /* changes.h */

struct server {
	/* Where it was started, before its threads were bound to their cores; NULL: not known. */
	const struct cpus *machine;
	const struct server_config *config; /* of the start: for limits, not for what is there */
	struct layout layout; /* where everything runs now */
	struct layout home; /* where the groups' configurations have it */
	struct server_ports ports;
	struct server_shares shares;
	struct port_steering *steering[SERVER_PORTS_MAX]; /* server/steering.c; NULL: not there */
	struct server_pools pools;
	struct crypto_providers crypto;
	enum crypto_isa crypto_isa; /* that the library may use: to be set before server_serve() */
	bool no_crypto; /* server_serve() failed, as this machine has not what groups get that name no device */
	struct worker *workers; /* lcore i + 1 is that of worker i */
	unsigned worker_count;
	struct rte_rcu_qsbr *quiet; /* where workers tell that they hold nothing */
	const struct server_rounds *rounds; /* NULL: their threads do, or nobody */
	/*
	 * A group's number is its place here while it is there; those of the configuration come first, in its
	 * order. Other threads than the one that calls the functions below look under the lock only, at what
	 * served_group.there tells of, and at ports and shares.
	 */
	struct served_group *groups;
	unsigned group_count; /* from here on no number is taken */
	unsigned group_most;
	pthread_rwlock_t lock;
	struct rte_ring *nothing; /* an empty ring: the source of groups that receive nothing */
	struct server_gone gone;
	struct server_measures measures;
	double keys_seconds; /* what making the schedules of all keys took */
	uint64_t generation; /* changes since the start: of objects, and groups that came or went */
	const struct server_watcher *watcher; /* is told of them; NULL: there is none */
	uint64_t watched; /* number of the last change that watchers were told of */
	struct power_config power; /* what is asked for now: see server_idle() */
	struct power_fixed { /* what was given by arguments, so that no file changes it */
		bool idle, policy, driver;
		struct power_config given; /* what these are */
	} power_fixed;
	bool metrics_fixed; /* likewise where scrapers ask */
	struct umwait_limit umwait; /* that the kernel had when pauses were set last */
	uint64_t idle_refused; /* kinds of pauses that were, and are not to be had */
	uint64_t refused; /* changes that were asked for since then, and could not be made */
	/* Changes that are in service and whose remains leave, the oldest first; and the group that workers are at
	 * for them, NULL: none. See changes.h. */
	struct server_change *leaving;
	const struct group_change *leaves;
	bool report_flows; /* reports tell of every service flow */
};

/* A configuration of one group alone, whose memory remains the caller's. */
struct lone_group {
	struct server_config config;
	struct service_group group;
};
const struct server_config *lone_group_config(struct lone_group *l, const struct service_group *sg);

/*
 * Workers and buffer pools in the zeroed `s`, in which nothing but ports may have been listed; where
 * none are, each group is to be given its own. `config` must live on. Returns 0, or -1 after a message.
 */
int server_create(struct server *s, const struct server_config *config);

/* Crypto provider, keys and both directions of all groups, on ports that are open. Returns 0, or -1
 * after a message. */
int server_serve(struct server *s);

/* The groups that there are. */
struct group_slots server_slots(const struct server *s);

/* Packets and parts of packets that are in it. */
uint64_t server_held(const struct server *s);

/* Whether received = transmitted + drops + held in each group. To be asked when no worker runs. */
bool server_balanced(const struct server *s);

/*
 * Receives nothing more, and has what is on its way go out, for at most `cycles` of the TSC, as far as the
 * ports take it; what remains ends under the reasons of a stop. No worker may be running.
 */
void server_drain(struct server *s, uint64_t cycles);

/* Ends all that is held, under the reasons of a stop. No worker may be running. */
void server_stop(struct server *s);

/* Closes the ports and frees everything but the configuration. Harmless on a zeroed or half-made one. */
void server_free(struct server *s);

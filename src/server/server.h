/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server: service groups, and what they share: ports, crypto providers, buffers, workers
 * (docs/decisions/008-server.md). Call the functions in this order:
 *
 *     server_ports_find()     lists the devices, with which EAL is started
 *     server_create()         creates workers and buffer pools
 *     server_ports_open()     or server_ports_set() for ports that the caller made
 *     server_serve()          puts the groups into service
 *     server_ports_start()    packets arrive from here on
 *     server_steering_start() has NICs steer packets to the groups' queues
 *
 * server_free() frees the server in any of these states.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "crypto/providers.h"
#include "model/live/unsaved.h"
#include "model/server_config.h"
#include "platform/cpus.h"
#include "power/idle/cpu.h"
#include "server/layout.h"
#include "server/pools.h"
#include "server/ports.h"
#include "server/served_group.h"
#include "server/shares.h"
#include "server/worker.h"

/* Runs the rounds of workers that have no threads and advances time between them: a replay. */
struct server_rounds {
	void (*pass)(void *arg); /* runs rounds until a short time has passed */
	void *arg;
};

/* Counters of removed groups. */
struct server_removed {
	unsigned groups;
	struct counters down, up;
	struct counters ports; /* of removed shared ports */
	uint64_t up_in[UNITS], up_out[UNITS];
	uint64_t requests[REQUEST_KINDS];
};

/* A measurement on request; see server/measure.h. */
struct server_measure {
	bool on;
	/* ns of server_now() when it was switched on and, if it is off, off; 0: never */
	uint64_t since, until;
};
struct server_measures {
	struct server_measure cycles, latency;
};

struct server_watcher; /* changes.h */

struct server {
	/* The machine before the threads were bound to their cores; NULL: unknown. */
	const struct cpus *machine;
	/* of the start: for limits, not for the groups in service */
	const struct server_config *config;
	struct layout layout; /* where everything runs now */
	struct layout planned; /* where the groups' configurations place it */
	struct server_ports ports;
	struct server_shares shares;
	struct port_steering *steering[SERVER_PORTS_MAX]; /* server/steering.c; NULL: none */
	struct server_pools pools;
	struct crypto_providers crypto;
	enum crypto_isa crypto_isa; /* which the library may use; set it before server_serve() */
	/* server_serve() failed: the default crypto provider is unavailable on this machine */
	bool no_crypto;
	struct worker *workers; /* worker i runs on lcore i + 1 */
	unsigned worker_count;
	struct rte_rcu_qsbr *quiet; /* QSBR variable in which workers report quiescent states */
	/* NULL: worker threads run the rounds, or nothing does */
	const struct server_rounds *rounds;
	/*
	 * Slots of groups: a group keeps its slot while it is in service; configured groups have
	 * the first slots, in their order. Threads other than the control thread read under `lock`
	 * only: groups whose served_group.in_service is set, ports and shares.
	 */
	struct served_group *groups;
	unsigned group_count; /* all slots from here on are free */
	unsigned group_max;
	pthread_rwlock_t lock;
	struct rte_ring *empty_ring; /* an empty ring: the source of groups that receive nothing */
	struct server_removed removed;
	struct server_measures measures;
	double keys_seconds; /* s that making all key schedules took */
	/* changes since the start: of objects, and of groups added or removed */
	uint64_t generation;
	const struct server_watcher *watcher; /* notified of changes; may be NULL */
	uint64_t watched; /* number of the last change that watchers were notified of */
	struct power_config power; /* the present request: see server_idle() */
	struct power_fixed { /* settings of the command line, which no file overrides */
		bool idle, policy, driver;
		struct power_config given; /* their values */
	} power_fixed;
	bool metrics_fixed; /* the same for the metrics endpoint */
	struct umwait_limit umwait; /* the kernel's limit when idling was set last */
	uint64_t idle_refused; /* idle kinds that were requested and are unavailable */
	struct unsaved unsaved; /* changes that the configuration file does not have */
	uint64_t refused; /* changes that were requested since the start and refused */
	/* Applied changes that still retire, the oldest first; and the group that workers clean up
	 * for them, NULL: none. See changes.h. */
	struct server_change *retiring;
	const struct group_change *retires;
	bool report_flows; /* reports include every service flow */
};

/* A configuration of one group, whose memory remains the caller's. */
struct single_group {
	struct server_config config;
	struct service_group group;
};
const struct server_config *single_group_config(struct single_group *l,
						const struct service_group *sg);

/*
 * Creates workers and buffer pools in the zeroed `s`, in which only ports may be listed. If none
 * are listed, server_ports_set() has to supply each group's ports. `config` must outlive `s`.
 * Returns 0, or -1 and logs the reason.
 */
int server_create(struct server *s, const struct server_config *config);

/* Opens the crypto provider and creates the keys and both directions of all groups, on open ports.
 * Returns 0, or -1 and logs the reason. */
int server_serve(struct server *s);

/* The groups in service. */
struct group_slots server_slots(const struct server *s);

/* Number of pending packets and parts of packets. */
uint64_t server_pending(const struct server *s);

/* Whether received = transmitted + drops + pending in each group. Call it when no worker runs. */
bool server_balanced(const struct server *s);

/* Stops reception and lets pending packets leave, for at most `cycles` of the TSC, as fast as the
 * ports accept them. The rest is dropped for the reasons of a stop. No worker may be running. */
void server_drain(struct server *s, uint64_t cycles);

/* Drops everything pending for the reasons of a stop. No worker may be running. */
void server_stop(struct server *s);

/* Closes the ports and frees everything but the configuration. Accepts a zeroed or partly created
 * struct. */
void server_free(struct server *s);

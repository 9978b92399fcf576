/* SPDX-License-Identifier: BSD-3-Clause */
/* One service group in service: its configuration, buffers, crypto sessions, both directions, workers. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "downstream/downstream.h"
#include "model/service_group.h"
#include "platform/crypto.h"
#include "server/layout.h"
#include "server/worker.h"
#include "upstream/upstream.h"

struct instance {
	const struct service_group *sg; /* what everything was made of */
	/* The same, or what changed its quality of service since: the scheduler has that. For threads
	 * other than the one that calls instance_set_qos() under the lock only. */
	const struct service_group *qos;
	pthread_mutex_t qos_lock;
	bool report_flows; /* reports tell of every service flow */
	struct rte_mempool *packets; /* what the network port receives into */
	struct rte_mempool *depi_headers;
	struct rte_mempool *depi_fragments;
	struct rte_mempool *linear; /* NULL where the R-PHY port takes chains of buffers */
	struct rte_mempool *uepi; /* what the R-PHY port receives into: whole packets */
	struct rte_mempool *frames; /* of the upstream */
	struct rte_mempool *pieces;
	struct docsis_crypto crypto;
	void **sessions; /* DOWNLINK, one a modem */
	void **up_sessions; /* UPLINK, two a modem; NULL without an upstream */
	double sessions_seconds; /* what making both took, of instance_create() */
	struct worker workers[LAYOUT_MAX_WORKERS];
	unsigned worker_count;
	uint16_t ports[2]; /* network, R-PHY */
	bool has_ports; /* they are closed by instance_free() */
	uint16_t control_port; /* of the control plane, where has_control */
	bool has_control;
	struct downstream *downstream;
	struct upstream *upstream; /* NULL where the configuration has no upstream channels */
};

/* Memory in MB that an instance of this configuration takes from DPDK's heap, with room to spare. */
unsigned instance_memory_mb(const struct service_group *sg);

/* A zeroed instance, aligned as it must be; to be freed by free(). NULL when memory is short. */
struct instance *instance_alloc(void);

/* Buffer pools: what ports need before the rest can be made. Returns 0 or -1 after a message. */
int instance_pools(struct instance *i, const struct service_group *sg);

/* Where management messages go: an opened port, to be told before instance_create(). */
void instance_set_control(struct instance *i, uint16_t control_port);

/*
 * Crypto sessions, both directions and workers on the given ports. The layout of the configuration
 * decides how many workers there are. Returns 0 or -1 after a message.
 */
int instance_create(struct instance *i, uint16_t network_port, uint16_t rphy_port);

/* Tells what the scheduler has now. Afterwards nobody reads what it had before. */
void instance_set_qos(struct instance *i, const struct service_group *qos);

/* Packets and parts of packets that are in it. */
uint64_t instance_held(const struct instance *i);

/* Whether the cycles of all stages are measured; they are after instance_create(). */
void instance_account(struct instance *i, bool on);

/*
 * Whether it is measured how long packets stay in either direction; it is not after instance_create().
 * May be called while workers run. Returns 0, or -1 after a message.
 */
int instance_latency(struct instance *i, bool on);

/* Ends all that is held, under the reasons of a stop. No worker may be running. */
void instance_stop(struct instance *i);

/* Closes the ports and frees everything but the configuration. Harmless on a zeroed or half-made
 * instance. */
void instance_free(struct instance *i);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several service groups around one CMTS: a struct traffic per group, all on one thread. Ports that groups
 * share, or with VLANs, are polled here and their frames distributed (shared_port.h). A group with its own
 * ports polls them itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/run_groups.h"
#include "directions/traffic.h"
#include "groups/shared_port.h"
#include "model/server_config.h"

struct groups {
	struct traffic *all[SERVER_MAX_GROUPS];
	unsigned count;
	unsigned rotation; /* index of the group that sends first in the next round */
	struct run_groups run_groups;
	struct shared_port *shares[2 * SERVER_MAX_GROUPS]; /* R-PHY ports, then network ports */
	unsigned share_count;
	/* Pools of all groups; NULL: the only group has its own. */
	struct rte_mempool *packets;
	struct rte_mempool *frames;
	struct rte_mempool *uplink_packets;
	bool follows; /* groups may change and be added */
	struct traffic_options options; /* of the first group, for added ones */
	struct groups_offer *offered; /* by another thread; or NULL */
};

/* A service group that is added while the others have traffic. */
struct groups_offer {
	struct traffic *traffic;
	const struct service_group *sg;
};

/*
 * Creates a traffic for each of the `count` service groups in `sgs`, 1 .. SERVER_MAX_GROUPS, which must
 * outlive `g`. Sets the options that concern other groups. Two groups must share a port in all of their
 * options or in none. Returns 0, or -1 after a message. The caller frees it with groups_free() in either
 * case.
 */
int groups_create(struct groups *g, const struct service_group *sgs,
		  struct traffic_options *options, unsigned count);

/*
 * Creates a traffic for an added group, on the ports that all groups share. Its rate is the first group's,
 * scaled by the capacity of its channels. `streams` and `upstream_streams` are as in struct
 * traffic_options. `sg` must outlive it. Must not run on the polling thread. Returns NULL after a message.
 */
struct traffic *groups_prepare(const struct groups *g, const struct service_group *sg,
			       uint32_t streams, uint32_t upstream_streams);

/* Offers a prepared group to the polling thread, which adds it between two rounds and then owns its traffic.
 * `offer` must stay valid until groups_applied() is true, and only then another one may follow. NULL withdraws
 * it when no thread polls any more. */
void groups_offer(struct groups *g, struct groups_offer *offer);
bool groups_applied(const struct groups *g);

/* Wraps one traffic, which remains the caller's and has its own ports. */
void groups_of_one(struct groups *g, struct traffic *t);

void groups_free(struct groups *g);

/* These functions do for all groups what those of traffic.h do for one. A round sends a burst of
 * each group. */
void groups_begin(struct groups *g, uint64_t now);
unsigned groups_send(struct groups *g, uint64_t now);
unsigned groups_receive(struct groups *g);
unsigned groups_drain(struct groups *g);
void groups_stop(struct groups *g);
bool groups_all_sent(const struct groups *g);
uint64_t groups_in_flight(const struct groups *g);
bool groups_unresolved(const struct groups *g);

/* Whether modems wait for grants that may still come; they have a timeout of their own. */
bool groups_pending(const struct groups *g);
void groups_finish(struct groups *g);

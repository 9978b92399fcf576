/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several service groups around one CMTS: a struct traffic each, all of them on one thread. Where groups
 * have a port in common, or a VLAN, their frames are told apart (share.h); a group with its own ports
 * polls these itself, as if it were alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/neighbours.h"
#include "directions/traffic.h"
#include "groups/shared_port.h"
#include "model/server_config.h"

struct groups {
	struct traffic *all[SERVER_MAX_GROUPS];
	unsigned count;
	unsigned turn; /* who sends first in the next round */
	struct neighbours neighbours;
	struct shared_port *shares[2 * SERVER_MAX_GROUPS]; /* R-PHY ports, then network ports */
	unsigned share_count;
	/* Of all groups; NULL: there is one group, which has its own. */
	struct rte_mempool *packets;
	struct rte_mempool *frames;
	struct rte_mempool *uplink_packets;
	bool follows; /* groups change, and come */
	struct traffic_options options; /* of the first, for those that come */
	struct groups_offer *offered; /* by another thread; NULL: none */
};

/* A service group that comes while the others have traffic. */
struct groups_offer {
	struct traffic *traffic;
	const struct service_group *sg;
};

/*
 * Makes a traffic for each of the `count` service groups in `sgs`, 1 .. SERVER_MAX_GROUPS, which must live
 * on. What concerns others in the options is filled in here; two groups are to have the same port in all
 * of their options, or different ones. Returns 0, or -1 after a message. To be freed by groups_free() in
 * either case.
 */
int groups_create(struct groups *g, const struct service_group *sgs,
		  struct traffic_options *options, unsigned count);

/*
 * Makes a traffic for a group that comes, at the ports that all groups share and at a rate as that of the first
 * one by the capacity of its channels. On any thread but that which polls; `sg` must live on. Where
 * `streams` and `upstream_streams` are. Returns NULL after a message.
 */
struct traffic *groups_prepare(const struct groups *g, const struct service_group *sg,
			       uint32_t streams, uint32_t upstream_streams);

/* Offers what was prepared to the thread that polls, which takes it between two rounds; one at a time. */
void groups_offer(struct groups *g, struct groups_offer *offer);
bool groups_took(const struct groups *g);

/* One traffic, which remains the caller's and has its own ports. */
void groups_of_one(struct groups *g, struct traffic *t);

void groups_free(struct groups *g);

/* These do for all groups what those of traffic.h do for one. A round sends a burst of each. */
void groups_begin(struct groups *g, uint64_t now);
unsigned groups_send(struct groups *g, uint64_t now);
unsigned groups_receive(struct groups *g);
unsigned groups_drain(struct groups *g);
void groups_stop(struct groups *g);
bool groups_all_sent(const struct groups *g);
uint64_t groups_in_flight(const struct groups *g);

/* Whether modems still wait for grants, which may be granted later: they have patience of their own. */
bool groups_wait(const struct groups *g);
void groups_finish(struct groups *g);

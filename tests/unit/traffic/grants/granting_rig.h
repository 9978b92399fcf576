/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream's rig with a CMTS that grants: requests that come go to the scheduler of the data plane, and its MAPs
 * to the modems by MAP pseudowires. Time is the rig's own, and each round takes GRANTING_RIG_ROUND_NS of it, so that no
 * MAP is late; after granting_rig_system_time() it is the system's, of which nothing is asked but that it goes on.
 */
#pragma once

#include "grants/grants_result.h"
#include "scheduler/maps/maps.h"
#include "uplink_rig.h"

#define GRANTING_RIG_ROUND_NS 50000

struct granting_rig {
	struct uplink_rig *rig;
	uint64_t ns, tsc; /* now, where `own` */
	bool own;
	struct maps *maps;
	uint8_t units[UPLINK_RIG_STREAMS]; /* N */
	uint16_t sequence[UPLINK_RIG_CHANNELS]; /* of the MAP pseudowires */
	size_t bursts, records; /* of what came, that have been read */
	uint64_t asked; /* bytes, in requests that came */
	uint64_t maps_sent;
	bool silent; /* makes no MAPs */
};

/* Sets the rig's service group so that all flows have segment headers, and N of 1, 2, 4 and so on; an uplink of it is
 * to be started then. */
void granting_rig_config(struct uplink_rig *r);

void granting_rig_start(struct granting_rig *g, struct uplink_rig *r);
void granting_rig_end(struct granting_rig *g);

/* From now on. */
void granting_rig_system_time(struct granting_rig *g);

/* One round: modems, requests, MAPs. */
void granting_rig_round(struct granting_rig *g);

/* Until so many packets are made, and then until nothing waits. */
void granting_rig_run(struct granting_rig *g, uint64_t packets);

/* A message on the MAP pseudowire of a channel, as modems get it; NULL where memory is short. */
struct rte_mbuf *granting_rig_packet(struct granting_rig *g, uint32_t channel,
				     const uint8_t *message, size_t size);

/* Hands it to the modems, who must take it. */
void granting_rig_hand(struct granting_rig *g, struct rte_mbuf *m);

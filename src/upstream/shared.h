/* SPDX-License-Identifier: BSD-3-Clause */
/* Resources that stages share beside the tables: those of the caller, and the queues between
 * stages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "crypto/crypto.h"
#include "pipeline/clock.h"
#include "pipeline/counters.h"
#include "pipeline/latency.h"
#include "pipeline/packet_ends.h"
#include "pipeline/pipeline.h"
#include "pipeline/poll_stats.h"
#include "upstream/state/meta.h"
#include "upstream/state/pending.h"
#include "upstream/state/tables.h"

/* The queues between the stages of the list, as upstream.c describes them. */
enum us_queue {
	US_BURSTS = 1,
	US_SEGMENTS,
	US_JOINED,
	US_REQUEST_RING, /* a ring: requests.h */
	US_CONTROL_PORT, /* a port */
	US_MESSAGE_RING, /* a ring: pipeline/messages.h */
	US_QUEUES,
};

/* The resources that the caller provides. They must outlive the upstream. */
struct us_resources {
	struct packet_source rphy;
	struct packet_sink network;
	struct packet_sink control; /* may have no port */
	struct crypto_queue *crypto; /* UPLINK */
	void *const *schedules; /* of keys, UPLINK, two per modem; the second may be NULL */
	struct rte_mempool *packets; /* the pool of the R-PHY port */
	struct rte_mempool *frames; /* for frames: US_FRAME_SIZE bytes behind the headroom */
	struct rte_mempool *pieces; /* for attached mbufs, without a data buffer */
	/* a frame may stay in its packet: one pool serves both, or the pool of packets has
	 * enough */
	bool attach_frames;
	uint32_t pending; /* bytes, instead of the configured ones; 0: the configured ones */
	/* buffers, instead of US_QUEUED; half as many for the network port; 0: the default */
	uint32_t in_flight;
	/* to the lower MAC; NULL: none, and the group has no upstream scheduler */
	struct message_path *messages;
	struct clock *clock;
	/* for changes; NULL: as much as the configured objects need */
	const struct group_capacity *capacity;
};

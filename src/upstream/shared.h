/* SPDX-License-Identifier: BSD-3-Clause */
/* What stages share beside the tables: what the edge provides, and the queues between them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "crypto/crypto.h"
#include "pipeline/clock.h"
#include "pipeline/counters.h"
#include "pipeline/effort.h"
#include "pipeline/latency.h"
#include "pipeline/packet_ends.h"
#include "pipeline/pipeline.h"
#include "upstream/state/hold.h"
#include "upstream/state/meta.h"
#include "upstream/state/tables.h"

/* What stands between the stages of the list; upstream.c says what is in it. */
enum us_queue {
	US_BURSTS = 1,
	US_SEGMENTS,
	US_JOINED,
	US_REQUEST_RING, /* a ring: requests.h */
	US_CONTROL_PORT, /* a port */
	US_MESSAGE_RING, /* a ring: pipeline/messages.h */
	US_QUEUES,
};

/* What the edge provides: all of it outlives the upstream. */
struct us_resources {
	struct packet_source rphy;
	struct packet_sink network;
	struct packet_sink control; /* may be none */
	struct crypto_queue *crypto; /* UPLINK */
	void *const *schedules; /* of keys, UPLINK, two for each modem; the second may be NULL */
	struct rte_mempool *packets; /* in which the R-PHY port receives */
	struct rte_mempool *frames; /* for frames: US_FRAME_ROOM bytes behind the headroom */
	struct rte_mempool *pieces; /* for mbufs attached to others, no data room */
	bool stay; /* a frame may keep a packet instead of a frame's buffer: one pool is both, or has enough */
	uint32_t held; /* bytes, in the place of the configuration's; 0: as that says */
	uint32_t
		moving; /* buffers, in the place of US_QUEUED, and half as many for the network port; 0: those */
	struct message_path *messages; /* to the lower MAC; NULL: none, and nobody grants */
	struct clock *clock;
	const struct group_room *room; /* for changes; NULL: none but what the group has */
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The R-PHY device's end of MAP pseudowires: MAC management messages about upstream channels, from their DA to the end
 * of their body, one in each PSP segment, or in segments of several packets (docs/upstream-scheduler.md).
 *
 *     | Ethernet, IP, session ID | PSP, table | message | message | begin of a message |
 *     | Ethernet, IP, session ID | PSP, table | its end | message | ..
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/group/channels.h"
#include "wire/management.h"

enum map_joining {
	MAP_CLOSED, /* the next segment begins a message */
	MAP_OPEN, /* a message has begun */
	MAP_TORN, /* one is passed over until it ends */
};

struct map_pseudowire {
	uint32_t session; /* 0: none */
	bool started;
	uint16_t next; /* PSP sequence number */
	uint16_t length; /* of `message`, while it is open */
	enum map_joining joining;
	uint8_t message[MANAGEMENT_MESSAGE_MAX];
};

struct map_pseudowires {
	struct map_pseudowire all[SG_MAX_UPSTREAM_CHANNELS]; /* by upstream channel */
	uint32_t count;
	uint64_t mask; /* a bit for the lowest six bits of each session's ID */
	uint64_t packets, messages;
	uint64_t missing; /* numbers of packets that never came */
	uint64_t torn; /* messages of which a part never came, or that grew longer than any is */
	uint64_t malformed; /* packets and messages that nothing could be read of */
};

/* A message about upstream channel number `channel`; it is there until this returns. */
typedef void (*map_pseudowire_fn)(void *ctx, uint32_t channel, const struct management *message);

/* `sessions` has the L2TPv3 session IDs of `count` channels; 0: the channel has none. */
void map_pseudowires_set(struct map_pseudowires *w, const uint32_t *sessions, uint32_t count);

/* Takes an Ethernet frame of the R-PHY port, which remains the caller's and may be a chain, if it is of one of
 * the sessions. Returns whether it was. */
bool map_pseudowires_take(struct map_pseudowires *w, const struct rte_mbuf *frame,
			  map_pseudowire_fn hear, void *ctx);

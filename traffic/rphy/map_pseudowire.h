/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives MAP pseudowires as the R-PHY device: MAC management messages about upstream channels, from their
 * DA to the end of their body. A PSP segment holds one message, or segments of several packets hold one
 * (docs/upstream-scheduler.md).
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
	MAP_SKIPPING, /* the rest of a message is skipped */
};

struct map_pseudowire {
	uint32_t session; /* 0: none */
	bool started;
	uint16_t next; /* PSP sequence number */
	uint16_t length; /* of `message`, while a message is open */
	enum map_joining joining;
	uint8_t message[MANAGEMENT_MESSAGE_MAX];
};

struct map_pseudowires {
	struct map_pseudowire all[SG_MAX_UPSTREAM_CHANNELS]; /* by upstream channel */
	uint32_t count;
	uint64_t mask; /* bit n is set if a session ID has n as its lowest six bits */
	uint64_t packets, messages;
	uint64_t missing; /* lost packets by sequence number */
	uint64_t incomplete; /* messages with a lost part, or longer than any valid message */
	uint64_t malformed; /* packets and messages that cannot be parsed */
};

/* Receives a message about upstream channel index `channel`; `message` is valid until this returns. */
typedef void (*map_pseudowire_fn)(void *ctx, uint32_t channel, const struct management *message);

/* Sets the L2TPv3 session IDs of `count` channels; 0: the channel has none. */
void map_pseudowires_set(struct map_pseudowires *w, const uint32_t *sessions, uint32_t count);

/* Processes an Ethernet frame of the R-PHY port if it belongs to one of the sessions. The frame may
 * be a chain and remains the caller's. Returns whether it belongs to one. */
bool map_pseudowires_receive(struct map_pseudowires *w, const struct rte_mbuf *frame,
			     map_pseudowire_fn receive, void *ctx);

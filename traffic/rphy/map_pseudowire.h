/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The R-PHY device's end of MAP pseudowires: MAC management messages about upstream channels, a whole one in
 * each PSP segment, from its DA to the end of its body (docs/upstream-scheduler.md).
 *
 *     | Ethernet, IP, session ID | PSP, table | message | message | ..
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/service_group.h"
#include "wire/management.h"

struct map_pseudowire {
	uint32_t session; /* 0: none */
	bool started;
	uint16_t next; /* PSP sequence number */
};

struct map_pseudowires {
	struct map_pseudowire all[SG_MAX_UPSTREAM_CHANNELS]; /* by upstream channel */
	uint32_t count;
	uint64_t mask; /* a bit for the lowest six bits of each session's ID */
	uint64_t packets, messages;
	uint64_t missing; /* numbers of packets that never came */
	uint64_t malformed; /* packets and messages that nothing could be read of */
};

/* A message about upstream channel number `channel`; it lies in the packet. */
typedef void (*map_pseudowire_fn)(void *ctx, uint32_t channel, const struct management *message);

/* `sessions` has the L2TPv3 session IDs of `count` channels; 0: the channel has none. */
void map_pseudowires_set(struct map_pseudowires *w, const uint32_t *sessions, uint32_t count);

/* Takes an Ethernet frame of the R-PHY port, which remains the caller's and may be a chain, if it is of one of
 * the sessions. Returns whether it was. */
bool map_pseudowires_take(struct map_pseudowires *w, const struct rte_mbuf *frame,
			  map_pseudowire_fn hear, void *ctx);

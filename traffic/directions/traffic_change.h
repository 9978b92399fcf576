/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of a service group for both directions of its traffic. */
#pragma once

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "directions/uplink_change.h"

struct traffic_change {
	struct downlink_change downstream; /* unused if the traffic has no downstream */
	struct uplink_change upstream;
	bool applied;
	struct traffic_change *next; /* list of changes that the preparing thread must free */
};

/* Called by the thread that prepares changes: offers one to be applied between two rounds. Only one
 * may be offered at a time. */
void traffic_offer(struct traffic *t, struct traffic_change *c);

/* Called by the same thread: whether the last offered change was applied. */
bool traffic_applied(const struct traffic *t);

/* Called by the traffic's thread between two rounds. */
void traffic_change_round(struct traffic *t, uint64_t now);

/* Called by the traffic's thread when the R-PHY port is empty. */
static inline void traffic_change_emptied(struct traffic *t) {
	t->emptied = true;
}

/* Whether no thread uses the change any more. */
bool traffic_change_done(const struct traffic *t, const struct traffic_change *c);

/* Frees a change that was not offered, or is done. */
void traffic_change_free(struct traffic_change *c);

/* Must precede traffic_free() if changes were offered. The preparing thread may then free them
 * while the traffic exists. */
void traffic_follow_end(struct traffic *t);

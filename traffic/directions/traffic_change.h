/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of a service group for both directions of its traffic. */
#pragma once

#include "directions/downlink_change.h"
#include "directions/traffic_parts.h"
#include "directions/uplink_change.h"

struct traffic_change {
	struct downlink_change downstream; /* where the traffic has that direction */
	struct uplink_change upstream;
	bool taken;
	struct traffic_change *next; /* of those that the maker has to free */
};

/* By the thread that makes changes: offers one to be taken between two rounds. There may be one at a time. */
void traffic_offer(struct traffic *t, struct traffic_change *c);

/* Likewise: whether the last one was taken. */
bool traffic_took(const struct traffic *t);

/* By the traffic's thread, between two rounds. */
void traffic_change_round(struct traffic *t, uint64_t now);

/* Likewise: nothing stands in the R-PHY port. */
static inline void traffic_change_emptied(struct traffic *t) {
	t->emptied = true;
}

/* Whether nobody refers to it any more. */
bool traffic_change_done(const struct traffic *t, const struct traffic_change *c);

/* Frees a change that was not offered, or is done. */
void traffic_change_free(struct traffic_change *c);

/* What goes before traffic_free() where changes were offered: they may be freed afterwards, while the
 * traffic lives. */
void traffic_follow_end(struct traffic *t);

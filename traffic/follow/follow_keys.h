/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of modems from one generation to the next (SEC, BPI+). A modem gets the key that comes at once, and uses it
 * upstream; downstream it holds the one before until that time is over.
 */
#pragma once

#include "follow/follow_group.h"

/* Whether there are modems that are `rekeyed` and not `changed` otherwise. */
bool follow_keys_alone(const struct follow_group *g);

/*
 * What these get, into both directions of a change. `removed`, by place, gets which of them
 * have a generation no more: what they sent with it may be lost. Returns whether there was memory.
 */
bool follow_keys_prepare(const struct follow_group *g, struct traffic_change *c, bool *removed);

/* Whether a modem goes from the one association to the other with a generation that both have. If not, all of its keys
 * are replaced at once, as by a file that is read again. */
bool follow_keys_roll(const struct security_association *before,
		      const struct security_association *next);

/* The traffic has the keys that are in service; of these modems alone. */
void follow_keys_keep(struct follow_group *g);
void follow_keys_keep_alone(struct follow_group *g);

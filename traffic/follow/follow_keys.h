/* SPDX-License-Identifier: BSD-3-Clause */
/* Key rolls of modems (SEC, BPI+). A modem uses a new key upstream at once. Downstream it keeps the
 * previous key until that expires. */
#pragma once

#include "follow/follow_group.h"

/* Whether there are modems that are `rekeyed` and not otherwise `changed`. */
bool follow_keys_alone(const struct follow_group *g);

/*
 * Prepares the new keys of these modems for both directions of a change. Sets `removed`, by index, for
 * modems that lose a key generation: their frames under way may be lost. Returns false if memory is short.
 */
bool follow_keys_prepare(const struct follow_group *g, struct traffic_change *c, bool *removed);

/* Whether a key generation is in both associations. If not, all keys of the modem are replaced at
 * once, as by a reload. */
bool follow_keys_roll(const struct security_association *before,
		      const struct security_association *next);

/* Record that the traffic has the keys in service; the second function only for these modems. */
void follow_keys_keep(struct follow_group *g);
void follow_keys_keep_alone(struct follow_group *g);

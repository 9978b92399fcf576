/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a change of one group for conflicts with the other groups of its ports. */
#pragma once

#include "model/live/difference.h"

/*
 * Whether the objects that `changes` add to groups[changed] have other addresses, MAC addresses and
 * sessions than the groups on the same sides (server/sides.h). Looks up each value in each of these
 * groups. Returns false with one line in `why`. Not for a reload, which validates all groups
 * together, as a modem may move between groups.
 */
bool live_port_conflicts(const struct live_group *const *groups, size_t count, size_t changed,
			 const struct live_changes *changes, char why[LIVE_LINE]);

/* Validates an added group in the same way. */
bool live_port_conflicts_new(const struct live_group *const *groups, size_t count,
			     const struct service_group *sg, char why[LIVE_LINE]);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a change of one group for conflicts with the other groups of its ports. */
#pragma once

#include "model/live/difference.h"

/*
 * Whether packets for what `changes` add to groups[changed] differ from those for other groups.
 * Compares addresses and MAC addresses of modems on a network port, and sessions on an R-PHY port,
 * where nothing else distinguishes the groups, as for a server's file. Looks up each value in each
 * other group of the port. Returns false with one line in `why`. Not for a reload, which is checked
 * as a whole: there, a modem may move between groups.
 */
bool live_between(const struct live_group *const *groups, size_t count, size_t changed,
		  const struct live_changes *changes, char why[LIVE_LINE]);

/* The same for a group that is added. */
bool live_between_new(const struct live_group *const *groups, size_t count,
		      const struct service_group *sg, char why[LIVE_LINE]);

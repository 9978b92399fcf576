/* SPDX-License-Identifier: BSD-3-Clause */
/* A change of one group compared with the other groups of its ports. */
#pragma once

#include "model/live/difference.h"

/*
 * Would what `changes` bring to groups[changed] be told from what the others have? Addresses and MAC addresses of
 * modems on a network port, and sessions on an R-PHY port, where nothing else tells the groups apart, as a
 * server's file is judged. By lookups alone: each address and session in each other group of the port. Returns
 * false with one line in `why`. Not for a file read again, which was judged as a whole: there a modem may move from
 * one group to another.
 */
bool live_between(const struct live_group *const *groups, size_t count, size_t changed,
		  const struct live_changes *changes, char why[LIVE_LINE]);

/* The same of a group that is to be added. */
bool live_between_new(const struct live_group *const *groups, size_t count,
		      const struct service_group *sg, char why[LIVE_LINE]);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks ports whose link goes up and down, and those whose device is removed in use. Workers
 * apply changes between two rounds: they stop polling a removed port, and drop packets to it as
 * `port_gone`, or as `link_down` if it has lost its link. All else continues.
 */
#pragma once

#include "server/server.h"

#define LINKS_CHECK_NS UINT64_C(100000000) /* between two checks of links */
#define LINKS_DEVICE_CHECK_NS UINT64_C(1000000000) /* between two checks for removed devices */

struct links {
	struct server *server;
	uint64_t links_checked, devices_checked; /* ns of the last checks */
};

/* Checks all ports. Call it after the workers have started. `now` is in ns of a monotonic clock. */
void links_open(struct links *l, struct server *s, uint64_t now);

/* Checks links every LINKS_CHECK_NS, devices every LINKS_DEVICE_CHECK_NS, and removal requests at each call.
 * For the control thread. A removed port is closed before this returns, which takes some drivers
 * tens of milliseconds. */
void links_update(struct links *l, uint64_t now);

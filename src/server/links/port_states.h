/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports whose link comes and goes, and those whose device is taken away while they are in use. Workers are told between two
 * rounds: they ask a port that is gone for nothing, and what would leave by it, or by one that has lost its link, ends under
 * `port_gone` or `link_down`. All else goes on.
 */
#pragma once

#include "server/server.h"

#define LINKS_LOOK_NS UINT64_C(100000000) /* between two looks at links */
#define LINKS_ASK_NS UINT64_C(1000000000) /* and between two questions whether devices are there */

struct links {
	struct server *server;
	uint64_t looked, asked; /* ns */
};

/* Looks at all of them, when the workers run. `now` in ns, of a clock that does not go back. */
void links_open(struct links *l, struct server *s, uint64_t now);

/*
 * Looks again, as often as it is time for that; for devices that are wanted back each time. By the control thread. A
 * port that is gone is closed before this returns, which some drivers take tens of milliseconds for.
 */
void links_follow(struct links *l, uint64_t now);

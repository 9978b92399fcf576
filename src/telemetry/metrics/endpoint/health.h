/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a server does what it is there for, in a line: whether packets can come, and whether its workers live. For
 * who asks over HTTP, from the thread that answers; what it reads is the control thread's and the workers'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/server.h"

#define HEALTH_LINE 160 /* bytes of a reason */
#define HEALTH_STALL_NS UINT64_C(5000000000) /* so long without a round is too long */
#define HEALTH_STEP_NS UINT64_C(1500000000) /* at most, of the time between two looks */

struct health_worker {
	uint64_t rounds; /* at the last look */
	uint64_t still_ns; /* so long there was none */
};

struct health {
	uint64_t looked; /* ns */
	struct health_worker workers[PLATFORM_MAX_WORKERS];
};

/*
 * Looks at the workers: once a second, or whenever it is convenient. `now` in ns, of a clock that does not go back.
 * Time in which nobody looked counts little: where the whole process was stopped, no worker is to blame.
 */
void health_look(struct health *h, const struct server *s, uint64_t now);

/* Whether each worker has made rounds lately. Else says in `why` which has not. */
bool health_live(const struct health *h, const struct server *s, char why[HEALTH_LINE]);

/*
 * Whether packets can come: there is a group that is not drained; each of those has its ports, with links; and the
 * workers live. Else says in `why` what of it is not so. Takes the server's lock for reading.
 */
bool health_ready(const struct health *h, struct server *s, char why[HEALTH_LINE]);

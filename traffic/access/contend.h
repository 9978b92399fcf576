/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests in contention. A flow waits a random number of request opportunities, counted over all its
 * channels, in a window that doubles with each unanswered try (MULPI 3.1, 7.2.1.5 and 7.2.2.1). A flow with
 * a grant or poll within its patience leaves the contention and requests there.
 *
 * All modems decide about an opportunity at the same time, that of the modem that must decide first,
 * because collisions are known only then. A nearby modem decides earlier than needed by up to the
 * difference in round-trip time.
 */
#pragma once

#include "access/access_parts.h"

/* Starts contention for a flow that has bytes to request and may contend. */
void contend_consider(struct access *a, struct access_queue *f, uint64_t now);

/* Adds the contention opportunities of a new MAP. */
void contend_add(struct access_line *l, const struct access_region *r);

/* Runs the next opportunities of a channel and writes their events. Returns the number of requests,
 * which are in access.picks. The caller must then call contend_schedule(). */
uint32_t contend_run(struct access *a, struct access_line *l, uint64_t now);

/* Schedules the next opportunities of a channel. */
void contend_schedule(struct access *a, struct access_line *l, uint64_t now);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests in contention: flows wait a random number of request opportunities, counted over all channels that
 * they have, in a window that doubles with each try that is not answered (MULPI 3.1, 7.2.1.5 and 7.2.2.1). A
 * flow whose next grant or poll is near enough leaves the contention, and asks there.
 *
 * All modems decide of an opportunity at the same time, that of the one which has to do so first: only
 * then is it known who meets whom in it. A modem nearby loses up to the difference in round trip by that.
 */
#pragma once

#include "access/access_parts.h"

/* A flow goes into contention where it has something to ask for and no better way to do so. */
void contend_consider(struct access *a, struct access_queue *f, uint64_t now);

/* Opportunities that a MAP has for all, beyond those of earlier ones. */
void contend_add(struct access_line *l, const struct access_region *r);

/* The next opportunities of a channel are there: those whose turn it is ask, and their events are put out.
 * Returns how many asked, in access.picks; contend_schedule() has to follow. */
uint32_t contend_run(struct access *a, struct access_line *l, uint64_t now);

/* Looks again at when the next opportunities of a channel are. */
void contend_schedule(struct access *a, struct access_line *l, uint64_t now);

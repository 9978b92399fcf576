/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What becomes of requests: when the ack times of the MAPs of all of a flow's channels have passed one that
 * was neither granted nor told to be pending, it was lost, and is made again (MULPI 3.1, 7.2.1.5.2).
 */
#pragma once

#include "access/access_parts.h"

/* A flow that has asked waits for its answer from now on. */
void answers_watch(struct access *a, struct access_queue *f);

/* A MAP of a channel acknowledges the time `ack`. */
void answers_acknowledge(struct access *a, struct access_line *l, const struct access_heard *map,
			 uint64_t ack);

/* The flow's modem knows a MAP that acknowledges. Returns whether the flow gives up a packet. */
bool answers_run(struct access *a, struct access_queue *f);

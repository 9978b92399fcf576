/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When packets came to the modems' queues: a ring of times for each stream, of packets that are not made yet. A
 * packet is made when its grant comes; size and contents follow from its number (modems/uplink_packets.h), so
 * that its time is all that has to wait.
 *
 *     numbers   0 .. made-1 | made .. arrived-1 |        arrived - made <= room
 *               are sent    | wait              |
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "modems/uplink_flow.h"

struct arrivals {
	uint64_t *times;
	uint32_t room; /* packets of a stream that can wait, a power of two */
	uint64_t refused; /* packets that found a full queue, and were never made */
};

/* Rings for all streams of `f`, which get their times of them. Returns false where memory is short. To be freed by
 * arrivals_free() in either case. */
bool arrivals_create(struct arrivals *a, struct uplink_flows *f);
void arrivals_free(struct arrivals *a);

/* The stream's next packet comes at TSC `now`. Returns false, with that counted, where no more can wait. */
bool arrivals_put(struct arrivals *a, struct uplink_stream *s, uint64_t now);

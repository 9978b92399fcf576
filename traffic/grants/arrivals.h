/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrival times of packets at the modems' queues: a ring per stream, for packets that are not made yet. A
 * packet is made when its grant is used. Its number determines size and contents (modems/uplink_packets.h),
 * so only its time is stored.
 *
 *     numbers   0 .. made-1 | made .. arrived-1 |        arrived - made <= capacity
 *               sent        | queued            |
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "modems/uplink_flow.h"

struct arrivals {
	uint64_t *times;
	uint32_t capacity; /* queued packets per stream, a power of two */
	uint64_t refused; /* packets that met a full queue; they are never made */
};

/* Creates rings for all streams of `f`. Returns false if memory is short. The caller frees them
 * with arrivals_free() in either case. */
bool arrivals_create(struct arrivals *a, struct uplink_flows *f);
void arrivals_free(struct arrivals *a);

/* Queues the stream's next packet at TSC `now`. Returns false and counts the packet if the queue is
 * full. */
bool arrivals_put(struct arrivals *a, struct uplink_stream *s, uint64_t now);

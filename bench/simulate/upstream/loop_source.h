/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet arrivals at the modems, and departures from the CMTS. */
#pragma once

#include "upstream/loop.h"

/* Schedules the flow's first packet at a random time. */
void loop_source_begin(struct loop *l, uint32_t flow);

/* Queues a packet at the modem and schedules the flow's next one. Sets loop.error if memory is short. */
void loop_source_arrive(struct loop *l, uint32_t flow);

/* Removes `bytes` from the head of the flow's queue. The CMTS decodes them at `at` (samples), which may lie ahead
 * of `now`. Measures packets that end in them. */
void loop_source_depart(struct loop *l, uint32_t flow, uint64_t bytes, uint64_t at);

/* Discards the flow's first packet, after ACCESS_GIVEN_UP. Returns its unsent bytes; 0: the queue is empty. */
uint32_t loop_source_give_up(struct loop *l, uint32_t flow);

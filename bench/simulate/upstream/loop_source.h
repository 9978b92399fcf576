/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet arrivals at the modems, and departures from the CMTS. */
#pragma once

#include "upstream/loop.h"

/* Schedules the flow's first packet at a random time. */
void loop_source_begin(struct loop *l, uint32_t flow);

/* Queues a packet and schedules the flow's next one. Sets loop.error if memory is short. */
void loop_source_run(struct loop *l, uint32_t flow);

/* The CMTS has decoded `bytes` of the flow's queue at the time `at`; completes packets that end in them. */
void loop_source_depart(struct loop *l, uint32_t flow, uint64_t bytes, uint64_t at);

/* Discards the flow's first packet. Returns its bytes. */
uint32_t loop_source_give_up(struct loop *l, uint32_t flow);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that come to the modems, and those that leave the CMTS. */
#pragma once

#include "upstream/loop.h"

/* The flow's first packet is due, at a random time. */
void loop_source_begin(struct loop *l, uint32_t flow);

/* A packet comes: the flow's next one is due then. Sets loop.error where memory is short. */
void loop_source_run(struct loop *l, uint32_t flow);

/* So many bytes of the flow's queue are understood by the CMTS at the time `at`: packets end in them. */
void loop_source_take(struct loop *l, uint32_t flow, uint64_t bytes, uint64_t at);

/* The flow's first packet is given up. Returns its bytes. */
uint32_t loop_source_give_up(struct loop *l, uint32_t flow);

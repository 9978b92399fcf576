/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may go: flows, classes and groups enter and leave the rings in which they wait for their turns. */
#pragma once

#include "scheduler/internal.h"

/* The flow has a packet and is in no ring: it goes where it belongs, if need be with its class and group. */
void turns_enter(struct scheduler *s, uint32_t flow, int64_t now);

/* Takes the flow out of its ring, and what becomes empty with it. Its state is then the caller's. */
void turns_leave(struct scheduler *s, uint32_t flow);

/* The flow goes no earlier than at `until`, for its rates. */
void turns_park(struct scheduler *s, uint32_t flow, int64_t until);

/* The class goes no earlier than its modem's aggregate rate lets a packet of `bytes` go. */
void turns_block(struct scheduler *s, uint32_t class, uint32_t bytes);

/* All channels of the group have work until `until`. */
void turns_sleep(struct scheduler *s, uint32_t group, int64_t until);

/* The first of a column has had its turn. */
void turns_pass(struct scheduler *s, struct group *g, unsigned column);

/* What a timer was set for has come. */
void turns_timer(struct scheduler *s, uint32_t timer, int64_t now);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of an uplink whose modems request bandwidth (grants/grants.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct uplink;

/* See uplink_send(). */
unsigned uplink_scheduled_send(struct uplink *u, uint64_t now);

/* After uplink_stop(): whether the modems' queues are empty, or the time to wait for grants is over. */
bool uplink_scheduled_empty(const struct uplink *u);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounds of an uplink whose modems wait for their grants (grants/grants.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct uplink;

/* As uplink_send(). */
unsigned uplink_scheduled_send(struct uplink *u, uint64_t now);

/* After uplink_stop(): whether the modems' queues are empty, or have been waited for long enough. */
bool uplink_scheduled_empty(const struct uplink *u);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "server/pools.h"

/*
 * What a replay of that capture asks of the server's pools at most, as all packets are known before it begins: those of the
 * other direction are hardly touched, and `packets` has one buffer for each piece of a frame. To make the buffers
 * takes longer than to replay a few packets. A pipe is read once, so that 0 says of its packets that nobody knows.
 */
struct pool_needs replay_pools_bound(const char *capture, bool upstream);

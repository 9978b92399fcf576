/* SPDX-License-Identifier: BSD-3-Clause */
/* What groups that receive nothing still hold. */
#pragma once

#include "server/server.h"

/* Waits while somebody makes rounds until the group holds nothing, or it is `end` (server_now()). Returns what it
 * holds. */
uint64_t group_wait_empty(const struct server *s, unsigned group, uint64_t end);

/* SPDX-License-Identifier: BSD-3-Clause */
/* What groups that are to receive nothing, or receive nothing, still have to come and hold. */
#pragma once

#include "server/server.h"

/* Its upstream scheduler grants nothing more; waits while somebody makes rounds until what it has granted must have come, or it
 * is `end` (server_now()). Harmless on a group that is drained, and where there is no such scheduler. */
void group_grants_end(struct server *s, unsigned group, uint64_t end);

/* Waits while somebody makes rounds until the group holds nothing, or it is `end` (server_now()). Returns what it
 * holds. */
uint64_t group_wait_empty(const struct server *s, unsigned group, uint64_t end);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of a group that is drained or removed: for data already granted, and for pending
 * packets. */
#pragma once

#include "server/server.h"

/*
 * Stops the group's upstream scheduler and waits until data already granted must have arrived, or
 * until `end` (ns of server_now()). Does not wait where no rounds run. No effect on a drained group
 * or one without a scheduler.
 */
void group_grants_end(struct server *s, unsigned group, uint64_t end);

/* Waits until the group has no pending packets, or until `end` (ns of server_now()). Does not wait
 * where no rounds run. Returns how many are pending, inexactly while workers run. */
uint64_t group_wait_empty(const struct server *s, unsigned group, uint64_t end);

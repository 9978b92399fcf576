/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server serves, as text: for tests that compare it before and after. */
#pragma once

#include <stdbool.h>

#include "server/server.h"

/*
 * Configuration, tables, keys, ports, shares, workers, limits and counters. `exact`: with addresses in memory, numbers of
 * slots and the generation, to find what was touched though it looks the same. Otherwise it is the same for all servers
 * that serve the same. To be freed.
 */
char *served_state(const struct server *s, bool exact);

/* Fails with the first line that differs. */
void served_state_check(const char *before, const char *now, const char *what);

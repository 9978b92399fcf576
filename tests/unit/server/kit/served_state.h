/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a server as text, for tests that compare states. */
#pragma once

#include <stdbool.h>

#include "server/server.h"

/* Returns configuration, tables, keys, ports, shares, workers, limits and counters. The caller
 * frees the text. With `exact`, it includes pointers, slot indexes and the generation, which
 * detects any write. Without, servers with the same configuration have the same text. */
char *served_state(const struct server *s, bool exact);

/* Fails the test case `what` if the texts differ, and prints the first line that does. */
void served_state_check(const char *before, const char *now, const char *what);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The governor of vcmtsd run: where it keeps what it found, and when it is told of another wish. */
#pragma once

#include "power/live/power.h"

/* Nothing is changed yet. NULL after a message where memory is short. */
struct power *run_frequencies_open(struct server *s);

/* Does what the server's configuration says now, where it is something else than before. NULL is harmless. */
void run_frequencies_follow(struct power *p, const struct server *s);

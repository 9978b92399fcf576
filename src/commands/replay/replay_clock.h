/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the next time at which a replay must run the server, between two packets of the
 * capture. */
#pragma once

#include <stdint.h>

#include "server/server.h"

/* Step of the time, ns, while packets are pending downstream. */
#define REPLAY_STEP_NS 10000

/*
 * The next time after `now` (ns) at which the server must run rounds without an arrival; `to` if
 * there is none before it. Omitted steps would have no effect. Call it when further rounds at `now`
 * would do nothing.
 */
uint64_t replay_next(const struct server *s, uint64_t now, uint64_t to);

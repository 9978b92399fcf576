/* SPDX-License-Identifier: BSD-3-Clause */
/* How time goes on in a replay, from a packet of the capture to the next one. */
#pragma once

#include <stdint.h>

#include "server/server.h"

/* While packets are held downstream, time goes on by a multiple of this. */
#define REPLAY_STEP_NS 10000

/*
 * The moment after `now` at which the server is to have its next rounds though nothing comes in, ns;
 * `to` where none lies before it. Nothing moves in a step that is left out. Nothing may be about to move
 * at `now` any more.
 */
uint64_t replay_next(const struct server *s, uint64_t now, uint64_t to);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of waits: after their time, or when memory is needed for others. */
#pragma once

#include <stdbool.h>

#include "upstream/hold.h"

struct upstream;

/* Ends the wait at one place: missing numbers are passed over, incomplete things are dropped. */
void us_give_up(struct upstream *u, struct hold *h, bool timeout);

/* Ends all waits that are too long, and the oldest ones while there is too much. */
void us_relieve(struct upstream *u);

/* Ends the oldest waits of a modem while it holds too much. */
void us_relieve_modem(struct upstream *u, uint32_t modem);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is fair to modems whose groups share channels (max-min fairness), by filling up: all shares
 * grow at the same speed, and one stops at its own limit, or when the channels that some set of
 * modems can reach are full. All sets are looked at.
 */
#pragma once

#include "scheduler_rig.h"

#define FAIR_MODEMS 12 /* at most */

/* Bits per second of each modem, where each has one flow, with the same index, and always packets.
 * Returns how many there are. */
unsigned fair_shares(const struct rig *r, double *shares);

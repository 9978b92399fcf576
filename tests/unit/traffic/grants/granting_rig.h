/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream's rig whose modems wait for grants, and MAPs written by hand. Of time nothing is asked but that it goes on. The
 * closed loop with the data plane's scheduler is tests/e2e/run/test_run_grants.py.
 */
#pragma once

#include "uplink_rig.h"

extern uint16_t granting_sequence[UPLINK_RIG_CHANNELS]; /* of the MAP pseudowires */

/* Sets the rig's service group so that all flows have segment headers, and N of 1, 2, 4 and so on. */
void granting_rig_config(void);

/* The same, and starts an uplink of it. */
void granting_rig_start(const char *mix, uint64_t rate);

/* One round of the modems. */
void granting_rig_round(void);

/* A message on the MAP pseudowire of a channel, as modems get it; NULL where memory is short. */
struct rte_mbuf *granting_rig_packet(uint32_t channel, const uint8_t *message, size_t size);

/* Hands it to the modems, who must take it. */
void granting_rig_hand(struct rte_mbuf *m);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream's kit whose modems wait for grants, and MAPs written by hand. Of time nothing is asked but that it goes on. The
 * closed loop with the data plane's scheduler is tests/e2e/run/test_run_grants.py.
 */
#pragma once

#include "uplink_kit.h"

extern uint16_t granting_sequence[UPLINK_KIT_CHANNELS]; /* of the MAP pseudowires */

/* Sets the kit's service group so that all flows have segment headers, and N of 1, 2, 4 and so on. */
void granting_kit_config(void);

/* The same, and starts an uplink of it. */
void granting_kit_start(const char *mix, uint64_t rate);

/* One round of the modems. */
void granting_kit_round(void);

/* A message on the MAP pseudowire of a channel, as modems get it; NULL where memory is short. */
struct rte_mbuf *granting_kit_packet(uint32_t channel, const uint8_t *message, size_t size);

/* Hands it to the modems, who must take it. */
void granting_kit_hand(struct rte_mbuf *m);

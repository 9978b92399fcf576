/* SPDX-License-Identifier: BSD-3-Clause */
/* uplink_kit.h with modems that wait for grants in MAPs, which the test builds. Tests do not depend
 * on the speed of the clock. tests/e2e/run/test_run_grants.py tests the loop with the scheduler. */
#pragma once

#include "uplink_kit.h"

extern uint16_t granting_sequence[UPLINK_KIT_CHANNELS]; /* next PSP numbers of MAP pseudowires */

/* Configures an upstream scheduler for the kit's group. Its flows get segment headers, and request multipliers N of
 * 1, 2, 4 etc. */
void granting_kit_configure(void);

/* The same, and starts an uplink. */
void granting_kit_start(const char *mix, uint64_t rate);

/* One round of the modems. */
void granting_kit_round(void);

/* Returns a packet of the MAP pseudowire of a channel with this message. The caller passes it on or frees it. */
struct rte_mbuf *granting_kit_packet(uint32_t channel, const uint8_t *message, size_t size);

/* Passes the packet to the modems. Asserts that they consume it. */
void granting_kit_receive(struct rte_mbuf *m);

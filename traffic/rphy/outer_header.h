/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the headers around DOCSIS frames with R-DEPI and the configuration: addresses, MTU, and fields
 * that receivers ignore. It reads the bytes itself, as the other parser shares code with the data plane.
 *
 *     IPv4    45 | DSCP, ECN 0 | length | identification | 4000 | TTL | 115 | checksum
 *     IPv6    6, DSCP, ECN 0, flow label 0 | length | 115 | hop limit
 *
 * It does not compare lengths and checksum, which the parser checks, nor IPv4's identification, which has
 * no meaning if DF forbids fragments (RFC 6864, 4.1).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/group/ports.h"
#include "proof/account.h"
#include "wire/l2tpv3.h"

/* Counts violations in addresses, IP fields and size of a frame that l2tp_parse() has accepted. */
void outer_check(const struct rphy_config *c, const uint8_t *frame, const struct l2tp_data *l2tp,
		 struct account *a);

/* Whether the fixed bytes of a PSP header at `psp` are as configured. Packets are in flow 0,
 * messages in `message_flow`. */
bool outer_psp_good(const struct rphy_config *c, uint8_t message_flow, const uint8_t *psp);

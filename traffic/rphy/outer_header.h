/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of a DEPI frame's IP and PSP headers that no receiver needs: what R-DEPI and the configuration say
 * they are. Read from the bytes here, as what wrote them shares the other parser.
 *
 *     IPv4    45 | DSCP, ECN 0 | length | identification | 4000 | TTL | 115 | checksum
 *     IPv6    6, DSCP, ECN 0, flow label 0 | length | 115 | hop limit
 *
 * Not compared: lengths and checksum, which the parser checks, and IPv4's identification, which means nothing where
 * DF forbids fragments (RFC 6864, 4.1).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/service_group.h"

/* `ip` points at a whole IP header of the family of the R-PHY addresses. */
bool outer_ip_good(const struct rphy_config *c, const uint8_t *ip);

/* `psp` points at the fixed bytes of a PSP header. Packets are in flow 0, messages in `message_flow`. */
bool outer_psp_good(const struct rphy_config *c, uint8_t message_flow, const uint8_t *psp);

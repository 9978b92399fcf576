/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers around DOCSIS frames: addresses, MTU, and the fields that no receiver needs, which are what R-DEPI and
 * the configuration say. These are read from the bytes here, as what wrote them shares the other parser.
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

#include "model/group/ports.h"
#include "proof/account.h"
#include "wire/l2tpv3.h"

/* Counts what is wrong with addresses, IP fields and size of a frame that l2tp_parse() took, as violations. */
void outer_check(const struct rphy_config *c, const uint8_t *frame, const struct l2tp_data *l2tp,
		 struct account *a);

/* `psp` points at the fixed bytes of a PSP header. Packets are in flow 0, messages in `message_flow`. */
bool outer_psp_good(const struct rphy_config *c, uint8_t message_flow, const uint8_t *psp);

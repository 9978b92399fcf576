/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the bound of a direction: its crypto alone, with the same mix of sizes, through the server's
 * crypto provider, with everything prepared beforehand. Downstream: CRC and BPI+ encryption. Upstream:
 * decryption for modems that encrypt, and the CRC check if configured.
 */
#pragma once

#include <stdint.h>

#include "core/mix.h"
#include "server/server.h"

/* Processes frames with sizes of the mix and the keys of all modems in round robin, for about
 * `milliseconds`. Returns reference cycles per packet, or -1 if mbufs are short. */
double crypto_bound(struct server *s, enum crypto_direction direction, const struct mix *mix,
		    unsigned milliseconds);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a lower bound of a direction's cycles: its crypto alone, with the same mix of sizes, through the
 * server's crypto provider, with everything prepared beforehand. Downstream: BPI+ encryption, and the CRC
 * if configured. Upstream: decryption for modems that encrypt, and the CRC check if configured.
 */
#pragma once

#include <stdint.h>

#include "core/mix.h"
#include "server/server.h"

/* Processes up to 1024 frames downstream and 100 upstream repeatedly, for about `milliseconds`. Sizes
 * are drawn from the mix; each frame has the next modem's key, so large groups use only their first modems'.
 * Returns reference cycles per packet of the mix, or -1 without a message if mbufs, memory or a queue are
 * missing. */
double crypto_bound(struct server *s, enum crypto_direction direction, const struct mix *mix,
		    unsigned milliseconds);

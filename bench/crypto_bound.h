/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound of a direction: its crypto alone, on the same mix of sizes, through the server's
 * crypto provider, with everything prepared beforehand. Downstream that is CRC and BPI+ encryption; upstream
 * decryption, with the CRC where the configuration verifies it, of modems that encrypt.
 */
#pragma once

#include <stdint.h>

#include "core/mix.h"
#include "server/server.h"

/*
 * Handles frames of the mix's sizes, with the keys of all modems in turn, for about
 * `milliseconds`. Returns reference cycles a packet, or -1 when buffers are short.
 */
double crypto_bound(struct server *s, enum crypto_direction direction, const struct mix *mix,
		    unsigned milliseconds);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound of the downstream: CRC and BPI+ alone, on the same mix of sizes, through the same
 * crypto device, with everything prepared beforehand.
 */
#pragma once

#include <stdint.h>

#include "instance.h"

/*
 * Encrypts frames of the sizes `sizes[0..count)`, in turn and with the sessions of all modems, for
 * about `milliseconds`. Sizes are bytes of Ethernet frames without CRC, at most 1996. Returns
 * reference cycles a packet, or 0 when buffers are short.
 */
double crypto_bound(struct instance *i, const uint16_t *sizes, unsigned count,
		    unsigned milliseconds);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound of the downstream: CRC and BPI+ alone, on the same mix of sizes, through the same
 * crypto device, with everything prepared beforehand.
 */
#pragma once

#include <stdint.h>

#include "instance.h"
#include "mix.h"

/*
 * Encrypts frames of the mix's sizes, with the sessions of all modems in turn, for about
 * `milliseconds`. Returns reference cycles a packet, or 0 when buffers are short.
 */
double crypto_bound(struct instance *i, const struct mix *mix, unsigned milliseconds);

/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "crypto/crypto.h"

/*
 * Frames of many sizes at a time through all ciphers of a provider and back, one at a time: some versions of
 * intel-ipsec-mb make a wrong CRC where 13 and more jobs of different sizes are flushed on a CPU with VAES; 2.0 makes wrong
 * bytes of several frames with DES at a time with AVX-512. Returns a bit for each cipher that comes out wrong, and
 * for those behind it in their enum, which are not tried any more.
 */
uint32_t crypto_self_test(struct crypto_provider *p);

/*
 * Takes from the provider what is wrong, with a message that names `version`. Returns whether it may be used: DES may be
 * missing where there is another cipher.
 */
bool crypto_withdraw(struct crypto_provider *p, uint32_t wrong, const char *version);

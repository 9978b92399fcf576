/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "crypto/crypto.h"

/*
 * Encrypts and decrypts frames of many sizes, in bursts and one by one, with each cipher of a
 * provider.
 *
 * Some versions of intel-ipsec-mb generate a wrong CRC when 13 or more jobs of different sizes are
 * flushed on a CPU with VAES. Version 2.0 encrypts several frames wrongly with DES on AVX-512.
 *
 * Returns a bit for each wrong cipher, and for those after the first one in the enum, which are not
 * tested then.
 */
uint32_t crypto_self_test(struct crypto_provider *p);

/* Removes wrong ciphers from the provider, with a message that names `version`. Returns whether
 * the provider is usable: DES alone may be missing if another cipher works. */
bool crypto_withdraw(struct crypto_provider *p, uint32_t wrong, const char *version);

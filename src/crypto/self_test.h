/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "crypto/crypto.h"

/*
 * Frames of many sizes at a time through all ciphers of a provider and back, one at a time: some versions of
 * intel-ipsec-mb make a wrong CRC where 13 and more jobs of different sizes are flushed on a CPU with VAES. `version`
 * is told with the refusal. Returns whether all frames came back as they were.
 */
bool crypto_self_test(struct crypto_provider *p, const char *version);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that calls intel-ipsec-mb directly. */
#pragma once

#include "crypto/crypto.h"
#include "crypto/library.h"

/*
 * `socket` is that of memory, or SOCKET_ID_ANY; `isa` limits the library's instruction sets.
 *
 * Refuses a library that fails crypto_self_test(). Returns NULL after an error message. The caller
 * frees it by crypto_close().
 */
struct crypto_provider *ipsec_mb_open_isa(enum crypto_isa isa, int socket);

/* Without a limit of instruction sets. */
struct crypto_provider *ipsec_mb_open(int socket);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that calls intel-ipsec-mb directly. */
#pragma once

#include "crypto/crypto.h"
#include "crypto/library.h"

/*
 * Opens a provider with memory of `socket`, which may be SOCKET_ID_ANY. `isa` limits the
 * instruction sets of the library.
 *
 * Refuses a library that fails crypto_self_test(), but withdraws DES alone if only DES fails
 * (crypto_withdraw()). Returns NULL after an error message. The caller frees the provider by
 * crypto_close().
 */
struct crypto_provider *ipsec_mb_open_isa(enum crypto_isa isa, int socket);

/* The same with CRYPTO_ISA_AUTO. */
struct crypto_provider *ipsec_mb_open(int socket);

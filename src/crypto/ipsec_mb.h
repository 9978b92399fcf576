/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that calls intel-ipsec-mb directly. */
#pragma once

#include "crypto/crypto.h"
#include "crypto/library.h"

/*
 * `socket`: where the memory is to be, or SOCKET_ID_ANY; `isa`: the most of the CPU that the library may use. Refuses a
 * library that makes other bytes than it should (crypto_self_test()). Returns NULL after a message; closed by its own
 * function.
 */
struct crypto_provider *ipsec_mb_open_isa(enum crypto_isa isa, int socket);

/* With all that the CPU has. */
struct crypto_provider *ipsec_mb_open(int socket);

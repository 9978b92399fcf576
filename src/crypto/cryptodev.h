/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that asks a DPDK crypto device. */
#pragma once

#include "crypto/crypto.h"

#define CRYPTO_PATIENCE_MS 1000 /* that a device gets by default */

struct cryptodev_options {
	unsigned
		queues; /* the most that will be open at a time; fewer where the device has fewer */
	unsigned in_flight; /* frames of a queue, at least CRYPTO_BURST */
	unsigned patience_ms; /* a device that gives nothing for so long has lost what it has */
	int socket; /* where the memory is to be, or SOCKET_ID_ANY */
};

/*
 * `device`: a name or a PCI address. One that is there is taken; else it is made, by what stands behind a comma:
 * "crypto_aesni_mb0", "crypto_scheduler0,worker=crypto_aesni_mb1,worker=crypto_aesni_mb2", whose workers are made as
 * well. Keys take memory as they come. Refuses a device that knows neither DOCSIS security nor a cipher for it, and one
 * that makes other bytes than it should (crypto_self_test()). Returns NULL after a message; closed by its own function.
 */
struct crypto_provider *cryptodev_open(const char *device, const struct cryptodev_options *o);

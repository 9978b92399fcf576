/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider for DPDK crypto devices. */
#pragma once

#include "crypto/crypto.h"

#define CRYPTO_TIMEOUT_MS 1000 /* default */

struct cryptodev_options {
	unsigned queues; /* most that are open at a time; the device may have fewer */
	unsigned in_flight; /* frames per queue, at least CRYPTO_BURST */
	/* ms without a frame of the device, after which its frames are lost */
	unsigned timeout_ms;
	int socket; /* of memory, or SOCKET_ID_ANY */
};

/*
 * `device` is a name or a PCI address. An existing device is used; otherwise it is created with the
 * arguments behind the comma: "crypto_aesni_mb0",
 * "crypto_scheduler0,worker=crypto_aesni_mb1,worker=crypto_aesni_mb2". Missing workers of a
 * scheduler are created, too.
 *
 * Memory of keys is allocated on demand. Refuses a device that has neither DOCSIS security nor a
 * usable cipher, or that crypto_withdraw() finds unusable after crypto_self_test(). Returns NULL
 * after an error message. The caller frees it by crypto_close().
 */
struct crypto_provider *cryptodev_open(const char *device, const struct cryptodev_options *o);

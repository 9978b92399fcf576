/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider that asks a DPDK crypto device. */
#pragma once

#include "crypto/crypto.h"

/*
 * `device`: its name, a vdev that is made for this such as crypto_aesni_mb0, or a PCI address. `queues` and `keys` are the most that will
 * be open at a time, `in_flight` of each queue. Refuses a device that knows neither DOCSIS security nor a cipher of DOCSIS. Returns NULL after a
 * message.
 */
struct crypto_provider *cryptodev_open(const char *device, unsigned queues, unsigned keys,
				       unsigned in_flight, int socket);

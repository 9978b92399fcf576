/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The providers of a server: the library for all groups, and each device that a group names.
 *
 * A provider is opened for the first group that uses it, and closed with the server. The control
 * thread alone calls these functions.
 */
#pragma once

#include <stddef.h>

#include "crypto/crypto.h"
#include "crypto/isa.h"
#include "model/devices.h"

#define CRYPTO_PROVIDERS_MAX 16

struct crypto_providers_options {
	enum crypto_isa isa; /* limit for the library */
	unsigned queues; /* per device: two per group */
	unsigned in_flight; /* frames per queue of a device */
	unsigned timeout_ms; /* ms, before frames of a device count as lost */
	int socket; /* of memory, or SOCKET_ID_ANY */
};

struct crypto_providers {
	struct crypto_providers_options options;
	struct crypto_provider *open[CRYPTO_PROVIDERS_MAX];
	unsigned count;
};

/* Opens no provider yet. */
void crypto_providers_init(struct crypto_providers *ps,
			   const struct crypto_providers_options *options);

/*
 * The provider of a group. CRYPTO_LIBRARY is the library, NULL the default of crypto_default_device(), any
 * other text a device for cryptodev_open().
 *
 * The name identifies a device, whatever its arguments. Returns NULL after an error message.
 */
struct crypto_provider *crypto_providers_find(struct crypto_providers *ps, const char *device);

/*
 * Closes providers that were opened after the first `count`. The caller has freed their keys and
 * queues.
 *
 * A refused change calls it, so that a later change may name a device with other arguments.
 */
void crypto_providers_close_behind(struct crypto_providers *ps, unsigned count);

/* Closes all. The caller has freed their keys and queues. */
void crypto_providers_close(struct crypto_providers *ps);

/*
 * A provider outside of a server, without a limit of instruction sets: the library, or a new DPDK
 * device if this build has no library.
 *
 * It may be opened several times. Returns NULL after an error message. The caller frees it by
 * crypto_close().
 */
struct crypto_provider *crypto_standalone_open(int socket);

/* Describes a provider in a log: "ipsec-mb: AES-128 with CRC, AES-256 with CRC, DES". Returns
 * `text`. */
const char *crypto_provider_text(const struct crypto_provider *p, char *text, size_t size);

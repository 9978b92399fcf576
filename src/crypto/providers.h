/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The providers of a server: the library, one for all groups, and each device that a group names. Opened when a group
 * asks for it the first time, closed with the server. For the control thread alone.
 */
#pragma once

#include <stddef.h>

#include "crypto/crypto.h"
#include "crypto/isa.h"
#include "model/devices.h"

#define CRYPTO_PROVIDERS_MOST 16

struct crypto_providers_options {
	enum crypto_isa isa; /* that the library may use */
	unsigned queues; /* of each device: two a group */
	unsigned in_flight; /* frames of a device's queue */
	unsigned patience_ms; /* with a device */
	int socket; /* where memory is to be, or SOCKET_ID_ANY */
};

struct crypto_providers {
	struct crypto_providers_options options;
	struct crypto_provider *open[CRYPTO_PROVIDERS_MOST];
	unsigned count;
};

/* Opens none yet. */
void crypto_providers_init(struct crypto_providers *ps,
			   const struct crypto_providers_options *options);

/*
 * That of a group: CRYPTO_LIBRARY is the library, NULL is crypto_own(); any other text is a device as cryptodev_open() takes
 * it. A device of the same name is the same one, whatever its arguments are. NULL after a message.
 */
struct crypto_provider *crypto_providers_find(struct crypto_providers *ps, const char *device);

/* Closes those that were opened since there were `count`; their keys and queues have been freed. For a change that is
 * refused: a device that it opened is not kept, and a later change may name it with other arguments. */
void crypto_providers_close_behind(struct crypto_providers *ps, unsigned count);

/* Closes all; their keys and queues have been given back. */
void crypto_providers_close(struct crypto_providers *ps);

/*
 * One of no server, with all that the CPU has: the library, or a device of DPDK made for it where this build has no library.
 * It may be opened often. NULL after a message; closed by crypto_close().
 */
struct crypto_provider *crypto_apart_open(int socket);

/* What it does, for a log: "ipsec-mb: AES-128 with CRC, AES-256 with CRC, DES". Returns `text`. */
const char *crypto_provider_text(const struct crypto_provider *p, char *text, size_t size);

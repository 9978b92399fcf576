/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets up the EAL, the ports at both ends of the CMTS and the crypto provider. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "crypto/crypto.h"
#include "options.h"
#include "setup.h"

#define ENDS_DEVICE_SIZE 512

enum end {
	END_NETWORK,
	END_RPHY,
	ENDS,
};

/* One end of the CMTS: a device for all service groups, or one per group. */
struct end_ports {
	char devices[SERVER_MAX_GROUPS][ENDS_DEVICE_SIZE];
	unsigned count; /* number of devices: 1, or the number of groups */
	uint16_t ports[SERVER_MAX_GROUPS];
	unsigned opened; /* number of opened ports */
};

/* Must be zeroed before ends_name(). */
struct ends {
	struct crypto_provider *crypto;
	struct rte_mempool *receive_pool;
	struct end_ports at[ENDS];
};

/* Sets the devices; `{group}` in an argument is the index of a group in the configuration, from 0.
 * Returns false after a message if they are invalid. */
bool ends_name(struct ends *e, const struct setup *s);

/* The port of a group at an end. */
static inline uint16_t ends_port(const struct ends *e, enum end end, unsigned group) {
	return e->at[end].ports[e->at[end].count == 1 ? 0 : group];
}

/* Starts the EAL with its devices and memory; platform_stop() ends it. Returns false after a message. */
bool ends_start(const struct ends *e, const struct setup *s);

/* Opens and starts ports and crypto provider; the EAL must run. Returns false after a message. The
 * caller must call ends_close() in any case. */
bool ends_open(struct ends *e, const struct setup *s);

/* Closes the ports. Must be called before pools are freed, as ports keep transmitted packets and
 * receive buffers until they are closed. */
void ends_close_ports(struct ends *e);

/* Frees what ends_open() created. Crypto sessions must have been freed. */
void ends_close(struct ends *e);

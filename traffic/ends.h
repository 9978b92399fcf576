/* SPDX-License-Identifier: BSD-3-Clause */
/* What vcmts-traffic stands on: EAL, ports at each end of the CMTS, a crypto provider. */
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

/* One end of the CMTS: a device for all service groups, or one for each. */
struct end_ports {
	char devices[SERVER_MAX_GROUPS][ENDS_DEVICE_SIZE];
	unsigned count; /* of the devices: 1, or as many as there are groups */
	uint16_t ports[SERVER_MAX_GROUPS];
	unsigned opened; /* of these */
};

/* Zeroed before ends_name(). */
struct ends {
	struct crypto_provider *crypto;
	struct rte_mempool *receive_pool;
	struct end_ports at[ENDS];
};

/* Fills in the devices: `{group}` in an argument is the place of a group in the file, from 0 on. Returns
 * false after a message: what they are is not good. */
bool ends_name(struct ends *e, const struct setup *s);

/* The port of a group at an end. */
static inline uint16_t ends_port(const struct ends *e, enum end end, unsigned group) {
	return e->at[end].ports[e->at[end].count == 1 ? 0 : group];
}

/* EAL with its devices and memory, to be ended by platform_stop(). Returns false after a message. */
bool ends_start(const struct ends *e, const struct setup *s);

/* Opens and starts all of it, on an EAL that runs. Returns false after a message. To be given to
 * ends_close() in any case. */
bool ends_open(struct ends *e, const struct setup *s);

/* Ports hold packets that they have sent, and buffers for what will come, until they are closed: before
 * anything of that is freed. */
void ends_close_ports(struct ends *e);

/* Whatever ends_open() made. Sessions must have been freed. */
void ends_close(struct ends *e);

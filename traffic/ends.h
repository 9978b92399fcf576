/* SPDX-License-Identifier: BSD-3-Clause */
/* What vcmts-traffic stands on: EAL, a port at each end of the CMTS, a crypto device. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "model/service_group.h"
#include "options.h"
#include "platform/crypto.h"

#define ENDS_CRYPTO_QUEUES 2

enum end {
	END_NETWORK,
	END_RPHY,
	ENDS,
};

/* Zeroed before ends_open(). */
struct ends {
	struct docsis_crypto crypto;
	struct rte_mempool *receive_pool;
	uint16_t ports[ENDS];
	unsigned port_count; /* of these, opened */
};

/* EAL with its devices and memory, to be ended by platform_stop(). Returns false after a message. */
bool ends_start(const struct options *o, const struct service_group *sg);

/* Opens and starts all of it, on an EAL that runs. Returns false after a message. To be given to
 * ends_close() in any case. */
bool ends_open(struct ends *e, const struct options *o, const struct service_group *sg);

/* Ports hold packets that they have sent, and buffers for what will come, until they are closed: before
 * anything of that is freed. */
void ends_close_ports(struct ends *e);

/* Whatever ends_open() made. Sessions must have been freed. */
void ends_close(struct ends *e);

/* SPDX-License-Identifier: BSD-3-Clause */
/* What benches of servers share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/server.h"
#include "wire/docsis_up.h"

#define UEPI_BURST_MAX 512 /* bytes of the packet */

/* A burst of a modem as the R-PHY device sends it: one L2TPv3 packet with one frame. */
struct uepi_burst {
	uint32_t session;
	uint16_t sequence; /* of PSP flow 0 */
	uint16_t sid;
	enum docsis_kind kind;
	size_t size; /* of the frame without CRC, up to 200 */
	uint32_t serial; /* of the frame */
	bool open; /* its end does not come */
};

/* Writes the packet from the R-PHY device of the group, whose addresses are IPv4. Returns its size. */
size_t uepi_burst_write(const struct service_group *sg, const struct uepi_burst *b,
			uint8_t packet[UEPI_BURST_MAX]);

/* Gives the server a port of the group. Returns its other end. */
uint16_t server_give(struct server *s, unsigned group, enum device_role role,
		     struct rte_mempool *pool, unsigned depth);

/* Fails where the server holds a packet, or a buffer has not come back. */
void server_has_nothing(const struct server *s);

/* Of all heaps of DPDK. */
struct heaps_used {
	uint64_t bytes, allocations;
};
struct heaps_used heaps_used(void);

/* Adds bytes to a digest, which begins with any number. */
void bytes_digest(uint64_t *sum, const void *bytes, size_t size);

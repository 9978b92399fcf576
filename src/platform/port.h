/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet ports of any driver. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

/*
 * Finds the port of `device` (up to the first comma) and configures it for IP packets of up to `mtu` bytes,
 * or the driver's lower limit. It has one queue per direction of `queue_size` descriptors, limited by the
 * driver, and receives into `pool`. It is not started. `role` names it in messages. Returns 0 and the port in
 * `id`, or -1 after a message.
 */
int port_open(const char *device, const char *role, struct rte_mempool *pool, uint32_t queue_size,
	      uint32_t mtu, uint16_t *id);

/* Numbers of queues of a port. */
struct port_queues {
	uint16_t receive;
	uint16_t transmit;
	/* descriptors of all receive queues but the first; 0: like the first */
	uint32_t further_size;
};

/* The same with several queues: as many as `queues` requests or the device supports; `queues` then
 * has the actual numbers. Each queue receives into `pool`. */
int port_open_queues(const char *device, const char *role, struct rte_mempool *pool,
		     uint32_t queue_size, uint32_t mtu, struct port_queues *queues, uint16_t *id);

/* Reconfigures an open port with other queues; stops it, and the caller starts it again. Returns 0, or -1
 * after a message. */
int port_reopen(uint16_t id, const char *role, struct rte_mempool *pool, uint32_t queue_size,
		uint32_t mtu, struct port_queues *queues);

/*
 * Creates two ports connected by rings: each receives what the other transmits, up to `depth` packets (a
 * power of two) in flight per direction. Both are open and started. Returns 0, or -1 after a message; then
 * nothing remains.
 */
int port_pair(const char *name, struct rte_mempool *pool, unsigned depth, uint16_t ids[2]);

/* Starts the port. The peer may send from now on, so that a worker must receive. Returns 0, or -1
 * after a message. */
int port_start(uint16_t id, const char *role);

/* Stops the port; does nothing if it is not started. */
void port_stop(uint16_t id);

/* Bytes of the largest IP packet that the driver supports, with a VLAN tag if `tagged`. */
uint32_t port_mtu_limit(uint16_t id, bool tagged);

/* Whether the port can send frames in chains of up to `buffers` mbufs. */
bool port_supports_chains(uint16_t id, unsigned buffers);

/* Waits at most `timeout_ms` for the link. Returns whether it is up. */
bool port_wait_link(uint16_t id, unsigned timeout_ms);

void port_close(uint16_t id);

/* Hot-plugs a device that EAL was not started with, by its EAL text, so that port_open() finds it.
 * Does nothing if the device exists. Returns 0, or -1 after a message. */
int port_plug(const char *device, const char *role);

/* Removes a device whose port is closed, so that it can be plugged again. */
void port_unplug(const char *device);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet ports of any kind. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

/*
 * Finds the port that `device` made (its part before the first comma), sets it up for IP packets of
 * up to `mtu` bytes (or the driver's limit, where that is less) with one queue a direction of
 * `queue_size` descriptors (cut to what the driver takes), receiving into `pool`. It is not started.
 * `role` names it in messages. Returns 0 and the port in `id`, or -1 after a message.
 */
int port_open(const char *device, const char *role, struct rte_mempool *pool, uint32_t queue_size,
	      uint32_t mtu, uint16_t *id);

/* How many queues a port has. */
struct port_queues {
	uint16_t receive;
	uint16_t transmit;
	uint32_t further_size; /* descriptors of receive queues behind the first; 0: as the first */
};

/*
 * The same with several queues, numbered from 0: as many as `queues` asks for, or as the device can have,
 * which `queues` tells afterwards. Each receives into `pool`.
 */
int port_open_queues(const char *device, const char *role, struct rte_mempool *pool,
		     uint32_t queue_size, uint32_t mtu, struct port_queues *queues, uint16_t *id);

/* Sets a port that is open up once more, with other queues; it is stopped, and to be started again. Returns 0, or -1
 * after a message. */
int port_open_again(uint16_t id, const char *role, struct rte_mempool *pool, uint32_t queue_size,
		    uint32_t mtu, struct port_queues *queues);

/*
 * Makes two ports whose wires are crossed in memory: what one transmits the other receives, up to
 * `depth` packets (a power of two) in flight a direction. Opened and started. Returns 0, or -1
 * after a message: then nothing is left of them.
 */
int port_pair(const char *name, struct rte_mempool *pool, unsigned depth, uint16_t ids[2]);

/*
 * Starts the port: from now on the other end may send, so somebody must receive. Returns 0 or -1 after
 * a message.
 */
int port_start(uint16_t id, const char *role);

/* Stops it again; harmless where it was not started. */
void port_stop(uint16_t id);

/* Bytes of the largest IP packet that the port's driver carries, in a frame with a VLAN tag where `tagged`. */
uint32_t port_mtu_limit(uint16_t id, bool tagged);

/* Whether the port sends frames that stand in up to `buffers` buffers. */
bool port_takes_chains(uint16_t id, unsigned buffers);

/* Waits until the port's link is up, at most `timeout_ms`. Returns whether it is. */
bool port_wait_link(uint16_t id, unsigned timeout_ms);

void port_close(uint16_t id);

/*
 * A device that EAL was not started with, by its text as there, so that port_open() finds it; harmless where it is
 * there. Returns 0, or -1 after a message.
 */
int port_plug(const char *device, const char *role);

/* Has a device go whose port is closed, so that it can be plugged again. */
void port_unplug(const char *device);

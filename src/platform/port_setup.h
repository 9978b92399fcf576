/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked of a driver for a port, and what is asked instead where it refuses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "platform/port.h"

/* The largest MTU that the device can be configured with, in bytes. */
uint32_t port_setup_mtu_limit(const struct rte_eth_dev_info *info);

/*
 * Bytes of the largest IP packet that the device carries, in a frame with a VLAN tag where `tagged`. net_memif reports Ethernet's
 * constant and accepts no MTU, but carries what fits one of its buffers: `bsize`, which both ends are given.
 */
uint32_t port_setup_carries(const struct rte_eth_dev_info *info, bool tagged);

/*
 * Configures the port, which is stopped, for IP packets of up to `mtu` bytes, or of the device's limit, with as many of
 * the queues as it can have: `q` tells how many. What the driver does in another way than asked is said in a line. Returns 0 or a negative errno.
 */
int port_setup(uint16_t id, const char *role, struct rte_mempool *pool, uint32_t queue_size,
	       uint32_t mtu, struct port_queues *q);

/*
 * Some drivers (net_ena bound to igb_uio) take interrupts of their queues when they are configured, and refuse to start with them.
 * Configures such a port without. Returns 0, or -1 where none were asked for or that fails too.
 */
int port_setup_no_wakes(uint16_t id, const char *role);

/* Says which frames come to a card that knows no promiscuous mode, as those of clouds: its own alone. */
void port_setup_say_address(uint16_t id, const char *role);

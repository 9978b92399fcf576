/* SPDX-License-Identifier: BSD-3-Clause */
/* Configures a port, with fallbacks for what a driver refuses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "platform/port.h"

/* The largest MTU that the device accepts, bytes. */
uint32_t port_setup_mtu_limit(const struct rte_eth_dev_info *info);

/*
 * Bytes of the largest IP packet that the device can carry, with a VLAN tag if `tagged`. net_memif reports
 * Ethernet's constant and accepts no MTU, but carries what fits one buffer: `bsize`, which both sides have as
 * an argument.
 */
uint32_t port_setup_carries(const struct rte_eth_dev_info *info, bool tagged);

/*
 * Configures a stopped port for IP packets of up to `mtu` bytes, or the device's limit, with as many of the
 * queues as it supports; `q` then has the actual numbers. Logs what the driver does differently. Returns 0 or
 * a negative errno.
 */
int port_setup(uint16_t id, const char *role, struct rte_mempool *pool, uint32_t queue_size,
	       uint32_t mtu, struct port_queues *q);

/* Reconfigures a port without queue interrupts, as some drivers (net_ena with igb_uio) accept them
 * but refuse to start with them. Returns 0, or -1 if none were requested, or on a failure. */
int port_setup_no_wakes(uint16_t id, const char *role);

/* Logs the unicast address of a NIC without promiscuous mode, as in clouds: it receives no other frames. */
void port_setup_log_address(uint16_t id, const char *role);

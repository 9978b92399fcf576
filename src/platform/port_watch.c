/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel cannot take a VFIO device from a process: it requests it and waits. DPDK's interrupt
 * thread receives the request and only records it here. */
#define ALLOW_EXPERIMENTAL_API /* rte_dev_event_callback_register(), in DPDK 22.11 */
#include "platform/port_watch.h"

#include <stdio.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_spinlock.h>

#include "platform/port.h"

struct watched {
	char device[RTE_DEV_NAME_MAX_LEN]; /* name on its bus; empty: none */
	bool wanted;
};

static struct watched watched[RTE_MAX_ETHPORTS];
static rte_spinlock_t lock = RTE_SPINLOCK_INITIALIZER; /* protects all entries */

static void on_device(const char *name, enum rte_dev_event_type event, void *arg) {
	(void)arg;
	if (event != RTE_DEV_EVENT_REMOVE || name == NULL)
		return;
	rte_spinlock_lock(&lock);
	for (unsigned id = 0; id < RTE_DIM(watched); id++)
		watched[id].wanted |= strcmp(watched[id].device, name) == 0;
	rte_spinlock_unlock(&lock);
}

static int on_removal(uint16_t id, enum rte_eth_event_type event, void *arg, void *answer) {
	(void)event;
	(void)arg;
	(void)answer;
	rte_spinlock_lock(&lock);
	watched[id].wanted = true;
	rte_spinlock_unlock(&lock);
	return 0;
}

void port_watch(uint16_t id) {
	static bool registered; /* the callback for all devices is registered */
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(id, &info) != 0 || info.device == NULL)
		return;
	rte_spinlock_lock(&lock);
	snprintf(watched[id].device, sizeof(watched[id].device), "%s", rte_dev_name(info.device));
	watched[id].wanted = false;
	rte_spinlock_unlock(&lock);
	rte_eth_dev_callback_register(id, RTE_ETH_EVENT_INTR_RMV, on_removal, NULL);
	if (!registered)
		registered = rte_dev_event_callback_register(NULL, on_device, NULL) == 0;
}

bool port_must_release(uint16_t id) {
	bool wanted;

	rte_spinlock_lock(&lock);
	wanted = watched[id].wanted;
	rte_spinlock_unlock(&lock);
	return wanted;
}

bool port_is_removed(uint16_t id) {
	return !rte_eth_dev_is_valid_port(id) || rte_eth_dev_is_removed(id) != 0;
}

bool port_has_link(uint16_t id) {
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

bool port_waits_for_link(uint16_t id) {
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(id, &info) == 0 && strcmp(info.driver_name, "net_memif") == 0;
}

void port_detach(uint16_t id) {
	struct rte_eth_dev_info info;

	if (!rte_eth_dev_is_valid_port(id) || rte_eth_dev_info_get(id, &info) != 0)
		return;
	rte_eth_dev_callback_unregister(id, RTE_ETH_EVENT_INTR_RMV, on_removal, NULL);
	port_close(id);
	if (info.device != NULL)
		rte_dev_remove(info.device);
}

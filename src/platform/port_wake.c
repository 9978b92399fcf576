/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_eth_get_monitor_addr() and rte_power_monitor(), in DPDK 22.11 */
#define ALLOW_EXPERIMENTAL_API
#include "platform/port_wake.h"

#include <rte_epoll.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_power_intrinsics.h>

#define EVENTS 16 /* events per call */

static bool enabled;

void port_wakes_enable(bool enable) {
	enabled = enable;
}

bool port_wakes_enabled(void) {
	return enabled;
}

/* Suppresses the driver's error message, as a driver without interrupts is no error. */
static int control(uint16_t id, uint16_t queue, int epoll, int what) {
	int level = rte_log_get_level(rte_eth_dev_logtype), ret;

	rte_log_set_level(rte_eth_dev_logtype, RTE_LOG_EMERG);
	ret = rte_eth_dev_rx_intr_ctl_q(id, queue, epoll, what, NULL);
	rte_log_set_level(rte_eth_dev_logtype, (uint32_t)level);
	return ret;
}

bool port_wake_add(uint16_t id, uint16_t queue, int epoll) {
	return control(id, queue, epoll, RTE_INTR_EVENT_ADD) == 0;
}

void port_wake_remove(uint16_t id, uint16_t queue, int epoll) {
	control(id, queue, epoll, RTE_INTR_EVENT_DEL);
}

/* Drivers with a level-triggered descriptor need no arming. */
void port_wake_arm(uint16_t id, uint16_t queue) {
	rte_eth_dev_rx_intr_enable(id, queue);
}

void port_wake_disarm(uint16_t id, uint16_t queue) {
	rte_eth_dev_rx_intr_disable(id, queue);
}

void port_wakes_clear(int epoll) {
	struct rte_epoll_event events[EVENTS];

	rte_epoll_wait(epoll, events, EVENTS, 0);
}

bool port_can_monitor(uint16_t id, uint16_t queue) {
	struct rte_power_monitor_cond next;

	return rte_eth_get_monitor_addr(id, queue, &next) == 0;
}

void port_monitor(uint16_t id, uint16_t queue, uint64_t deadline) {
	struct rte_power_monitor_cond next;

	if (rte_eth_get_monitor_addr(id, queue, &next) == 0)
		rte_power_monitor(&next, deadline);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands by lcore for power managers; 0 is the main thread, 1 the first worker. The responses are those of
 * DPDK (/eal/lcore/usage, from 23.03) and of CommsPowerManagement's DPDK patches (busyness, busyness_enable,
 * busyness_disable, cpuset, capacity_used). They use the exact cycles of the workers.
 */
#pragma once

#include <stdbool.h>

#include <rte_telemetry.h>

#include "server/server.h"

int telemetry_busyness(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_busyness_enable(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_busyness_disable(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_capacity_used(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_cpuset(struct server *s, const char *params, struct rte_tel_data *d);

/* Commands that DPDK 22.11 lacks. */
int telemetry_lcore_list(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_lcore_usage(struct server *s, const char *params, struct rte_tel_data *d);

/* The cycles of an lcore since the start. Returns false if it runs no worker. */
bool telemetry_lcore_cycles(const struct server *s, unsigned lcore, uint64_t *busy,
			    uint64_t *total);

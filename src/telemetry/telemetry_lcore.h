/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What power managers ask for, by lcore: 0 is the main thread, 1 the first worker, and so on. The answers are those of
 * DPDK (/eal/lcore/usage, in 23.03 and later) and of the patches that CommsPowerManagement keeps for it (busyness,
 * busyness_enable, busyness_disable, cpuset, capacity_used), from the exact cycles of the workers.
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

/* What DPDK 22.11 does not have. */
int telemetry_lcore_list(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_lcore_usage(struct server *s, const char *params, struct rte_tel_data *d);

/* The cycles of an lcore since the start. Returns false where it is no worker's. */
bool telemetry_lcore_cycles(const struct server *s, unsigned lcore, uint64_t *busy,
			    uint64_t *total);

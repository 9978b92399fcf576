/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answers of /vcmts/scheduler/...: each fills `d` for the parameters, NULL where there were none,
 * or puts an error there, and returns 0. To be called with the server's lock held.
 */
#pragma once

#include <rte_telemetry.h>

#include "server/served_group.h"

int telemetry_delay(struct served_group *g, const char *params, struct rte_tel_data *d);
int telemetry_channels(struct served_group *g, const char *params, struct rte_tel_data *d);
int telemetry_groups(struct served_group *g, const char *params, struct rte_tel_data *d);
int telemetry_flow(struct served_group *g, const char *params, struct rte_tel_data *d);
int telemetry_modem(struct served_group *g, const char *params, struct rte_tel_data *d);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of /vcmts/workers and /vcmts/drops, as those of telemetry_scheduler.h. */
#pragma once

#include <rte_telemetry.h>

#include "server/server.h"

int telemetry_measure(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_workers(struct server *s, const char *params, struct rte_tel_data *d);
int telemetry_drops(struct served_group *g, const char *params, struct rte_tel_data *d);

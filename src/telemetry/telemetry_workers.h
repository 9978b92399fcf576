/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of /vcmts/workers and /vcmts/drops, as those of telemetry_scheduler.h. */
#pragma once

#include <rte_telemetry.h>

#include "server/instance.h"

int telemetry_workers(struct instance *i, const char *params, struct rte_tel_data *d);
int telemetry_drops(struct instance *i, const char *params, struct rte_tel_data *d);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers to /vcmts/latency (docs/running.md). */
#pragma once

#include <rte_telemetry.h>

#include "server/served_group.h"

/* As a callback of the telemetry; under the lock of qos, so that there is one reader at a time. */
int telemetry_latency(struct served_group *g, const char *params, struct rte_tel_data *d);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers to /vcmts/latency (docs/running.md). */
#pragma once

#include <rte_telemetry.h>

#include "server/instance.h"

/* As a callback of the telemetry; under the lock of qos, so that there is one reader at a time. */
int telemetry_latency(struct instance *i, const char *params, struct rte_tel_data *d);

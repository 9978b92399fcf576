/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a modem receives a MAP in time to use it. */
#pragma once

#include "access/access_parts.h"

enum map_reception { MAP_RECEIVED, MAP_RECEIVED_LATE, MAP_NOT_RECEIVED };

/* A MAP is late for a modem that would have to fill its first minislot before it has processed the
 * MAP; the modem ignores it (MULPI 3.1, 7.2.1.3). The result depends only on modem and MAP. */
enum map_reception map_reception_of(const struct access *a, uint32_t modem,
				    const struct access_map_reception *map);

/* When the modem has processed a MAP received at `received`. */
uint64_t map_processed_at(const struct access *a, uint32_t modem, uint64_t received);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a modem receives a MAP in time to use it. */
#pragma once

#include "access/access_parts.h"

enum hearing { HEARING_HEARD, HEARING_LATE, HEARING_LOST };

/*
 * A MAP is late for a modem that would have to fill its first minislot before it has processed the MAP; the
 * modem ignores it (MULPI 3.1, 7.2.1.3). The result depends only on modem and MAP.
 */
enum hearing hearing_of(const struct access *a, uint32_t modem, const struct access_heard *map);

/* When the modem has processed a MAP received at `heard`. */
uint64_t hearing_known(const struct access *a, uint32_t modem, uint64_t heard);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a MAP reaches a modem, and when it knows it. */
#pragma once

#include "access/access_parts.h"

enum hearing { HEARING_HEARD, HEARING_LATE, HEARING_LOST };

/*
 * A MAP whose first minislot would have had to be filled before the modem had processed the MAP is late for it,
 * and the modem ignores it (MULPI 3.1, 7.2.1.3). The same modem and MAP give the same answer.
 */
enum hearing hearing_of(const struct access *a, uint32_t modem, const struct access_heard *map);

/* When the modem has processed a MAP. */
uint64_t hearing_known(const struct access *a, uint32_t modem, uint64_t heard);

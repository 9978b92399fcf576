/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first sequence number of a DSID (MULPI 8.2) and of a session's PSP packets (R-DEPI).
 *
 * It is 0, except in tests of the wrap, which would otherwise need 65,536 packets.
 */
#pragma once

#include <stdint.h>

/* For the whole process. Call it before the first group is created. */
void first_number_set(uint16_t number);

uint16_t first_number(void);

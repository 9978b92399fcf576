/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where sequence numbers begin: of a DSID's packets (MULPI 8.2), and of a session's PSP packets (R-DEPI). It is 0, but
 * for tests of what happens when they wrap, which take 65,536 packets otherwise.
 */
#pragma once

#include <stdint.h>

/* Of the whole process. Before the first group is made. */
void first_number_set(uint16_t number);

uint16_t first_number(void);

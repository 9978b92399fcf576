/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints several service groups in the tables. */
#pragma once

#include <stdio.h>

#include "summary/summary.h"

/* Prints a line for each group: packets sent and not proven in each direction, and the rate. */
void summary_groups_print(FILE *out, const struct summary *s);

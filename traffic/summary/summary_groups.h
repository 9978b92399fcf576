/* SPDX-License-Identifier: BSD-3-Clause */
/* Several service groups in the summary for people. */
#pragma once

#include <stdio.h>

#include "summary/summary.h"

/* Prints a line for each group: what was sent of each direction, what of it is not proven, and the rate. */
void summary_groups_print(FILE *out, const struct summary *s);

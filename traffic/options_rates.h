/* SPDX-License-Identifier: BSD-3-Clause */
/* What several options together say of the rates. */
#pragma once

#include "core/shape_read.h"
#include "options.h"

#define OPTIONS_RATES_ERROR (SHAPE_ERROR + 32)

/* "15%", 0 to 1000 %, as a share. Returns whether it is one. */
bool options_share(const char *text, double *share);

/*
 * After all options are read: the upstream's rate from --upstream-share, and the shapes of both rates from
 * their texts. Returns true, or false with one line of what is wrong in `error` (OPTIONS_RATES_ERROR bytes).
 */
bool options_rates(struct options *o, char *error);

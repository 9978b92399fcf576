/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes rates and shapes from several options. */
#pragma once

#include "core/shape_read.h"
#include "options.h"

#define OPTIONS_RATES_ERROR (SHAPE_ERROR + 32)

/* Parses "15%", 0 to 1000 %, as a share. Returns false if it is none. */
bool options_share(const char *text, double *share);

/*
 * Called after all options are parsed. Computes the upstream's rate from --upstream-share, and parses the
 * shapes of both rates. Returns true, or false with one line in `error` (OPTIONS_RATES_ERROR bytes) that
 * says what is wrong.
 */
bool options_rates(struct options *o, char *error);

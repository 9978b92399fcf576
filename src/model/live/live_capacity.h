/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether the objects of a group fit into its capacity. */
#pragma once

#include "model/live/live_group.h"

/* Returns false with one line in `why` that names the exceeded capacity. */
bool live_capacity_suffices(const struct group_capacity *capacity,
			    const struct group_capacity *used, char why[LIVE_LINE]);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `extract`: frames out of segments. */
#pragma once

#include <stdint.h>

#include "upstream/state/cut.h"

struct upstream;

struct us_extract {
	struct us_cut cut; /* the segment that is being taken apart */
};

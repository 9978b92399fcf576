/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a direction's summary that tells what vcmtsd has to drop. */
#pragma once

#include <jansson.h>

#include "refused/kinds.h"

/* By drop reason, of which several kinds may have the same. NULL where memory is short. */
json_t *summary_refused(const struct refused_counts *c);

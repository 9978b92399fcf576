/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a direction's summary for packets that vcmtsd must drop. */
#pragma once

#include <jansson.h>

#include "refused/kinds.h"

/* Counts by drop reason; several kinds may share one. Returns NULL if memory is short. */
json_t *summary_refused(const struct refused_counts *c);

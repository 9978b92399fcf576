/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments that wait for others, as others need them beside the stage. */
#pragma once

#include "pipeline/counters.h"
#include "upstream/tables.h"

struct upstream;

/* Drops the fragments that wait. */
void us_fragments_drop(struct upstream *u, struct us_fragments *f, enum drop_reason reason);

void us_fragments_stop(struct upstream *u);

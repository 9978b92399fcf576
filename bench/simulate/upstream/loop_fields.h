/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading numbers of other widths, and times in samples; and what stands for one group of flows. */
#pragma once

#include "fields.h"
#include "upstream/loop_scenario.h"

#define LOOP_SECOND ((double)MAPS_HZ)

void loop_number16(struct fields *f, const char *key, struct bounds b, uint16_t *out);
void loop_number8(struct fields *f, const char *key, struct bounds b, uint8_t *out);

/* Seconds. */
void loop_samples(struct fields *f, const char *key, struct bounds b, uint32_t *out);

void loop_group_read(struct fields *f, const json_t *json, struct loop_group *g);

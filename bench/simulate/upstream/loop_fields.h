/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads numbers of other widths as fields_number(), times in samples, and groups of flows. */
#pragma once

#include "fields.h"
#include "upstream/loop_scenario.h"

#define LOOP_SECOND ((double)MAPS_HZ) /* samples */

void loop_number16(struct fields *f, const char *key, struct bounds b, uint16_t *out);
void loop_number8(struct fields *f, const char *key, struct bounds b, uint8_t *out);

/* Reads seconds into samples. */
void loop_samples(struct fields *f, const char *key, struct bounds b, uint32_t *out);

/* Reads a group into `g`, which gets the defaults first. */
void loop_group_read(struct fields *f, const json_t *json, struct loop_group *g);

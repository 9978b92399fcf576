/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes MAPs and requests of a run as lines of JSON, for programs that check them. Times in samples. */
#pragma once

#include "upstream/loop.h"

void loop_record_map(struct loop *l, uint32_t channel, const struct map *map);
void loop_record_request(struct loop *l, const struct maps_request *request);

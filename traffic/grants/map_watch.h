/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks MAPs against each other, their time of arrival and the configuration. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/service_group.h"
#include "wire/map.h"

enum map_fault {
#define MAP_FAULT(enumerator, name, meaning) MAP_FAULT_##enumerator,
#include "grants/map_fault.def"
#undef MAP_FAULT
	MAP_FAULTS,
};

extern const char *const map_fault_names[MAP_FAULTS];

/* State of an upstream channel. */
struct map_watch {
	uint32_t end; /* minislot after the last MAP */
	bool started;
};

struct map_watch_counts {
	uint64_t faults[MAP_FAULTS];
	uint64_t skipped; /* MAPs that the CMTS skipped because it was too late for them */
};

/* Checks a MAP that map_check() accepts. `now` is its arrival in samples of the DOCSIS clock,
 * before the downstream's delays. Adds faults to `c`. */
void map_watch_check(struct map_watch *w, const struct service_group *sg, uint32_t channel,
		     const struct map *map, uint64_t now, struct map_watch_counts *c);

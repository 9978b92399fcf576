/* SPDX-License-Identifier: BSD-3-Clause */
/* MAPs held against each other, against the time at which they come, and against the configuration. */
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

/* Of an upstream channel. */
struct map_watch {
	uint32_t end; /* the minislot behind the last MAP */
	bool started;
};

struct map_watch_counts {
	uint64_t faults[MAP_FAULTS];
	uint64_t
		skipped; /* MAPs that are left out, as the CMTS does where it is too late for them */
};

/*
 * Looks at a MAP that keeps the rules of map_check() and comes at `now`, samples of the DOCSIS clock, before the
 * downstream's own delays. Adds to `c`.
 */
void map_watch_take(struct map_watch *w, const struct service_group *sg, uint32_t channel,
		    const struct map *map, uint64_t now, struct map_watch_counts *c);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which directions there are, and which worker runs what. */
#pragma once

#include <stdbool.h>

#include "model/service_group.h"
#include "server/worker.h"

#define LAYOUT_MAX_WORKERS 3

bool layout_has_upstream(const struct service_group *sg);

/* The worker of the lower MAC, and of the upstream: one of the downstream's, or the one behind these. */
unsigned layout_lower_worker(const struct service_group *sg);
unsigned layout_upstream_worker(const struct service_group *sg);

/* The cores of the workers in their order. Returns how many there are. */
unsigned layout_cores(const struct service_group *sg, unsigned cores[LAYOUT_MAX_WORKERS]);

/* Names the workers and tells how many there are. */
void layout_workers(const struct service_group *sg, struct worker workers[LAYOUT_MAX_WORKERS],
		    unsigned *count);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The placement that `vcmtsd check` reports: which core runs what, and whether the machine has it. */
#pragma once

#include <jansson.h>

#include "server/layout.h"
#include "server/placement.h"
#include "server/ports.h"

struct check_placement {
	struct cpus cpus;
	struct layout layout;
	struct server_ports ports;
	struct placement_refusal refusals[CPU_FAULTS];
	size_t refusal_count;
};

/* Checks the placement against `cores`, "here" or "PRESENT/ONLINE/USABLE". The caller has zeroed
 * `placement`. Returns 0, also with refused cores, or -1 after a message. Call
 * check_placement_free() in either case. */
int check_placement(struct check_placement *placement, const char *cores,
		    const struct server_config *server);

json_t *check_placement_json(const struct check_placement *placement,
			     const struct server_config *server);

/* Does nothing if zeroed. */
void check_placement_free(struct check_placement *placement);

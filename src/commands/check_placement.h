/* SPDX-License-Identifier: BSD-3-Clause */
/* What `vcmtsd check` tells of a placement: which core runs what, and whether the machine has it. */
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

/* Against `cores`, "here" or "PRESENT/ONLINE/USABLE", in the zeroed `placement`. Returns 0, also where cores
 * are refused, or -1 after a message. To be given to check_placement_free() in either case. */
int check_placement(struct check_placement *placement, const char *cores,
		    const struct server_config *server);

json_t *check_placement_json(const struct check_placement *placement,
			     const struct server_config *server);

/* Harmless on a zeroed one. */
void check_placement_free(struct check_placement *placement);

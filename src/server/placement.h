/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement held against the machine, before anything is started, or a group comes. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "model/server_config.h"
#include "platform/cpus.h"
#include "server/layout.h"

struct placement_refusal {
	enum cpu_fault fault;
	uint32_t service_group; /* the first one with such a core; 0 of the server */
	const char *key; /* in its `threads`, by which it has the core */
	char found[256]; /* all such cores, of all groups */
	char allowed[512]; /* and why not the others */
};

/* What of it cannot run on these cores, at most one refusal a reason. Returns how many there are. */
size_t placement_refusals(const struct server_config *config, const struct cpus *cpus,
			  struct placement_refusal refusals[CPU_FAULTS]);

/* The refusals as lines. Returns 0 where there are none, else -1. */
int placement_print(const struct placement_refusal *refusals, size_t count, FILE *out);

/* The same of the machine that this runs on; the refusals are logged. `cpus` has its cores then. */
int placement_check(const struct server_config *config, struct cpus *cpus);

/*
 * The same of a group that comes to a server that runs: on `machine` as it was at the start (NULL: not known), on cores
 * that have workers, and with no other main core than the server's. Returns false with the first refusal in `line`.
 */
bool placement_takes(const struct layout *layout, const struct cpus *machine, unsigned main_core,
		     const struct service_group *sg, char *line, size_t size);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the configured cores against the machine, before the start or before a group is added. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "model/server_config.h"
#include "platform/cpus.h"
#include "server/layout.h"

struct placement_refusal {
	enum cpu_fault fault;
	uint32_t service_group; /* the first one with such a core; 0: the server itself */
	const char *key; /* key of its `threads` that names the core */
	char found[256]; /* all such cores, of all groups */
	char allowed[512]; /* allowed cores, and why no others */
};

/* Finds the cores that cannot be used; at most one refusal per reason. Returns the number of
 * refusals. */
size_t placement_refusals(const struct server_config *config, const struct cpus *cpus,
			  struct placement_refusal refusals[CPU_FAULTS]);

/* Prints one line per refusal. Returns 0 if there are none, else -1. */
int placement_print(const struct placement_refusal *refusals, size_t count, FILE *out);

/* The same for this machine: logs the refusals and sets `cpus` to its cores. */
int placement_check(const struct server_config *config, struct cpus *cpus);

/*
 * Checks a group that is added to a running server: against `machine` as it was at the start (NULL:
 * unknown), the cores that have workers, and the server's main core. Returns false with the first
 * refusal in `line`.
 */
bool placement_allows(const struct layout *layout, const struct cpus *machine, unsigned main_core,
		      const struct service_group *sg, char *line, size_t size);

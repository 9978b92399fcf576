/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command line and the configuration say together, and all that can be wrong with them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "captures/capture_replay.h"
#include "core/mix.h"
#include "model/server_config.h"
#include "options.h"

struct group_setup {
	struct mix mix; /* sizes depend on the largest frame */
	struct mix upstream_mix;
	struct capture_replay replay; /* where it was asked for */
	bool upstream; /* its modems send */
	uint64_t rate; /* its part: bits per second; 0 = max */
	uint64_t upstream_rate;
};

/* Zeroed, then the options filled in. */
struct setup {
	struct options options;
	struct server_config config;
	struct group_setup groups[SERVER_MAX_GROUPS]; /* as many as the configuration has */
};

/* Everything that can be wrong with arguments and configuration, before anything is started. Returns false
 * after a message. To be given to setup_free() in either case. */
bool setup_load(struct setup *s);

void setup_free(struct setup *s);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the configuration and validates it together with the options. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "captures/capture_replay.h"
#include "core/mix.h"
#include "model/server_config.h"
#include "options.h"

struct group_setup {
	struct mix mix; /* sizes depend on max_frame */
	struct mix upstream_mix;
	struct capture_replay replay; /* if requested */
	bool upstream; /* its modems send */
	uint64_t rate; /* its part of the rate, bits per second; 0 = max */
	uint64_t upstream_rate;
};

/* The caller zeroes it and fills in `options`. */
struct setup {
	struct options options;
	struct server_config config;
	struct group_setup groups[SERVER_MAX_GROUPS]; /* one per group of the configuration */
};

/* Validates all arguments and the configuration before anything is started. Returns false after a
 * message. The caller must call setup_free() in either case. */
bool setup_load(struct setup *s);

void setup_free(struct setup *s);

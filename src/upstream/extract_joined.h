/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `extract_joined`: frames out of what fragments made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "upstream/state/cut.h"
#include "upstream/state/tables.h"

struct upstream;

struct us_extract_joined {
	struct us_cut cut; /* the joined fragments that are being taken apart */
	struct us_stream stream; /* and the state of that */
	uint64_t done; /* units and frames that came out of the queue and went on */
	uint32_t units; /* such as these in the queue; the rest of it are frames */
};

/* Takes all fragments of a frame, in a chain; its meta tells the flow, and the channel where it ended. */
void us_joined_add(struct upstream *u, struct rte_mbuf *unit);

/* Whether frames must wait in the queue, so as not to overtake what was joined. */
bool us_joined_waits(const struct upstream *u);

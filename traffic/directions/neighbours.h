/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All service groups of a run, for the question whose a packet is that is not the own group's. It is asked
 * of what failed a check, so it costs nothing while all is well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/generator.h"
#include "directions/uplink.h"
#include "model/server_config.h"
#include "modems/modem.h"

struct neighbour {
	const struct modems *modems; /* NULL: no downstream */
	const struct generator *generator;
	const struct uplink *uplink; /* NULL: no upstream */
};

struct neighbours {
	struct neighbour all[SERVER_MAX_GROUPS];
	unsigned count;
};

/* All of these take NULL for a group that is alone: it has no neighbours. */

/* Whether a modem of one of them has this address. */
bool neighbours_have_modem(const struct neighbours *n, const uint8_t mac[6]);

/* Whether a downstream frame of `size` bytes without CRC has the tag of one of them. */
bool neighbours_have_made(const struct neighbours *n, const uint8_t *frame, size_t size);

/* Whether the tag is that of an upstream packet of one of them. */
bool neighbours_have_sent(const struct neighbours *n, const struct packet_tag *tag);

/* SPDX-License-Identifier: BSD-3-Clause */
/* All service groups of a run, to find the group of a packet that does not belong to the receiving
 * one. Only packets that failed a check are looked up, so a good run has no cost. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/generator.h"
#include "directions/uplink.h"
#include "model/server_config.h"
#include "modems/modem.h"

struct run_group {
	const struct modems *modems; /* NULL: no downstream */
	const struct generator *generator;
	const struct uplink *uplink; /* NULL: no upstream */
};

struct run_groups {
	struct run_group all[SERVER_MAX_GROUPS];
	unsigned count;
};

/* In all functions, `n` may be NULL: there is only one group. */

/* Whether a modem of a group has this address. */
bool run_groups_have_modem(const struct run_groups *n, const uint8_t mac[6]);

/* Whether a downstream frame of `size` bytes without CRC has the tag of a group. */
bool run_groups_have_made(const struct run_groups *n, const uint8_t *frame, size_t size);

/* Whether the tag is that of an upstream packet of a group. */
bool run_groups_have_sent(const struct run_groups *n, const struct packet_tag *tag);

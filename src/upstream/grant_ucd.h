/* SPDX-License-Identifier: BSD-3-Clause */
/* UCDs of the configuration: what modems are told of an upstream channel. */
#pragma once

#include <stdint.h>

#include "model/service_group.h"

/* Configuration change count: a change of a channel's settings takes a new start. */
#define US_UCD_COUNT 1

/* Writes the channel's UCD as a whole frame of up to MANAGEMENT_FRAME_MAX bytes, from the MAC address `source`. Returns its
 * size; 0 where the settings are such as no UCD can tell. */
uint32_t us_ucd_write(const struct service_group *sg, const struct upstream_channel *c,
		      const uint8_t source[6], uint8_t *frame);

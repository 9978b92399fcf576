/* SPDX-License-Identifier: BSD-3-Clause */
/* UCDs of upstream channels from the configuration. */
#pragma once

#include <stdint.h>

#include "model/service_group.h"

/* Configuration change count. It never changes, as a change of a channel's settings needs a
 * restart. */
#define US_UCD_COUNT 1

/* Writes the channel's UCD as a whole frame of up to MANAGEMENT_FRAME_MAX bytes, with the source
 * MAC address `source`. Returns its size, or 0 if a UCD cannot express the settings. */
uint32_t us_ucd_write(const struct service_group *sg, const struct upstream_channel *c,
		      const uint8_t source[6], uint8_t *frame);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Values derived from the settings of an upstream channel: its minislots in time and bytes, and how
 * far ahead MAPs must be made. Times are in samples of 204.8 MHz. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/service_group.h"

#define GRANTS_HZ UINT64_C(204800000)
#define GRANTS_TICK 1280 /* samples per 6.25 us, the time unit of SC-QAM minislots */

struct grants_times {
	uint32_t frame; /* samples of an OFDMA frame, or of an SC-QAM minislot */
	uint16_t frame_minislots; /* 1 with SC-QAM */
	uint16_t minislot_bytes; /* at least 1, at most UINT16_MAX */
	uint32_t interval; /* samples that a MAP describes: whole frames, at least one */
	uint32_t minislots; /* minislots that a MAP describes */
	uint32_t lead; /* samples from when a MAP is due until its first minislot */
	/* samples from the latest request that a MAP can consider until the MAP's first minislot */
	uint32_t ack_delay;
	uint16_t initial_minislots, station_minislots;
};

/* Converts ns to samples, rounded down, and samples to ns, rounded up; for times up to 90 years. */
uint64_t grants_samples(uint64_t ns);
uint64_t grants_ns(uint64_t samples);

struct grants_times grants_times_of(const struct grants_config *g,
				    const struct upstream_channel *c);

/* The longest time from when a MAP is due until the last data that it grants can arrive, in ns,
 * over all upstream channels of the group. */
uint64_t grants_ahead(const struct service_group *sg);

/* The L2TPv3 session of the channel's MAP pseudowire, from the file or by default. */
uint32_t grants_map_session(const struct upstream_channel *c);

/* The ID of the `i`th downstream channel that carries the channel's MAPs, by default the group's
 * first channel only; 0 if there is no `i`th one. */
uint32_t grants_map_channel(const struct service_group *sg, const struct upstream_channel *c,
			    size_t i);

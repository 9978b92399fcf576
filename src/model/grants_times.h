/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the settings of an upstream channel come to: its minislots in time and bytes, and how far ahead MAPs have to
 * be made. Times are in samples of 204.8 MHz, of which 6.25 us have 1,280.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/service_group.h"

#define GRANTS_HZ UINT64_C(204800000)
#define GRANTS_TICK 1280 /* samples of 6.25 us, in which SC-QAM minislots are counted */

struct grants_times {
	uint32_t frame; /* samples of an OFDMA frame, or of an SC-QAM minislot */
	uint16_t frame_minislots; /* 1 with SC-QAM */
	uint16_t minislot_bytes; /* at least 1; more than it holds stands for UINT16_MAX */
	uint32_t interval; /* samples that a MAP describes: whole frames, at least one */
	uint32_t minislots; /* in it */
	uint32_t lead; /* samples from when a MAP is due until its first minislot */
	uint32_t
		ack_delay; /* samples before a MAP's first minislot, from where on requests come too late for it */
	uint16_t initial_minislots, station_minislots;
};

/* `now` in ns as samples, rounded down, and the other way, rounded up: for times up to 90 years. */
uint64_t grants_samples(uint64_t ns);
uint64_t grants_ns(uint64_t samples);

struct grants_times grants_times_of(const struct grants_config *g,
				    const struct upstream_channel *c);

/* How long after the last MAP was due something may still come that was granted, ns, on all upstream channels of a group. */
uint64_t grants_ahead(const struct service_group *sg);

/* The L2TPv3 session of the channel's MAP pseudowire, whether the file gives it or not. */
uint32_t grants_map_session(const struct upstream_channel *c);

/* The id of downstream channel number `i` that carries the channel's MAPs; 0 where there are no more. */
uint32_t grants_map_channel(const struct service_group *sg, const struct upstream_channel *c,
			    size_t i);

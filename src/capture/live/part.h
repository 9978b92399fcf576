/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The captures at one part of a group, or at a port, and what each selects. A view is constant
 * except for the rings and tallies that its rules point to (struct tap_buffer). The control thread
 * builds a new one for other captures or names.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/buffer.h"

#define TAP_CAPTURES 4 /* at a time */
#define TAP_PART_LISTS 2

/* A filter by indexes of a group's tables. */
struct tap_filter {
	uint8_t wants; /* facts that must match: bits TAP_KNOWS_...; 0: all packets match */
	uint32_t modem; /* index; TAP_NONE: not in the group, no packet matches */
	uint32_t flow; /* likewise */
	uint32_t session; /* ID */
};

struct tap_rule {
	struct tap_buffer *buffer;
	struct tap_filter filter;
	uint64_t boundaries; /* bit per boundary */
	/* bit per drop reason, in the capture's request, which outlives the view; NULL: none */
	const uint64_t *reasons;
};

#define TAP_REASON_WORDS ((DROP_REASONS + 63) / 64)

struct tap_view {
	struct tap tap;
	enum direction direction;
	struct tap_tables tables;
	struct clock *const *clock; /* clock of the worker that runs the part */
	struct clock *own_clock; /* of a port: `clock` points here */
	struct tap_list lists[TAP_PART_LISTS];
	unsigned rule_count;
	struct tap_rule rules[TAP_CAPTURES];
};

/* Sets the callbacks and the boundaries of each stage list. `first_list` and `list_count`
 * select lists of the direction; a port has none. The caller has set all other members,
 * `tap.stage` too. */
void tap_view_finish(struct tap_view *v, unsigned first_list, unsigned list_count);

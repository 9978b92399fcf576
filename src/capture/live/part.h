/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What looks on at one part of a group, or at a port: the captures that have an end there, and what each wants.
 * But for the ends it stays as it is; for another set of captures, or other names, another one is made.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/end.h"

#define TAP_CAPTURES 4 /* at a time */
#define TAP_PART_LISTS 2

/* What a capture asks of packets, by places of a group's tables. */
struct tap_filter {
	uint8_t wants; /* bits, as `known`; 0: all packets */
	uint32_t modem; /* TAP_NOBODY: none passes */
	uint32_t flow;
	uint32_t session; /* ID */
};

struct tap_look {
	struct tap_end *end;
	struct tap_filter filter;
	uint64_t boundaries; /* a bit each */
	const uint64_t *reasons; /* a bit each; NULL: drops are not looked at. Outlives it */
};

#define TAP_REASON_WORDS ((DROP_REASONS + 63) / 64)

struct tap_view {
	struct tap tap;
	enum direction direction;
	struct tap_tables tables;
	struct clock *const *clock; /* of whoever runs it at the time */
	struct clock *own_clock; /* of a port: what that points to */
	struct tap_list lists[TAP_PART_LISTS];
	unsigned look_count;
	struct tap_look looks[TAP_CAPTURES];
};

/* Fills in the functions, the tables of kinds, and what each list is to show. `lists`: numbers of its lists in the
 * direction; of a port there are none. All else of `v` is set, `tap.stage` too. */
void tap_view_finish(struct tap_view *v, unsigned first_list, unsigned list_count);

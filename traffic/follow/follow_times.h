/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the delay of the traffic behind the server's changes. */
#pragma once

#include <stdint.h>

#include <hdr_histogram.h>
#include <jansson.h>

struct follow_times {
	struct hdr_histogram
		*behind; /* ns; one value each time the traffic has applied all changes */
	/* TSC at which the server reported the oldest change that the traffic has not applied; 0: none */
	uint64_t applied_at;
	uint64_t tsc_hz;
};

/* Returns 0, or -1 after a message. The caller frees it with follow_times_free() in either case. */
int follow_times_create(struct follow_times *t, uint64_t tsc_hz);
void follow_times_free(struct follow_times *t);

/* The server has applied a change at TSC `now`. */
void follow_times_applied(struct follow_times *t, uint64_t now);

/* The traffic has applied all changes that the server reported before TSC `now`. */
void follow_times_current(struct follow_times *t, uint64_t now);

/*
 * {"changes", "behind_us", "held_us"}: number of changes offered, delay of the traffic as percentiles, and
 * `paused` in us. `paused` is the longest time, in TSC cycles, that applying a change stopped the traffic.
 * The caller owns the result.
 */
json_t *follow_times_json(const struct follow_times *t, uint64_t changes, uint64_t paused);

/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the traffic is behind the server's changes. */
#pragma once

#include <stdint.h>

#include <hdr_histogram.h>
#include <jansson.h>

struct follow_times {
	struct hdr_histogram
		*behind; /* ns, of each time at which the traffic had taken all changes */
	uint64_t
		applied_at; /* TSC: when the server told that it had applied the oldest change not taken; 0: none */
	uint64_t tsc_hz;
};

/* Returns 0, or -1 after a message. To be freed by follow_times_free() in either case. */
int follow_times_create(struct follow_times *t, uint64_t tsc_hz);
void follow_times_free(struct follow_times *t);

/* The server has applied a change at TSC `now`. */
void follow_times_applied(struct follow_times *t, uint64_t now);

/* The traffic has taken all that the server told before TSC `now`. */
void follow_times_taken(struct follow_times *t, uint64_t now);

/*
 * {"changes", "behind_us", "held_us"}: `changes` that were offered, how far the traffic was behind, as latencies are
 * told, and `held` TSC cycles, the longest that taking a change held the traffic. The caller owns it.
 */
json_t *follow_times_json(const struct follow_times *t, uint64_t changes, uint64_t held);

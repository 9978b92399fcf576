/* SPDX-License-Identifier: BSD-3-Clause */
/* What all service groups together have sent and proven, beside what each has. */
#pragma once

#include <stdbool.h>

#include "directions/traffic.h"
#include "groups/groups.h"

struct totals {
	struct traffic_result downstream[SERVER_MAX_GROUPS]; /* of each group, where it sends any */
	struct uplink_result upstream[SERVER_MAX_GROUPS];
	unsigned count;
	/*
	 * The sums: of one group exactly what is said of it. Of several `seconds`, `descheduled` and the
	 * deepest resequencing are the largest, rates are of the sums, latencies of all packets, and what a
	 * capture holds is not told again. Frames of nobody at their ports are among `unexpected` and
	 * `violations`.
	 */
	struct traffic_result all_downstream;
	struct uplink_result all_upstream;
	struct hdr_histogram
		*downstream_latency; /* what the sums refer to; NULL: nothing of ours */
	struct hdr_histogram *upstream_latency;
};

/* The results as they are now, to be freed by totals_free() before the groups are. */
void totals_create(struct totals *t, const struct groups *g);

void totals_free(struct totals *t);

/* Whether all groups have proven every packet in the directions in which they send, and no DEPI frame was
 * wrong or nobody's. */
bool totals_good(const struct totals *t, const struct groups *g);

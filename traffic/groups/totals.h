/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of each service group and of all together. */
#pragma once

#include <stdbool.h>

#include "directions/traffic.h"
#include "groups/groups.h"

struct totals {
	/* of each group; valid if it sends a downstream */
	struct traffic_result downstream[SERVER_MAX_GROUPS];
	struct uplink_result upstream[SERVER_MAX_GROUPS];
	unsigned count;
	/* The sums; for one group, its results. For several groups, `seconds`, `descheduled` and the
	 * deepest resequencing are maxima, rates are of the sums, latencies of all packets, and counts of a
	 * capture are not repeated. Unmatched frames count in `unexpected` and `violations`. */
	struct traffic_result all_downstream;
	struct uplink_result all_upstream;
	struct hdr_histogram *downstream_latency; /* histogram of the sums; NULL: not owned */
	struct hdr_histogram *upstream_latency;
};

/* Gets the current results. The caller frees them with totals_free() before the groups. */
void totals_create(struct totals *t, const struct groups *g);

void totals_free(struct totals *t);

/* Whether all groups have proven every packet in their directions, and no DEPI frame had a
 * violation or was unmatched. */
bool totals_good(const struct totals *t, const struct groups *g);

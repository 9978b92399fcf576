/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared declarations of the summary's files. */
#pragma once

#include "summary/summary.h"

/* Values that both directions have. */
struct common {
	uint64_t sent, sent_bytes, proven, proven_bytes;
	uint64_t lost, overtaken, duplicated, reordered, corrupted, undecipherable;
	int64_t unaccounted;
	double configured_bps, gbps, seconds, sent_seconds;
	uint64_t first_tsc, last_tsc;
	struct percentiles latency_us;
	const struct hdr_histogram *latency;
	uint64_t descheduled;
	double descheduled_longest_us;
};

struct common downstream_common(const struct traffic_result *r);
struct common upstream_common(const struct uplink_result *r);

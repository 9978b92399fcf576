/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the results of all service groups. */
#include "groups/totals.h"

#include <string.h>

#include "directions/traffic_parts.h"
#include "groups/shared_port_side.h"

/* Adds structs that consist of counts. */
static void counts_add(uint64_t *sum, const uint64_t *part, size_t n) {
	for (size_t i = 0; i < n; i++)
		sum[i] += part[i];
}

#define ADD(sum, part, field) ((sum)->field += (part)->field)
#define ADD_ALL(sum, part, field) counts_add((sum)->field, (part)->field, RTE_DIM((sum)->field))
#define MAXIMUM(sum, part, field) ((sum)->field = RTE_MAX((sum)->field, (part)->field))
/* The minimum of values other than 0. */
#define FIRST(sum, part, field)                                                                   \
	((sum)->field = (sum)->field == 0 || ((part)->field != 0 && (part)->field < (sum)->field) \
				? (part)->field                                                   \
				: (sum)->field)

/* If memory is short, only the latencies of the sum are missing. */
static void latency_add(struct hdr_histogram **sum, const struct hdr_histogram *part) {
	if (part == NULL)
		return;
	if (*sum == NULL)
		*sum = percentiles_create();
	if (*sum != NULL)
		hdr_add(*sum, part);
}

static double configured_add(double sum, double part, bool first) {
	if (first)
		return part;
	return sum > 0 && part > 0 ? sum + part : 0; /* as fast as possible */
}

static void downstream_add(struct traffic_result *sum, const struct traffic_result *r, bool first) {
	ADD(sum, r, sent);
	ADD(sum, r, sent_bytes);
	ADD(sum, r, proven);
	ADD(sum, r, proven_bytes);
	ADD(sum, r, counted);
	ADD(sum, r, counted_bytes);
	sum->configured_bps = configured_add(sum->configured_bps, r->configured_bps, first);
	ADD(sum, r, lost);
	ADD(sum, r, overtaken);
	ADD(sum, r, unaccounted);
	ADD(sum, r, duplicated);
	ADD(sum, r, reordered);
	ADD(sum, r, corrupted);
	ADD(sum, r, undecipherable);
	ADD_ALL(sum, r, corrupted_by);
	ADD_ALL(sum, r, unexpected);
	ADD_ALL(sum, r, violations);
	ADD_ALL(sum, r, formats);
	ADD_ALL(sum, r, sent_by_class);
	refused_add(&sum->refused, &r->refused);
	ADD(sum, r, flows);
	ADD(sum, r, depi_frames);
	ADD(sum, r, depi_bytes);
	ADD(sum, r, resequenced);
	ADD(sum, r, resequencing_given_up);
	ADD(sum, r, skipped);
	ADD(sum, r, messages);
	MAXIMUM(sum, r, resequencing_deepest);
	ADD(sum, r, transmit_backpressure);
	ADD(sum, r, no_buffers);
	MAXIMUM(sum, r, descheduled);
	MAXIMUM(sum, r, descheduled_longest_us);
	MAXIMUM(sum, r, seconds);
	MAXIMUM(sum, r, sent_seconds);
	FIRST(sum, r, first_tsc);
	MAXIMUM(sum, r, last_tsc);
}

static void uplink_counts_add(struct uplink_counts *sum, const struct uplink_counts *c,
			      bool first) {
	sum->configured_bps = configured_add(sum->configured_bps, c->configured_bps, first);
	ADD(sum, c, packets);
	ADD(sum, c, reordered);
	ADD(sum, c, psp_segments);
	ADD(sum, c, bytes);
	ADD(sum, c, bursts);
	ADD(sum, c, segments);
	ADD(sum, c, request_records);
	ADD(sum, c, requests);
	ADD(sum, c, management);
	ADD(sum, c, fragments);
	ADD(sum, c, concatenations);
	ADD(sum, c, backpressure);
	ADD(sum, c, crypto_errors);
	MAXIMUM(sum, c, descheduled);
	MAXIMUM(sum, c, descheduled_longest_us);
}

/* Channel numbers are per group, so the sum of several groups has no counts per channel. */
static void grants_add(struct uplink_result *sum, const struct uplink_result *r) {
	struct grants_result *to = &sum->grants;
	const struct grants_result *from = &r->grants;

	sum->scheduled = sum->scheduled || r->scheduled;
	counts_add((uint64_t *)&to->access, (const uint64_t *)&from->access,
		   sizeof(to->access) / sizeof(uint64_t));
	ADD(to, from, arrived);
	ADD(to, from, waiting);
	ADD(to, from, refused);
	ADD(to, from, given_up);
	ADD(to, from, maps);
	ADD(to, from, maps_lost);
	ADD(to, from, maps_delayed);
	ADD(to, from, maps_missing);
	ADD(to, from, maps_incomplete);
	ADD(to, from, maps_bad);
	ADD_ALL(to, from, watched.faults);
	ADD(to, from, watched.skipped);
	ADD(to, from, ucds);
	ADD(to, from, requests_lost);
	ADD(to, from, heard_bytes);
	ADD(to, from, records);
	ADD(to, from, frames);
	ADD(to, from, oversized);
	ADD(to, from, unused_bursts);
	ADD(to, from, clock_jumps);
	ADD(to, from, silent);
	ADD(to, from, beyond);
	ADD(to, from, endless);
	to->limited |= from->limited;
}

static void expected_add(struct uplink_result *sum, const struct uplink_result *r, bool first) {
	sum->impaired = sum->impaired || r->impaired;
	sum->expected_known = r->expected_known && (first || sum->expected_known);
	ADD(sum, r, expected.lost);
	ADD(sum, r, expected.corrupted);
	ADD(sum, r, expected.foreign);
	ADD_ALL(sum, r, expected.drops);
	ADD_ALL(sum, r, expected.counters);
	ADD_ALL(sum, r, hits);
	ADD(sum, r, survived);
}

static void upstream_add(struct uplink_result *sum, const struct uplink_result *r, bool first) {
	ADD(sum, r, sent);
	ADD(sum, r, sent_bytes);
	ADD(sum, r, proven);
	ADD(sum, r, proven_bytes);
	ADD(sum, r, lost);
	ADD(sum, r, overtaken);
	ADD(sum, r, unaccounted);
	ADD(sum, r, duplicated);
	ADD(sum, r, reordered);
	ADD(sum, r, corrupted);
	ADD_ALL(sum, r, corrupted_by);
	ADD_ALL(sum, r, unexpected);
	ADD(sum, r, latency_unknown);
	refused_add(&sum->refused, &r->refused);
	MAXIMUM(sum, r, seconds);
	MAXIMUM(sum, r, sent_seconds);
	FIRST(sum, r, first_tsc);
	MAXIMUM(sum, r, last_tsc);
	uplink_counts_add(&sum->counts, &r->counts, first);
	MAXIMUM(sum, r, descheduled);
	MAXIMUM(sum, r, descheduled_longest_us);
	expected_add(sum, r, first);
	grants_add(sum, r);
}

static double totals_gbps(uint64_t bytes, double seconds) {
	return seconds > 0 ? (double)bytes * 8 / seconds / 1e9 : 0;
}

/* Unmatched frames of shared ports count in the sums only. */
static void unmatched_add(struct totals *t, const struct groups *g) {
	struct traffic_result *down = &t->all_downstream;

	for (unsigned i = 0; i < g->share_count; i++) {
		const struct shared_port *s = g->shares[i];

		if (s->side == &shared_port_network) {
			t->all_upstream.unexpected[UPLINK_UNEXPECTED_NO_GROUP] +=
				s->unmatched.unexpected[UNEXPECTED_NO_GROUP];
			t->all_upstream.unexpected[UPLINK_UNEXPECTED_LINK] +=
				s->unmatched.unexpected[UNEXPECTED_LINK];
			continue;
		}
		down->depi_frames += s->unmatched.frames;
		down->depi_bytes += s->unmatched.bytes;
		ADD_ALL(down, &s->unmatched, unexpected);
		ADD_ALL(down, &s->unmatched, violations);
	}
}

static void downstream_sum(struct totals *t, const struct groups *g) {
	struct traffic_result *sum = &t->all_downstream;
	bool first = true;

	for (unsigned i = 0; i < t->count; i++) {
		if (g->all[i]->downlink == NULL)
			continue;
		downstream_add(sum, &t->downstream[i], first);
		latency_add(&t->downstream_latency, t->downstream[i].latency);
		first = false;
	}
	sum->gbps = totals_gbps(sum->proven_bytes + sum->counted_bytes, sum->seconds);
	sum->latency = t->downstream_latency;
	if (sum->latency != NULL)
		sum->latency_us = percentiles_us(sum->latency);
}

static void upstream_sum(struct totals *t, const struct groups *g) {
	struct uplink_result *sum = &t->all_upstream;
	bool first = true;

	for (unsigned i = 0; i < t->count; i++) {
		if (g->all[i]->uplink == NULL)
			continue;
		upstream_add(sum, &t->upstream[i], first);
		latency_add(&t->upstream_latency, t->upstream[i].latency);
		first = false;
	}
	sum->gbps = totals_gbps(sum->proven_bytes, sum->seconds);
	sum->latency = t->upstream_latency;
	if (sum->latency != NULL)
		sum->latency_us = percentiles_us(sum->latency);
}

void totals_create(struct totals *t, const struct groups *g) {
	*t = (struct totals){.count = g->count};
	for (unsigned i = 0; i < g->count; i++) {
		traffic_result(g->all[i], &t->downstream[i]);
		traffic_uplink_result(g->all[i], &t->upstream[i]);
	}
	if (g->count == 1) {
		t->all_downstream = t->downstream[0];
		t->all_upstream = t->upstream[0];
	} else {
		downstream_sum(t, g);
		upstream_sum(t, g);
	}
	unmatched_add(t, g);
}

void totals_free(struct totals *t) {
	if (t->downstream_latency != NULL)
		hdr_close(t->downstream_latency);
	if (t->upstream_latency != NULL)
		hdr_close(t->upstream_latency);
	*t = (struct totals){0};
}

/* Checks the sums, as unmatched frames of shared ports belong to no group. */
bool totals_good(const struct totals *t, const struct groups *g) {
	if (traffic_unexpected(&t->all_downstream, &t->all_upstream) > 0)
		return false;
	for (unsigned i = 0; i < t->count; i++) {
		if (g->all[i]->downlink != NULL && !traffic_result_good(&t->downstream[i]))
			return false;
		if (g->all[i]->uplink != NULL && !uplink_result_good(&t->upstream[i]))
			return false;
	}
	for (unsigned i = 0; i < g->share_count; i++) {
		for (int v = 0; v < VIOLATIONS; v++) {
			if (g->shares[i]->unmatched.violations[v] != 0)
				return false;
		}
	}
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up what the parts have counted. */
#include <string.h>

#include "traffic_parts.h"

uint64_t traffic_in_flight(const struct traffic *t) {
	uint64_t sent = t->generator->packets - t->pending_count;
	uint64_t heard = t->account.proven + account_corrupted(&t->account);

	return sent > heard ? sent - heard : 0;
}

/*
 * Every corrupted frame was one packet that is not proven, unless its good copy came too: then it
 * is a duplicate that was damaged.
 */
static void balance(const struct traffic *t, struct traffic_result *r) {
	uint64_t corrupted = account_corrupted(&t->account);
	uint64_t missing = r->sent - r->proven;

	r->corrupted = corrupted < missing ? corrupted : missing;
	r->lost = missing - r->corrupted;
	r->duplicated = t->account.duplicated + corrupted - r->corrupted;
}

static void latency(const struct account *a, struct traffic_result *r) {
	if (a->latency->total_count == 0)
		return;
	r->latency_us.mean = hdr_mean(a->latency) / 1e3;
	r->latency_us.p50 = (double)hdr_value_at_percentile(a->latency, 50.0) / 1e3;
	r->latency_us.p99 = (double)hdr_value_at_percentile(a->latency, 99.0) / 1e3;
	r->latency_us.p99_9 = (double)hdr_value_at_percentile(a->latency, 99.9) / 1e3;
	r->latency_us.max = (double)hdr_max(a->latency) / 1e3;
}

static void duration(const struct traffic *t, struct traffic_result *r) {
	uint64_t last = t->account.last_tsc > t->last_tsc ? t->account.last_tsc : t->last_tsc;

	if (last <= t->first_tsc)
		return;
	r->seconds = (double)(last - t->first_tsc) / (double)t->tsc_hz;
	r->gbps = (double)r->proven_bytes * 8 / r->seconds / 1e9;
}

void traffic_result(const struct traffic *t, struct traffic_result *r) {
	const struct account *a = &t->account;

	*r = (struct traffic_result){
		.sent = t->generator->packets - t->pending_count,
		.sent_bytes = t->generator->bytes,
		.proven = a->proven,
		.proven_bytes = a->proven_bytes,
		.reordered = a->reordered,
		.depi_frames = a->depi_frames,
		.depi_bytes = a->depi_bytes,
		.resequenced = t->resequencers.resequenced,
		.resequencing_given_up = t->resequencers.given_up,
		.resequencing_deepest = t->resequencers.deepest,
		.transmit_backpressure = t->backpressure,
		.no_buffers = t->generator->no_buffers,
		.descheduled = t->pacing.descheduled,
		.descheduled_longest_us = pacing_longest_us(&t->pacing),
	};
	memcpy(r->corrupted_by, a->corrupted, sizeof(r->corrupted_by));
	memcpy(r->unexpected, a->unexpected, sizeof(r->unexpected));
	memcpy(r->violations, a->violations, sizeof(r->violations));
	memcpy(r->sent_by_class, t->generator->by_class, sizeof(r->sent_by_class));
	balance(t, r);
	duration(t, r);
	latency(a, r);
}

bool traffic_result_good(const struct traffic_result *r) {
	for (int i = 0; i < VIOLATIONS; i++) {
		if (r->violations[i] != 0)
			return false;
	}
	return r->sent > 0 && r->proven == r->sent && r->duplicated == 0 && r->reordered == 0 &&
	       r->corrupted == 0 && r->lost == 0;
}

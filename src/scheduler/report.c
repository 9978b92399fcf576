/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/report.h"

#include <string.h>

#include "scheduler/internal.h"

void scheduler_report_flow(const struct scheduler *s, uint32_t flow,
			   struct scheduler_flow_report *out) {
	const struct flow *f = &s->flows[flow];

	*out = (struct scheduler_flow_report){
		.packets = f->granted_packets,
		.bytes = f->granted_bytes,
		.waiting_packets = f->packets,
		.waiting_bytes = f->bytes,
	};
	memcpy(out->drops, s->drops[flow], sizeof(out->drops));
	if (f->aqm == SCHEDULER_DOCSIS_PIE) {
		double probability = s->aqm[flow].pie.probability;

		out->drop_probability =
			probability < 1 ? (uint32_t)(probability * 0x1p32) : UINT32_MAX;
	}
}

void scheduler_report_channel(const struct scheduler *s, uint32_t channel,
			      struct scheduler_channel_report *out) {
	const struct channel *c = &s->channels[channel];

	*out = (struct scheduler_channel_report){
		.packets = c->packets,
		.bytes = c->bytes,
		.busy_until = scheduler_time(s, c->busy_until),
	};
}

void scheduler_report_group(const struct scheduler *s, uint32_t group,
			    struct scheduler_group_report *out) {
	*out = s->groups[group].report;
}

void scheduler_report_delay(const struct scheduler *s, unsigned priority,
			    struct scheduler_delay_report *out) {
	const struct delays *d = &s->delays[priority];

	out->packets = 0;
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
		out->packets += d->buckets[b];
	out->sum_ns = d->units * DELAY_UNIT_NS;
	memcpy(out->buckets, d->buckets, sizeof(out->buckets));
}

uint64_t scheduler_delay_floor(unsigned bucket) {
	unsigned shift = bucket < 16 ? 0 : bucket / 8 - 1;

	return ((uint64_t)(bucket - shift * 8) << shift) * DELAY_UNIT_NS;
}

uint64_t scheduler_delay_quantile(const struct scheduler_delay_report *r, unsigned permille) {
	uint64_t all = 0, seen = 0;

	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
		all += r->buckets[b];
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		seen += r->buckets[b];
		if (seen > 0 && seen * 1000 >= all * permille)
			return scheduler_delay_floor(b + 1);
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "scheduler/maps/internal.h"

#define NUMBERS (sizeof(struct maps_counts) / sizeof(uint64_t))
_Static_assert(NUMBERS * sizeof(uint64_t) == sizeof(struct maps_counts), "nothing but numbers");

static void add(struct maps_counts *sum, const struct maps_counts *more) {
	uint64_t a[NUMBERS], b[NUMBERS];

	memcpy(a, sum, sizeof(a));
	memcpy(b, more, sizeof(b));
	for (size_t i = 0; i < NUMBERS; i++)
		a[i] += b[i];
	memcpy(sum, a, sizeof(a));
}

static void add_requests(struct maps_counts *sum, const struct req_state *req_state) {
	for (uint32_t i = 0; i < MAPS_VERDICTS; i++)
		sum->verdicts[i] += req_state->verdicts[i];
	sum->late_requests += req_state->late;
}

void maps_counts(const struct maps *m, uint32_t channel, struct maps_counts *out) {
	if (channel < m->channel_count) {
		*out = m->channels[channel].counts;
		add_requests(out, &m->req_states[channel]);
		return;
	}
	*out = m->counts;
	add_requests(out, &m->req_states[MAPS_MAX_CHANNELS]);
	for (uint32_t i = 0; i < m->channel_count; i++) {
		add(out, &m->channels[i].counts);
		add_requests(out, &m->req_states[i]);
	}
}

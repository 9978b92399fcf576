/* SPDX-License-Identifier: BSD-3-Clause */
/* Admission control: unsolicited grants, polls and reserved rates are limited by the channels'
 * capacity. */
#include <string.h>

#include "scheduler/maps/internal.h"

uint64_t proactive_bytes(const struct maps_flow *s) {
	return (s->guaranteed_rate * s->grant_interval + BYTE_TOKENS - 1) / BYTE_TOKENS;
}

/* The capacity of the channel that is not committed. */
static uint32_t free_of(const struct channel *c) {
	return c->limit > c->committed ? c->limit - c->committed : 0;
}

/* Minislots per `interval` in units of COMMIT_UNIT. UINT32_MAX: more than any channel has. */
static uint32_t promise(uint64_t minislots, uint32_t interval) {
	uint64_t units = (minislots * COMMIT_UNIT + interval - 1) / interval;

	return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

/* The capacity that unsolicited grants and polls take on a channel. */
static uint32_t service_units(const struct channel *c, const struct maps_flow *s) {
	uint64_t bytes = s->type == MAPS_PROACTIVE ? proactive_bytes(s) : s->grant_bytes, minislots;
	uint32_t grants = s->type == MAPS_PROACTIVE ? 1 : s->grants;

	if (s->type == MAPS_NON_REAL_TIME_POLLING || s->type == MAPS_REAL_TIME_POLLING)
		return promise(c->set.request_minislots, s->poll_interval);
	if (bytes + s->header_bytes > MAP_BYTES_MAX)
		return UINT32_MAX;
	minislots = c->set.burst_minislots + minislots_for(c, (uint32_t)bytes + s->header_bytes);
	if (minislots > c->max || minislots * grants + c->requests_min + c->split > c->minislots)
		return UINT32_MAX;
	return promise(minislots * grants, s->grant_interval);
}

/*
 * Selects the channel of the first cluster with the most free capacity; the flow stays on it. An
 * eighth of each channel is not committed, as more grants than the average may fall into one MAP.
 */
static const char *admit_service(const struct maps *m, const struct maps_flow *s, uint32_t *plan,
				 uint8_t *channel) {
	uint32_t max = 0, units = 0;
	bool fits = false;

	for (size_t i = 0; i < s->clusters[0].count; i++) {
		uint16_t at = s->clusters[0].sids[i].channel;
		uint32_t takes = service_units(&m->channels[at], s),
			 left = free_of(&m->channels[at]);

		if ((uint64_t)takes + m->channels[at].limit / 8 > left || (fits && left <= max))
			continue;
		fits = true;
		max = left;
		units = takes;
		*channel = (uint8_t)at;
	}
	if (!fits)
		return "unsolicited grants or polls are more than a channel of the flow has left";
	plan[*channel] += units;
	return NULL;
}

/* The capacity that a rate takes on one channel alone, in grants of QUANTUM bytes. 2^30 / MAPS_HZ =
 * 16384 / 3125. */
static uint64_t rate_units(const struct channel *c, const struct maps_flow *s) {
	uint32_t grant = QUANTUM;
	uint64_t minislots;

	if (s->max_burst != 0)
		grant = lesser(grant, s->max_burst - s->header_bytes);
	minislots = c->set.burst_minislots + minislots_for(c, grant + s->header_bytes);
	return s->reserved * minislots * (16384 / 8) / (UINT64_C(3125) * grant) + 1;
}

/* Spreads a reserved rate over the channels of the first cluster, in proportion to their free
 * capacity. */
static const char *admit_reserved(const struct maps *m, const struct maps_flow *s, uint32_t *plan) {
	uint64_t times = 0; /* how often the rate fits, in 1/65536 */

	for (size_t i = 0; i < s->clusters[0].count; i++) {
		uint16_t at = s->clusters[0].sids[i].channel;
		const struct channel *c = &m->channels[at];

		times += (uint64_t)(free_of(c) - lesser(free_of(c), plan[at])) * 65536 /
			 rate_units(c, s);
	}
	if (times < 65536)
		return "a reserved rate is more than the channels of the flow have left";
	for (size_t i = 0; i < s->clusters[0].count; i++) {
		uint16_t at = s->clusters[0].sids[i].channel;
		uint64_t left =
			free_of(&m->channels[at]) - lesser(free_of(&m->channels[at]), plan[at]);

		plan[at] += (uint32_t)(left * 65536 / times);
	}
	return NULL;
}

const char *admit(const struct maps *m, const struct maps_flow *s, uint32_t plan[MAPS_MAX_CHANNELS],
		  uint8_t *channel) {
	const char *why = NULL;

	memset(plan, 0, MAPS_MAX_CHANNELS * sizeof(*plan));
	*channel = (uint8_t)s->clusters[0].sids[0].channel;
	if (s->type != MAPS_BEST_EFFORT)
		why = admit_service(m, s, plan, channel);
	if (why == NULL && s->reserved != 0)
		why = admit_reserved(m, s, plan);
	return why;
}

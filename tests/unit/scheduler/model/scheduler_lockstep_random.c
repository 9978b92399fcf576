/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws random configurations, packets and times. */
#include "scheduler_lockstep.h"

#include "test.h"

#define MBPS UINT64_C(1000000)

struct random lockstep_random(uint64_t seed) {
	uint64_t z = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return (struct random){z | 1};
}

static bool one_in(struct random *r, uint32_t n) {
	return random_below(r, n) == 0;
}

/* A rate from `low` on, up to that many doublings, or rarely a limit. */
uint64_t lockstep_random_rate(struct random *r, uint64_t low, unsigned doublings) {
	uint64_t base = low << random_below(r, doublings);

	if (one_in(r, 40))
		return one_in(r, 2) ? SCHEDULER_RATE_MIN : SCHEDULER_RATE_MAX;
	return base + (uint64_t)random_next(r) * base / UINT32_MAX;
}

static void random_depi(struct random *r, struct scheduler_depi *d) {
	*d = (struct scheduler_depi){
		.frame_bytes = (uint16_t)random_between(r, 18, 90),
		.entry_bytes = (uint16_t)random_between(r, 0, 6),
		.min_fragment = (uint16_t)random_between(r, 1, 40),
		.max_segments = (uint16_t)random_between(r, 1, 40),
		.flush_ns = random_between(r, 1, 200000),
	};
	d->capacity = (uint16_t)random_between(r, one_in(r, 4) ? 100 : 1300, 9000);
}

void lockstep_random_channel(struct random *r, unsigned features, struct scheduler_channel *c) {
	*c = (struct scheduler_channel){.rate = lockstep_random_rate(r, MBPS, 14)};
	if (one_in(r, 3))
		c->rate = one_in(r, 2) ? 1890 * MBPS : 42240000;
	if (features & LOCKSTEP_DEPI && !one_in(r, 3))
		random_depi(r, &c->depi);
}

void lockstep_random_group(struct lockstep_config *c, struct random *r, uint32_t group) {
	size_t channels = c->config.channel_count;
	uint32_t *list = c->lists[group];

	for (uint32_t i = 0; i < channels; i++) {
		uint32_t k = random_between(r, 0, i);

		list[i] = list[k];
		list[k] = i;
	}
	c->groups[group].channels = list;
	c->groups[group].channel_count = random_between(r, 1, (uint32_t)channels);
}

uint64_t lockstep_random_peak(struct random *r, uint64_t sustained) {
	uint64_t peak = sustained + lockstep_random_rate(r, 100000, 16);

	return peak < SCHEDULER_RATE_MAX ? peak : SCHEDULER_RATE_MAX;
}

static void random_rates(struct lockstep_config *c, struct random *r, struct scheduler_flow *f) {
	f->sustained.rate = lockstep_random_rate(r, 100000, 16);
	f->sustained.burst = random_between(r, c->longest - (one_in(r, 8) ? 300 : 0), 60000);
	if (one_in(r, 20))
		f->sustained.burst = one_in(r, 2) ? UINT32_MAX : UINT64_MAX;
	if (one_in(r, 2))
		f->peak = lockstep_random_peak(r, f->sustained.rate);
}

void lockstep_random_flow(struct lockstep_config *c, struct random *r, unsigned features,
			  struct scheduler_flow *f) {
	*f = (struct scheduler_flow){
		.group = random_below(r, (uint32_t)c->config.group_count),
		.modem = random_below(r, (uint32_t)c->config.modem_count),
		.priority = (uint8_t)random_below(r, one_in(r, 3) ? 8 : 2),
		.weight = (uint8_t)(one_in(r, 3) ? random_between(r, 2, 12) : 1),
		.header_bytes = (uint16_t)random_between(r, 6, 20),
	};
	f->min_buffer = random_between(r, 0, 4000);
	f->buffer = f->min_buffer + random_between(r, 1, 40000);
	f->max_buffer = f->buffer + random_between(r, 0, 40000);
	if (features & LOCKSTEP_RATES && one_in(r, 2))
		random_rates(c, r, f);
	if (features & LOCKSTEP_RESERVED && one_in(r, 3)) {
		f->reserved = lockstep_random_rate(r, 50000, 12);
		if (f->sustained.rate > 0 && f->reserved > f->sustained.rate)
			f->reserved = f->sustained.rate;
		f->reserved_packet = (uint16_t)random_between(r, 64, 1000);
	}
}

void lockstep_random_config(struct lockstep_config *c, struct random *r, unsigned features) {
	memset(c, 0, sizeof(*c));
	c->longest = features & LOCKSTEP_LONG && one_in(r, 4) ? SCHEDULER_PACKET_MAX + 100 : 2000;
	c->config = (struct scheduler_config){
		.channels = c->channels,
		.channel_count = random_between(r, 1, MODEL_CHANNELS),
		.groups = c->groups,
		.group_count = random_between(r, 1, MODEL_GROUPS),
		.modems = c->modems,
		.modem_count = random_between(r, 1, MODEL_MODEMS),
		.flows = c->flows,
		.flow_count = random_between(r, 1, MODEL_FLOWS),
		.packet_limit = random_between(r, 8, MODEL_QUEUED),
		.first_number = (uint16_t)(UINT16_MAX - random_below(r, 200)),
		.seed = random_next(r),
	};
	for (size_t i = 0; i < c->config.channel_count; i++)
		lockstep_random_channel(r, features, &c->channels[i]);
	for (uint32_t i = 0; i < c->config.group_count; i++)
		lockstep_random_group(c, r, i);
	for (size_t i = 0; i < c->config.modem_count; i++) {
		struct scheduler_limit *l = &c->modems[i].aggregate;

		if (!(features & LOCKSTEP_AGGREGATE) || one_in(r, 2))
			continue;
		l->rate = lockstep_random_rate(r, MBPS, 12);
		l->burst = random_between(r, c->longest, 80000);
	}
	for (size_t i = 0; i < c->config.flow_count; i++)
		lockstep_random_flow(c, r, features, &c->flows[i]);
	if (features & LOCKSTEP_LIMIT && one_in(r, 3))
		c->config.rate_limit = lockstep_random_rate(r, 10 * MBPS, 11);
}

uint32_t lockstep_random_bytes(const struct lockstep_config *c, struct random *r) {
	switch (random_below(r, 4)) {
	case 0: return 64;
	case 1: return c->longest > 2000 ? c->longest - random_below(r, 200) : 1518;
	default: return random_between(r, 1, c->longest);
	}
}

uint64_t lockstep_random_time(struct lockstep *l) {
	struct random *r = &l->r;
	uint64_t next = scheduler_next(l->s);

	switch (random_below(r, 10)) {
	case 0: return l->now + random_below(r, 2000000); /* beyond the lead */
	case 1: return l->now;
	case 2: return l->now - random_below(r, l->now < 100000 ? (uint32_t)l->now + 1 : 100000);
	case 3:
	case 4: return next == UINT64_MAX ? l->now : next;
	case 5:
		if (random_below(r, 20) == 0)
			return l->now + ((uint64_t)random_next(r) << random_below(r, 10));
		if (random_below(r, 60) == 0) /* counts as an hour */
			return l->now + MODEL_LONGEST_JUMP + ((uint64_t)random_next(r) << 22);
		return l->now + 1;
	default: return l->now + random_between(r, 1, 50000);
	}
}

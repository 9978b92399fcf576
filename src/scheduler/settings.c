/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/settings.h"

#define LATENCY_MIN 1000000
#define LATENCY_MAX 256000000

const char *settings_rate(uint64_t rate) {
	if (rate == 0 || (rate >= SCHEDULER_RATE_MIN && rate <= SCHEDULER_RATE_MAX))
		return NULL;
	return "a rate is below 1 kbps or above 1 Tbps";
}

static const char *settings_limit(const struct scheduler_limit *l) {
	if (l->rate != 0 && l->burst == 0)
		return "a rate has a burst of 0 bytes";
	return settings_rate(l->rate);
}

const char *settings_channel(const struct scheduler_channel *c) {
	const struct scheduler_depi *d = &c->depi;

	if (d->capacity != 0 && d->frame_bytes > 1024)
		return "a DEPI frame has more than 1,024 bytes beside its segments";
	if (d->capacity != 0 && (d->max_segments == 0 || d->min_fragment == 0 ||
				 d->capacity <= 2 * d->entry_bytes + d->min_fragment))
		return "a DEPI frame has no space for a segment";
	return settings_rate(c->rate);
}

const char *settings_group(const struct scheduler_group *g, size_t channels) {
	uint64_t seen[SCHEDULER_MAX_CHANNELS / 64] = {0};

	for (size_t i = 0; i < g->channel_count; i++) {
		uint32_t c = g->channels[i];

		if (c >= channels)
			return "a bonding group names an unknown channel";
		if ((seen[c / 64] >> c % 64 & 1) != 0)
			return "a bonding group names a channel twice";
		seen[c / 64] |= UINT64_C(1) << c % 64;
	}
	return NULL;
}

const char *settings_modem(const struct scheduler_modem *m) {
	return settings_limit(&m->aggregate);
}

static const char *settings_flow_aqm(const struct scheduler_flow *f) {
	const struct scheduler_wred *w = &f->wred;

	switch (f->aqm) {
	case SCHEDULER_TAIL_DROP: return NULL;
	case SCHEDULER_WRED:
		if (w->min_threshold >= w->max_threshold)
			return "WRED: min_threshold is not below max_threshold";
		if (w->max_probability == 0 || w->max_probability > 65536)
			return "WRED: max_probability is not 1 to 65536";
		return w->weight == 0 || w->weight > 15 ? "WRED: weight is not 1 to 15" : NULL;
	case SCHEDULER_DOCSIS_PIE:
		if (f->latency_target < LATENCY_MIN || f->latency_target > LATENCY_MAX)
			return "DOCSIS-PIE: latency target is not 1 ms to 256 ms";
		return NULL;
	}
	return "an unknown congestion control";
}

static const char *settings_flow_rates(const struct scheduler_flow *f) {
	const char *why = settings_limit(&f->sustained);

	if (why == NULL)
		why = settings_rate(f->peak);
	if (why == NULL)
		why = settings_rate(f->reserved);
	if (why != NULL)
		return why;
	if (f->peak != 0 && f->peak < f->sustained.rate)
		return "a peak rate is below the sustained rate";
	if (f->sustained.rate != 0 && f->reserved > f->sustained.rate)
		return "a reserved rate is above the sustained rate";
	return NULL;
}

const char *settings_flow(const struct scheduler_flow *f, size_t groups, size_t modems) {
	const char *why;

	if (f->group == SCHEDULER_NONE)
		return NULL;
	if (f->group >= groups)
		return "a flow names an unknown bonding group";
	if (f->modem >= modems)
		return "a flow names an unknown modem";
	if (f->priority >= SCHEDULER_PRIORITIES)
		return "a traffic priority is above 7";
	if (f->weight == 0)
		return "a weight is 0";
	if (f->header_bytes > UINT8_MAX)
		return "a DOCSIS header is longer than 255 bytes";
	if (f->min_buffer > f->buffer || f->buffer > f->max_buffer)
		return "buffers are not min <= target <= max";
	why = settings_flow_rates(f);
	return why != NULL ? why : settings_flow_aqm(f);
}

static const char *settings_counts(const struct scheduler_config *c) {
	if (c->channel_count == 0 || c->channel_count > SCHEDULER_MAX_CHANNELS)
		return "there are not 1 to 256 channels";
	if (c->packet_limit == 0 || c->packet_limit == UINT32_MAX)
		return "packet_limit is none";
	if (c->flow_count == 0 || c->group_count == 0 || c->modem_count == 0)
		return "there is no flow, group or modem";
	if (c->flow_count > UINT32_MAX / 4 || c->group_count > MAX_GROUPS ||
	    c->modem_count > UINT32_MAX / 4)
		return "there are too many flows, groups or modems";
	return settings_rate(c->rate_limit);
}

/* Checks that referenced groups and channels exist. */
static const char *settings_references(const struct scheduler_config *c) {
	for (size_t i = 0; i < c->group_count; i++) {
		for (size_t k = 0; k < c->groups[i].channel_count; k++) {
			if (c->channels[c->groups[i].channels[k]].rate == 0)
				return "a bonding group has a channel without a rate";
		}
	}
	for (size_t i = 0; i < c->flow_count; i++) {
		uint32_t group = c->flows[i].group;

		if (group != SCHEDULER_NONE && c->groups[group].channel_count == 0)
			return "a flow has a bonding group without a channel";
	}
	return NULL;
}

const char *settings_all(const struct scheduler_config *c) {
	const char *why = settings_counts(c);

	for (size_t i = 0; why == NULL && i < c->channel_count; i++)
		why = settings_channel(&c->channels[i]);
	for (size_t i = 0; why == NULL && i < c->group_count; i++)
		why = settings_group(&c->groups[i], c->channel_count);
	for (size_t i = 0; why == NULL && i < c->modem_count; i++)
		why = settings_modem(&c->modems[i]);
	for (size_t i = 0; why == NULL && i < c->flow_count; i++)
		why = settings_flow(&c->flows[i], c->group_count, c->modem_count);
	return why != NULL ? why : settings_references(c);
}

int64_t settings_rescale(int64_t ticks, uint64_t old_cost, uint64_t new_cost) {
	__int128 scaled = old_cost == 0 ? 0 : (__int128)ticks * new_cost / old_cost;

	return scaled < TICKS_MAX / 2 ? (int64_t)scaled : TICKS_MAX / 2;
}

void settings_bucket(struct bucket *b, uint64_t rate, uint64_t burst, int64_t now) {
	const struct bucket old = *b;
	unsigned __int128 depth;
	int64_t tokens;

	b->cost = byte_cost(rate);
	depth = (unsigned __int128)b->cost * burst >> 16;
	b->depth = depth < TICKS_MAX / 2 ? (int64_t)depth : TICKS_MAX / 2;
	tokens = b->depth;
	if (old.cost != 0) /* same bytes, converted to ticks of the new rate */
		tokens = less(tokens, settings_rescale(old.depth - more(old.full_at - now, 0),
						       old.cost, b->cost));
	b->full_at = now + b->depth - tokens;
}

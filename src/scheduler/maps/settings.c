/* SPDX-License-Identifier: BSD-3-Clause */
/* Validates settings, and derives values of a channel. */
#include <string.h>

#include "scheduler/maps/internal.h"

#define FRAME_MIN 128 /* samples */
#define MINISLOT_MIN 16
#define FRAME_MAX (MAPS_HZ / 10)
#define LENGTH_MAX (MAPS_HZ / 10) /* per MAP */
#define LEAD_MAX MAPS_HZ
#define BACKOFF_MAX 15
#define INTERVAL_MIN 1280 /* samples between grants or polls */

/* a / b, rounded up. */
static uint32_t up(uint32_t a, uint32_t b) {
	return a / b + (a % b != 0);
}

/* The number of whole frames nearest to the interval. */
static uint32_t frames_of(const struct maps_channel *s) {
	uint64_t frames = ((uint64_t)s->interval + s->frame / 2) / s->frame;

	return frames == 0 ? 1 : (uint32_t)frames;
}

static uint32_t minislots_max(const struct maps_channel *s) {
	return s->kind == MAPS_OFDMA ? MAP_MINISLOTS_5 : MAP_MINISLOTS_1;
}

/* Derives what the layout of each MAP needs, so that it does not divide. */
static void layout_set(struct channel *c, const struct maps_channel *s) {
	uint32_t late = s->ack_delay % c->length;
	uint32_t frame = late == 0 ? c->frames : (c->length - late) / s->frame;
	uint32_t share = lesser(c->minislots / 8, c->minislots - c->set.initial_minislots);

	c->early = up(s->ack_delay, s->frame);
	c->cutoff = frame * s->frame_minislots;
	c->opportunities_max = share / s->request_minislots;
}

void maps_channel_set(struct channel *c, const struct maps_channel *s) {
	uint64_t requests, initial;
	uint32_t capacity;

	c->set = *s;
	if (s->initial_interval == 0)
		c->set.initial_minislots = 0;
	c->frames = frames_of(s);
	c->minislots = c->frames * s->frame_minislots;
	c->elements = s->kind == MAPS_OFDMA ? MAP_ELEMENTS_5 : MAP_ELEMENTS_1;
	c->length = c->frames * s->frame;
	c->min = s->burst_minislots + up(MIN_GRANT, s->minislot_bytes);
	c->max = s->max_burst_minislots == 0 ? c->minislots : s->max_burst_minislots;
	c->reciprocal = (UINT64_C(1) << 40) / s->minislot_bytes + 1;
	c->split = c->min + 1 > s->request_minislots ? c->min + 1 : s->request_minislots;
	c->requests_min = (uint32_t)s->request_opportunities * s->request_minislots;
	capacity = (uint32_t)((uint64_t)s->frame_minislots * COMMIT_UNIT / s->frame);
	requests = ((uint64_t)c->requests_min * COMMIT_UNIT + c->length - 1) / c->length;
	initial =
		s->initial_interval == 0
			? 0
			: ((uint64_t)s->initial_minislots * COMMIT_UNIT) / s->initial_interval + 1;
	c->limit = requests + initial < capacity ? capacity - (uint32_t)(requests + initial) : 0;
	layout_set(c, s);
}

static const char *check_physical(const struct maps_channel *s) {
	if (s->kind != MAPS_SC_QAM && s->kind != MAPS_OFDMA)
		return "a channel is SC-QAM or OFDMA";
	if (s->frame < FRAME_MIN || s->frame > FRAME_MAX)
		return "a frame takes 128 samples to 0.1 s";
	if (s->frame_minislots == 0 || (s->kind == MAPS_SC_QAM && s->frame_minislots != 1))
		return "a frame has minislots; with SC-QAM it is one";
	if (s->frame / s->frame_minislots < MINISLOT_MIN)
		return "a frame has at most a minislot in 16 samples";
	if (s->minislot_bytes == 0)
		return "a minislot has bytes";
	return NULL;
}

static const char *check_map(const struct maps_channel *s) {
	if (s->interval > LENGTH_MAX || (uint64_t)frames_of(s) * s->frame > LENGTH_MAX)
		return "a MAP describes at most 0.1 s";
	if ((uint64_t)frames_of(s) * s->frame_minislots > minislots_max(s))
		return "a MAP describes more minislots than its format has";
	if ((uint64_t)frames_of(s) * s->frame_minislots * s->minislot_bytes > MAP_BYTES_MAX)
		return "a MAP describes more than 8 MiB";
	if (s->lead > LEAD_MAX || s->ack_delay > LEAD_MAX || s->slack > s->lead)
		return "lead and ack delay are at most 1 s, and the slack is part of the lead";
	return NULL;
}

static const char *check_regions(const struct maps_channel *s) {
	uint64_t minislots = (uint64_t)frames_of(s) * s->frame_minislots;
	uint64_t requests = (uint64_t)s->request_opportunities * s->request_minislots;
	uint32_t initial = s->initial_interval == 0 ? 0 : s->initial_minislots;
	uint32_t ranging = initial > s->station_minislots ? initial : s->station_minislots;
	uint32_t grant = s->burst_minislots + up(MIN_GRANT, s->minislot_bytes);

	if (s->request_minislots == 0 || s->request_opportunities == 0)
		return "there is at least one request opportunity, of at least one minislot";
	if (s->initial_interval > MAPS_INITIAL_MAX)
		return "initial maintenance comes at least each 2 s";
	if (s->initial_interval != 0 && s->initial_minislots == 0)
		return "initial maintenance takes minislots";
	if (s->max_burst_minislots != 0 && s->max_burst_minislots < grant)
		return "the longest burst has no space for 128 bytes";
	if (requests + ranging + grant > minislots)
		return "a MAP is too short for requests, ranging and a grant";
	if (s->ranging_start > s->ranging_end || s->ranging_end > BACKOFF_MAX)
		return "back-off windows of ranging are 0..15, start before end";
	if (s->data_start > s->data_end || s->data_end > BACKOFF_MAX)
		return "back-off windows of data are 0..15, start before end";
	return NULL;
}

static const char *check_channels(const struct maps_config *config) {
	for (size_t i = 0; i < config->channel_count; i++) {
		const struct maps_channel *s = &config->channels[i];
		const char *why = check_physical(s);

		why = why != NULL ? why : check_map(s);
		why = why != NULL ? why : check_regions(s);
		if (why != NULL)
			return why;
		if (s->data_iuc > MAP_EXPANDED || s->short_iuc > MAP_EXPANDED || s->data_iuc == 0 ||
		    s->data_iuc == MAP_NULL || s->short_iuc == MAP_NULL)
			return "an interval usage code is 1..15 and not 7";
		for (size_t j = 0; j < i; j++)
			if (config->channels[j].id == s->id)
				return "two channels have the same ID";
	}
	return NULL;
}

const char *check_config(const struct maps_config *config) {
	if (config->channels == NULL || config->channel_count == 0 ||
	    config->channel_count > MAPS_MAX_CHANNELS)
		return "there are 1 to 64 channels";
	if (config->flows == 0 || config->flows > 1u << 24)
		return "there is capacity for 1 to 2^24 flows";
	if (config->flow_bytes > MAPS_BURST_MAX)
		return "a flow can be owed at most 1 GiB";
	if (config->start >= TIME_END / 2)
		return "the start is a time below 2^61";
	return check_channels(config);
}

static const char *check_rates(const struct maps_flow *s) {
	if (s->priority >= MAPS_PRIORITIES)
		return "a priority is 0..7";
	if (s->sustained > MAPS_RATE_MAX || s->peak > MAPS_RATE_MAX ||
	    s->reserved > MAPS_RATE_MAX || s->guaranteed_rate > MAPS_RATE_MAX)
		return "a rate is at most 100 Gbps";
	if (s->peak != 0 && s->peak < s->sustained)
		return "the peak rate is at least the sustained rate";
	if (s->reserved != 0 && s->sustained != 0 && s->reserved > s->sustained)
		return "the reserved rate is at most the sustained rate";
	if (s->sustained_burst > MAPS_BURST_MAX)
		return "a burst is at most 1 GiB";
	if (s->header_bytes > MAPS_HEADER_MAX)
		return "a header before data has at most 64 bytes";
	if (s->max_burst != 0 && s->max_burst < MIN_GRANT)
		return "the longest grant has at least 128 bytes";
	return NULL;
}

static const char *check_polls(const struct maps_flow *s) {
	bool polled = s->type == MAPS_NON_REAL_TIME_POLLING || s->type == MAPS_REAL_TIME_POLLING ||
		      s->type == MAPS_UNSOLICITED_ACTIVITY;

	if (polled && s->poll_interval < INTERVAL_MIN)
		return "polls are at least 6.25 us apart";
	return NULL;
}

static const char *check_proactive(const struct maps_flow *s) {
	if (s->grant_interval < INTERVAL_MIN)
		return "unsolicited grants are at least 6.25 us apart";
	if (s->guaranteed_rate == 0)
		return "proactive grants have a guaranteed rate";
	if (s->grant_interval > MAPS_PROACTIVE_MAX)
		return "proactive grants are at most 0.1 s apart";
	return NULL;
}

static const char *check_unsolicited(const struct maps_flow *s) {
	uint32_t max = s->max_burst == 0 ? MAP_BYTES_MAX : lesser(s->max_burst, MAP_BYTES_MAX);

	if (s->grant_interval < INTERVAL_MIN)
		return "unsolicited grants are at least 6.25 us apart";
	if (s->grant_bytes == 0 || s->grants == 0)
		return "unsolicited grants have bytes, and are at least one in an interval";
	if (s->grant_bytes > max || s->grant_bytes + s->header_bytes > max)
		return "an unsolicited grant is longer than the longest grant";
	return NULL;
}

static const char *check_times(const struct maps_flow *s) {
	const char *why = check_polls(s);

	if (why != NULL)
		return why;
	if (s->type == MAPS_PROACTIVE)
		return check_proactive(s);
	if (s->type == MAPS_UNSOLICITED || s->type == MAPS_UNSOLICITED_ACTIVITY)
		return check_unsolicited(s);
	return NULL;
}

static const char *check_cluster(const struct maps *m, const struct maps_cluster *cluster) {
	uint64_t seen = 0;

	if (cluster->count == 0 || cluster->sids == NULL)
		return "a SID cluster has a SID";
	for (size_t i = 0; i < cluster->count; i++) {
		const struct maps_sid *s = &cluster->sids[i];

		if (s->channel >= m->channel_count)
			return "a SID's channel does not exist";
		if (has_bit(seen, s->channel))
			return "a SID cluster has a channel twice";
		if (s->sid == MAPS_SID_UNUSED || s->sid >= MAP_SID_BROADCAST)
			return "a SID is 1..0x3ffe";
		seen |= UINT64_C(1) << s->channel;
	}
	return NULL;
}

const char *check_flow(const struct maps *m, const struct maps_flow *s) {
	const char *why = NULL;

	if ((unsigned)s->type > MAPS_PROACTIVE)
		return "there is no such scheduling type";
	if (s->cluster_count > MAPS_MAX_CLUSTERS || s->clusters == NULL)
		return "a flow has at most 8 SID clusters";
	for (size_t i = 0; i < s->cluster_count && why == NULL; i++)
		why = check_cluster(m, &s->clusters[i]);
	if (why == NULL)
		why = check_rates(s);
	return why != NULL ? why : check_times(s);
}

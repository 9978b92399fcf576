/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels and flows for tests of the upstream scheduler, and what holds of every MAP. */
#pragma once

#include "test.h"

#include "scheduler/maps/maps.h"

#define US(n) ((uint64_t)(n) * 2048 / 10) /* microseconds in samples */
#define MS(n) ((uint64_t)(n) * 204800)
#define KIT_CHANNELS 8
#define KIT_SIDS (MAP_SID_BROADCAST + 1)

struct kit {
	struct maps *m;
	struct maps_channel channels[KIT_CHANNELS];
	uint32_t count;
	uint64_t now;
	/* Of each channel: where the latest MAP ended, and its minislots by SID. */
	uint64_t ends[KIT_CHANNELS];
	bool begun[KIT_CHANNELS];
	uint64_t granted[KIT_CHANNELS][KIT_SIDS]; /* minislots of data */
	uint64_t pendings[KIT_CHANNELS][KIT_SIDS];
	struct maps_counts seen; /* in the MAPs: what can be counted there */
};

/* An OFDMA channel of 235 minislots of 48 bytes in a frame of 135 us; MAPs of 15 frames. */
static inline struct maps_channel kit_ofdma(uint8_t id) {
	return (struct maps_channel){
		.kind = MAPS_OFDMA,
		.id = id,
		.ucd_count = 3,
		.data_iuc = MAP_PROFILE_13,
		.frame = 27648,
		.frame_minislots = 235,
		.minislot_bytes = 48,
		.interval = 15 * 27648,
		.lead = MS(1),
		.ack_delay = MS(2),
		.request_minislots = 1,
		.request_opportunities = 8,
		.data_start = 2,
		.data_end = 10,
	};
}

/* A SC-QAM channel of 5.12 Msym/s and 64-QAM: minislots of 6.25 us and 24 bytes, MAPs of 2 ms. */
static inline struct maps_channel kit_sc_qam(uint8_t id) {
	return (struct maps_channel){
		.kind = MAPS_SC_QAM,
		.id = id,
		.ucd_count = 5,
		.data_iuc = MAP_ADVANCED_LONG,
		.short_iuc = MAP_ADVANCED_SHORT,
		.short_minislots = 8,
		.frame = 1280,
		.frame_minislots = 1,
		.minislot_bytes = 24,
		.burst_minislots = 2,
		.interval = MS(2),
		.lead = MS(1),
		.ack_delay = MS(2),
		.request_minislots = 2,
		.request_opportunities = 4,
		.data_start = 3,
		.data_end = 8,
	};
}

static inline void kit_create(struct kit *r, const struct maps_channel *channels, uint32_t count,
			      uint32_t flows) {
	const char *why = NULL;

	memset(r, 0, sizeof(*r));
	memcpy(r->channels, channels, count * sizeof(*channels));
	r->count = count;
	r->m = maps_create(
		&(struct maps_config){.channels = channels, .channel_count = count, .flows = flows},
		&why);
	assert_null(why);
	assert_non_null(r->m);
}

static inline void kit_free(struct kit *r) {
	maps_free(r->m);
	r->m = NULL;
}

/* Sets a flow on the channels of `mask`, with SID flow + 1 on each. Returns what maps_set_flow() does. */
static inline const char *kit_flow(struct kit *r, uint32_t flow, uint32_t mask,
				   struct maps_flow settings) {
	struct maps_sid sids[KIT_CHANNELS];
	struct maps_cluster cluster = {.sids = sids};

	for (uint32_t i = 0; i < r->count; i++)
		if (mask >> i & 1)
			sids[cluster.count++] =
				(struct maps_sid){(uint16_t)i, (uint16_t)(flow + 1)};
	settings.clusters = &cluster;
	settings.cluster_count = mask == 0 ? 0 : 1;
	return maps_set_flow(r->m, flow, &settings, r->now);
}

static inline enum maps_verdict kit_ask(struct kit *r, uint32_t flow, uint32_t bytes) {
	return maps_request(r->m, &(struct maps_request){.flow = flow, .bytes = bytes}, r->now);
}

static inline void count_request(struct kit *r, uint32_t channel, uint16_t sid,
				 uint32_t minislots) {
	const uint32_t unit = r->channels[channel].request_minislots;

	if (sid == MAPS_SID_UNUSED) {
		assert_true(minislots < unit);
		return;
	}
	r->seen.request_minislots += minislots / unit * unit;
	if (sid == MAP_SID_BROADCAST)
		return;
	assert_int_equal(minislots, unit);
	r->seen.polls++;
}

static inline void count_element(struct kit *r, uint32_t channel, const struct map_element *e,
				 uint32_t minislots) {
	if (e->iuc == MAP_INITIAL) {
		r->seen.initial_minislots += minislots;
	} else if (e->iuc == MAP_STATION) {
		r->seen.station_minislots += minislots;
	} else if (e->iuc == MAP_REQUEST) {
		count_request(r, channel, e->sid, minislots);
	} else {
		assert_true(e->iuc == r->channels[channel].data_iuc ||
			    e->iuc == r->channels[channel].short_iuc);
		r->granted[channel][e->sid] += minislots;
		r->seen.data_minislots += minislots;
		r->seen.grants++;
	}
}

/* Minislots that are described are new ones, in 64 bits of them. */
static inline void check_span(struct kit *r, uint32_t channel, const struct map *map,
			      uint32_t minislots) {
	uint64_t end = r->ends[channel];
	uint32_t gap = map->alloc_start - (uint32_t)end;

	assert_true(!r->begun[channel] || gap < UINT32_MAX / 2);
	r->begun[channel] = true;
	r->ends[channel] = end + gap + minislots;
	assert_true((int32_t)(map->alloc_start - map->ack_time) >= 0);
}

/* Fails where a MAP breaks a rule of its format, or describes minislots again. */
static inline void kit_check_map(struct kit *r, uint32_t channel, const struct map *map) {
	const struct maps_channel *c = &r->channels[channel];
	uint32_t null = 0;

	assert_int_equal(map->version, c->kind == MAPS_OFDMA ? 5 : 1);
	assert_int_equal(map->channel, c->id);
	assert_true(map->count <= (c->kind == MAPS_OFDMA ? MAP_ELEMENTS_5 : MAP_ELEMENTS_1));
	while (null < map->count && map->elements[null].iuc != MAP_NULL)
		null++;
	assert_true(null < map->count);
	assert_int_equal(map->elements[null].sid, 0);
	assert_true(map->elements[null].offset <=
		    (c->kind == MAPS_OFDMA ? MAP_MINISLOTS_5 : MAP_MINISLOTS_1));
	assert_true(null == 0 || map->elements[0].offset == 0);
	for (uint32_t i = 0; i < null; i++) {
		assert_true(map->elements[i + 1].offset > map->elements[i].offset);
		count_element(r, channel, &map->elements[i],
			      map->elements[i + 1].offset - map->elements[i].offset);
	}
	for (uint32_t i = null + 1; i < map->count; i++) {
		assert_int_equal(map->elements[i].offset, map->elements[null].offset);
		assert_int_equal(map->elements[i].iuc, c->data_iuc);
		r->pendings[channel][map->elements[i].sid]++;
		r->seen.pendings++;
	}
	check_span(r, channel, map, map->elements[null].offset);
	r->seen.maps++;
	r->seen.minislots += map->elements[null].offset;
}

/* Makes all MAPs that are due until then, each checked. */
static inline void kit_run(struct kit *r, uint64_t until) {
	static struct map map;
	uint32_t channel;

	while (maps_due(r->m) <= until) {
		if (maps_due(r->m) > r->now)
			r->now = maps_due(r->m);
		while ((channel = maps_make(r->m, r->now, &map)) != MAPS_NONE)
			kit_check_map(r, channel, &map);
	}
	if (until > r->now)
		r->now = until;
}

/* So many channels that differ by their ID alone, and MAPs of 10 ms. */
static inline void kit_create_alike(struct kit *r, struct maps_channel channel, uint32_t count,
				    uint32_t flows) {
	struct maps_channel channels[KIT_CHANNELS];

	for (uint32_t i = 0; i < count; i++) {
		channels[i] = channel;
		channels[i].id = (uint8_t)(i + 1);
	}
	kit_create(r, channels, count, flows);
	kit_run(r, MS(10));
}

/* The next round of MAPs, and no more. */
static inline void kit_next(struct kit *r) {
	kit_run(r, maps_due(r->m));
}

/* All minislots of data that the SID flow + 1 was granted, on all channels. */
static inline uint64_t kit_granted(const struct kit *r, uint32_t flow) {
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->count; i++)
		sum += r->granted[i][flow + 1];
	return sum;
}

static inline struct maps_counts kit_counts(const struct kit *r) {
	struct maps_counts n;

	maps_counts(r->m, MAPS_NONE, &n);
	return n;
}

/* owed = asked - granted on request - forgotten; and what was counted is what was seen in the MAPs. */
static inline void kit_check_counts(const struct kit *r) {
	struct maps_counts n = kit_counts(r);

	assert_int_equal(n.owed_bytes, n.asked_bytes - (n.granted_bytes - n.unsolicited_bytes) -
					       n.forgotten_bytes);
	assert_int_equal(n.maps, r->seen.maps);
	assert_int_equal(n.minislots, r->seen.minislots);
	assert_int_equal(n.data_minislots, r->seen.data_minislots);
	assert_int_equal(n.request_minislots, r->seen.request_minislots);
	assert_int_equal(n.initial_minislots, r->seen.initial_minislots);
	assert_int_equal(n.station_minislots, r->seen.station_minislots);
	assert_int_equal(n.grants, r->seen.grants);
	assert_int_equal(n.polls, r->seen.polls);
	assert_int_equal(n.pendings, r->seen.pendings);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A kit for tests of the upstream scheduler: creates channels and flows, and checks each MAP. */
#pragma once

#include "test.h"

#include "scheduler/maps/maps.h"

#define US(n) ((uint64_t)(n) * 2048 / 10) /* microseconds in samples */
#define MS(n) ((uint64_t)(n) * 204800) /* milliseconds */
#define KIT_CHANNELS 10
#define KIT_SIDS (MAP_SID_BROADCAST + 1)

struct kit {
	struct maps *m;
	struct maps_channel channels[KIT_CHANNELS];
	uint32_t count;
	uint64_t now; /* samples, as all times */
	/* Per channel: where the latest MAP ended; minislots and pending grants by SID. */
	uint64_t ends[KIT_CHANNELS];
	bool started[KIT_CHANNELS];
	uint64_t granted[KIT_CHANNELS][KIT_SIDS]; /* data minislots */
	uint64_t pendings[KIT_CHANNELS][KIT_SIDS];
	struct maps_counts counted; /* counted in the MAPs */
};

/* An OFDMA channel: 235 minislots of 48 bytes per frame of 135 us, MAPs of 15 frames. */
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

/* An SC-QAM channel of 5.12 Msym/s and 64-QAM: minislots of 6.25 us and 24 bytes, MAPs of 2 ms. */
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

static inline void kit_create(struct kit *k, const struct maps_channel *channels, uint32_t count,
			      uint32_t flows) {
	const char *why = NULL;

	memset(k, 0, sizeof(*k));
	memcpy(k->channels, channels, count * sizeof(*channels));
	k->count = count;
	k->m = maps_create(
		&(struct maps_config){.channels = channels, .channel_count = count, .flows = flows},
		&why);
	assert_null(why);
	assert_non_null(k->m);
}

static inline void kit_free(struct kit *k) {
	maps_free(k->m);
	k->m = NULL;
}

/* Sets a flow on the channels of `mask`, with SID flow + 1. Returns a refusal, or NULL. */
static inline const char *kit_set_flow(struct kit *k, uint32_t flow, uint32_t mask,
				       struct maps_flow settings) {
	struct maps_sid sids[KIT_CHANNELS];
	struct maps_cluster cluster = {.sids = sids};

	for (uint32_t i = 0; i < k->count; i++)
		if (mask >> i & 1)
			sids[cluster.count++] =
				(struct maps_sid){(uint16_t)i, (uint16_t)(flow + 1)};
	settings.clusters = &cluster;
	settings.cluster_count = mask == 0 ? 0 : 1;
	return maps_set_flow(k->m, flow, &settings, k->now);
}

static inline enum maps_verdict kit_request(struct kit *k, uint32_t flow, uint32_t bytes) {
	return maps_request(k->m, &(struct maps_request){.flow = flow, .bytes = bytes}, k->now);
}

static inline void count_request(struct kit *k, uint32_t channel, uint16_t sid,
				 uint32_t minislots) {
	const uint32_t unit = k->channels[channel].request_minislots;

	if (sid == MAPS_SID_UNUSED) {
		assert_true(minislots < unit);
		return;
	}
	k->counted.request_minislots += minislots / unit * unit;
	if (sid == MAP_SID_BROADCAST)
		return;
	assert_int_equal(minislots, unit);
	k->counted.polls++;
}

static inline void count_element(struct kit *k, uint32_t channel, const struct map_element *e,
				 uint32_t minislots) {
	if (e->iuc == MAP_INITIAL) {
		k->counted.initial_minislots += minislots;
	} else if (e->iuc == MAP_STATION) {
		k->counted.station_minislots += minislots;
	} else if (e->iuc == MAP_REQUEST) {
		count_request(k, channel, e->sid, minislots);
	} else {
		assert_true(e->iuc == k->channels[channel].data_iuc ||
			    e->iuc == k->channels[channel].short_iuc);
		k->granted[channel][e->sid] += minislots;
		k->counted.data_minislots += minislots;
		k->counted.grants++;
	}
}

/* The minislots of a MAP must not repeat. Extends their numbers to 64 bits. */
static inline void check_span(struct kit *k, uint32_t channel, const struct map *map,
			      uint32_t minislots) {
	uint64_t end = k->ends[channel];
	uint32_t gap = map->alloc_start - (uint32_t)end;

	assert_true(!k->started[channel] || gap < UINT32_MAX / 2);
	k->started[channel] = true;
	k->ends[channel] = end + gap + minislots;
	assert_true((int32_t)(map->alloc_start - map->ack_time) >= 0);
}

/* Fails if a MAP breaks a rule of its format, or repeats minislots. */
static inline void kit_check_map(struct kit *k, uint32_t channel, const struct map *map) {
	const struct maps_channel *c = &k->channels[channel];
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
		count_element(k, channel, &map->elements[i],
			      map->elements[i + 1].offset - map->elements[i].offset);
	}
	for (uint32_t i = null + 1; i < map->count; i++) {
		assert_int_equal(map->elements[i].offset, map->elements[null].offset);
		assert_int_equal(map->elements[i].iuc, c->data_iuc);
		k->pendings[channel][map->elements[i].sid]++;
		k->counted.pendings++;
	}
	check_span(k, channel, map, map->elements[null].offset);
	k->counted.maps++;
	k->counted.minislots += map->elements[null].offset;
}

/* Makes and checks all MAPs that are due up to the time `until`, which becomes the present time. */
static inline void kit_run(struct kit *k, uint64_t until) {
	static struct map map;
	uint32_t channel;

	while (maps_due(k->m) <= until) {
		if (maps_due(k->m) > k->now)
			k->now = maps_due(k->m);
		while ((channel = maps_make(k->m, k->now, &map)) != MAPS_NONE)
			kit_check_map(k, channel, &map);
	}
	if (until > k->now)
		k->now = until;
}

/* Creates channels that differ by their ID alone, and makes MAPs of 10 ms. */
static inline void kit_create_equal(struct kit *k, struct maps_channel channel, uint32_t count,
				    uint32_t flows) {
	struct maps_channel channels[KIT_CHANNELS];

	for (uint32_t i = 0; i < count; i++) {
		channels[i] = channel;
		channels[i].id = (uint8_t)(i + 1);
	}
	kit_create(k, channels, count, flows);
	kit_run(k, MS(10));
}

/* Makes the next MAPs that are due. */
static inline void kit_make_next(struct kit *k) {
	kit_run(k, maps_due(k->m));
}

/* Data minislots of the SID flow + 1, on all channels. */
static inline uint64_t kit_granted(const struct kit *k, uint32_t flow) {
	uint64_t sum = 0;

	for (uint32_t i = 0; i < k->count; i++)
		sum += k->granted[i][flow + 1];
	return sum;
}

static inline struct maps_counts kit_counts(const struct kit *k) {
	struct maps_counts n;

	maps_counts(k->m, MAPS_NONE, &n);
	return n;
}

/* Checks: owed = requested - granted on request - forgotten bytes. The counters equal the counts from the MAPs. */
static inline void kit_check_counts(const struct kit *k) {
	struct maps_counts n = kit_counts(k);

	assert_int_equal(n.owed_bytes, n.requested_bytes - (n.granted_bytes - n.unsolicited_bytes) -
					       n.forgotten_bytes);
	assert_int_equal(n.maps, k->counted.maps);
	assert_int_equal(n.minislots, k->counted.minislots);
	assert_int_equal(n.data_minislots, k->counted.data_minislots);
	assert_int_equal(n.request_minislots, k->counted.request_minislots);
	assert_int_equal(n.initial_minislots, k->counted.initial_minislots);
	assert_int_equal(n.station_minislots, k->counted.station_minislots);
	assert_int_equal(n.grants, k->counted.grants);
	assert_int_equal(n.polls, k->counted.polls);
	assert_int_equal(n.pendings, k->counted.pendings);
}

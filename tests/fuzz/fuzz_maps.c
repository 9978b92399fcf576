/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzes the upstream scheduler. The input controls channels, flows, requests, and a clock that
 * jumps. Each MAP must be valid: ascending, within limits, with minislots of no earlier MAP. The
 * byte counts must balance. */
#include <string.h>

#include "fuzz.h"
#include "scheduler/maps/maps.h"

#define ACTIONS 400
#define CHANNELS 5
#define FLOWS 40
#define LONGEST (27648 * 20 + 1280) /* samples per MAP */
#define MAX_WAIT (2 * LONGEST) /* samples: limit of the time to the next MAP */

struct input {
	const uint8_t *data;
	size_t left;
};

static struct input in;
static struct maps_channel channels[CHANNELS];
static uint32_t channel_count;
static uint64_t ends[CHANNELS]; /* minislot behind the latest MAP */
static uint32_t unknown[CHANNELS]; /* next MAPs that may begin at any minislot */
static uint64_t now, start;

static uint32_t byte(void) {
	if (in.left == 0)
		return 0;
	in.left--;
	return *in.data++;
}

/* A number of any size: a byte says how many low bits it has. */
static uint32_t number(void) {
	uint32_t bits = byte() % 33, value = byte() << 24 | byte() << 16 | byte() << 8 | byte();

	return bits == 0 ? 0 : value >> (32 - bits);
}

static struct maps_channel read_channel(uint8_t id) {
	bool ofdma = byte() & 1;
	struct maps_channel c = {
		.kind = ofdma ? MAPS_OFDMA : MAPS_SC_QAM,
		.id = id,
		.data_iuc = MAP_ADVANCED_LONG,
		.short_iuc = byte() & 1 ? MAP_ADVANCED_SHORT : 0,
		.short_minislots = (uint16_t)byte(),
		.frame = ofdma ? 27648 : 1280,
		.frame_minislots = (uint16_t)(ofdma ? 1 + byte() : 1),
		.minislot_bytes = (uint16_t)(1 + byte()),
		.burst_minislots = (uint16_t)(byte() % 10),
		.max_burst_minislots = (uint16_t)(byte() * 4),
		.interval = 27648 * (1 + byte() % 20),
		.lead = number() % MAPS_HZ,
		.ack_delay = number() % MAPS_HZ,
		.request_minislots = (uint16_t)(1 + byte() % 4),
		.request_opportunities = (uint16_t)(1 + byte() % 8),
		.initial_minislots = (uint16_t)byte(),
		.initial_interval = number() % MAPS_INITIAL_MAX,
		.station_minislots = (uint16_t)(byte() % 40),
		.data_start = (uint8_t)(byte() % 8),
		.data_end = 10,
	};

	c.slack = c.lead / (1 + byte() % 4);
	return c;
}

static void allow_any_start(uint32_t maps) {
	for (uint32_t i = 0; i < CHANNELS; i++)
		unknown[i] = maps;
}

static struct maps *create(void) {
	struct maps_config config = {.channels = channels, .flows = FLOWS};

	channel_count = 1 + byte() % CHANNELS;
	for (uint32_t i = 0; i < channel_count; i++)
		channels[i] = read_channel((uint8_t)i);
	config.channel_count = channel_count;
	config.flow_bytes = byte() & 1 ? 100000 : 0;
	config.start = start = number();
	allow_any_start(1);
	return maps_create(&config, NULL);
}

static void set_flow(struct maps *m) {
	struct maps_sid sids[2][CHANNELS];
	struct maps_cluster clusters[2] = {{sids[0], 0}, {sids[1], 0}};
	uint32_t flow = byte() % (FLOWS + 1), masks[2] = {byte(), byte()};
	struct maps_flow f = {
		.type = (enum maps_type)(byte() % 7),
		.priority = (uint8_t)(byte() % 9),
		.sustained = number(),
		.sustained_burst = number(),
		.peak = number(),
		.reserved = number() >> 8,
		.max_burst = number(),
		.header_bytes = (uint16_t)(byte() % 66),
		.poll_interval = number(),
		.grant_interval = number(),
		.grant_jitter = number(),
		.grant_bytes = number(),
		.grants = (uint8_t)byte(),
		.active_timeout = number(),
		.guaranteed_rate = number(),
		.clusters = clusters,
		.cluster_count = byte() % 3,
	};

	for (uint32_t k = 0; k < 2; k++)
		for (uint32_t i = 0; i < channel_count; i++)
			if (masks[k] >> i & 1)
				sids[k][clusters[k].count++] = (struct maps_sid){
					(uint16_t)i, (uint16_t)(flow * 2 + k + 1)};
	maps_set_flow(m, flow, &f, now);
}

static void request(struct maps *m) {
	const struct maps_request q = {
		.flow = byte() % (FLOWS + 1),
		.cluster = (uint8_t)(byte() % 3),
		.channel = (uint16_t)(byte() % (CHANNELS + 1)),
		.bytes = number(),
		.minislot_at = byte() & 1 ? (uint64_t)number() << byte() % 33 : 0,
		.contended = byte() & 1,
	};

	maps_request(m, &q, now);
}

static void check_map(uint32_t channel, const struct map *map) {
	const struct maps_channel *c = &channels[channel];
	uint32_t null = 0, gap = map->alloc_start - (uint32_t)ends[channel];

	CHECK(map->count <= (c->kind == MAPS_OFDMA ? MAP_ELEMENTS_5 : MAP_ELEMENTS_1));
	while (null < map->count && map->elements[null].iuc != MAP_NULL)
		null++;
	CHECK(null < map->count && (null == 0 || map->elements[0].offset == 0));
	for (uint32_t i = 0; i < null; i++) {
		uint32_t minislots =
			(uint32_t)map->elements[i + 1].offset - map->elements[i].offset;

		CHECK(map->elements[i + 1].offset > map->elements[i].offset);
		if (map->elements[i].iuc >= MAP_ADVANCED_SHORT && c->max_burst_minislots != 0)
			CHECK(minislots <= c->max_burst_minislots);
	}
	for (uint32_t i = null + 1; i < map->count; i++)
		CHECK(map->elements[i].offset == map->elements[null].offset);
	CHECK(unknown[channel] != 0 || gap < UINT32_MAX / 2);
	if (unknown[channel] != 0)
		unknown[channel]--;
	ends[channel] += gap + map->elements[null].offset;
}

static void make(struct maps *m) {
	static struct map map;
	uint32_t channel;

	for (int i = 0; i < 64 && (channel = maps_make(m, now, &map)) != MAPS_NONE; i++) {
		CHECK(channel < channel_count);
		check_map(channel, &map);
	}
	CHECK(maps_due(m) <= (now > start ? now : start) + MAX_WAIT);
}

/* Minislots wrap: after a long jump they cannot be compared, and after a jump back they repeat.
 * That concerns the MAP in progress and the one after it. */
static void jump(void) {
	uint64_t before = now;

	now = (uint64_t)number() << byte() % 29; /* below the end of time */
	if (now < before || now - before > UINT64_C(1) << 36)
		allow_any_start(2);
}

static void run_action(struct maps *m) {
	uint64_t due = maps_due(m);

	CHECK(due != UINT64_MAX);
	switch (byte() % 12) {
	case 0: set_flow(m); break;
	case 1: now += number(); break;
	case 2: jump(); break;
	case 3: maps_queue_station(m, byte() % (CHANNELS + 1), (uint16_t)number()); break;
	case 4: maps_data_received(m, byte() % (FLOWS + 1), now); break;
	case 5: maps_report_collisions(m, byte() % (CHANNELS + 1), number()); break;
	case 6:
	case 7: now = due > now ? due : now; break;
	default: request(m);
	}
	make(m);
}

static void check_counts(const struct maps *m) {
	struct maps_counts n;

	maps_counts(m, MAPS_NONE, &n);
	CHECK(n.owed_bytes ==
	      n.requested_bytes - (n.granted_bytes - n.unsolicited_bytes) - n.forgotten_bytes);
	CHECK(n.data_minislots + n.request_minislots + n.initial_minislots + n.station_minislots <=
	      n.minislots);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct maps *m;

	in = (struct input){data, size};
	now = 0;
	memset(ends, 0, sizeof(ends));
	m = create();
	if (m == NULL)
		return 0;
	for (int i = 0; i < ACTIONS && in.left > 0; i++)
		run_action(m);
	do /* also the MAPs in progress */
		make(m);
	while (maps_due(m) <= now);
	check_counts(m);
	maps_free(m);
	return 0;
}

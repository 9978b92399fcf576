/* SPDX-License-Identifier: BSD-3-Clause */
#include "maps_load.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "random/random.h"
#include "scheduler/maps/maps.h"

#define FRAME_SAMPLES 27648 /* of an OFDMA frame: 135 us */
#define FRAME_MINISLOTS 235
#define MINISLOT_BYTES 48
#define BATCH 32 /* requests that arrive together, as from the ring */
#define SEGMENT_HEADER 8
/* mean bytes of a grant that carry no data: the header, and half a minislot of padding */
#define GRANT_OVERHEAD (SEGMENT_HEADER + MINISLOT_BYTES / 2)
#define SETTLE 50 /* MAP intervals before the measurement */

/* name, modems, channels, MAP interval in ms, load, mean bytes of a request */
const struct maps_case maps_cases[MAPS_CASES] = {
	{"300 modems, 4 channels, 2 ms", 300, 4, 2, 0.9, 2000},
	{"300 modems, 8 channels, 1 ms", 300, 8, 1, 0.9, 2000},
	{"3000 modems, 8 channels, 1 ms", 3000, 8, 1, 0.9, 1500},
	{"3000 modems, 8 channels, 1 ms, 120 %", 3000, 8, 1, 1.2, 1500},
	{"3000 modems, 8 channels, 1 ms, 10 %", 3000, 8, 1, 0.1, 500},
};

struct load {
	const struct maps_case *c;
	struct maps *m;
	struct random random;
	uint64_t now; /* samples: when the latest MAPs were due */
	/* bytes to request until the load is met; below 0: requested in advance */
	double owing;
};

/* Returns NULL after a message. */
static struct maps *create(const struct maps_case *c) {
	struct maps_channel channels[MAPS_MAX_CHANNELS];
	struct maps_sid sids[MAPS_MAX_CHANNELS];
	struct maps_config config = {
		.channels = channels, .channel_count = c->channels, .flows = c->modems};
	const char *why = NULL;
	struct maps *m;

	for (uint32_t i = 0; i < c->channels; i++)
		channels[i] = (struct maps_channel){
			.kind = MAPS_OFDMA,
			.id = (uint8_t)(i + 1),
			.data_iuc = MAP_PROFILE_13,
			.frame = FRAME_SAMPLES,
			.frame_minislots = FRAME_MINISLOTS,
			.minislot_bytes = MINISLOT_BYTES,
			.interval = (uint32_t)(c->map_ms * (MAPS_HZ / 1000)),
			.lead = MAPS_HZ / 1000,
			.ack_delay = MAPS_HZ / 500,
			.request_minislots = 1,
			.request_opportunities = 16,
			.data_start = 3,
			.data_end = 8,
		};
	m = maps_create(&config, &why);
	for (uint32_t f = 0; m != NULL && f < c->modems; f++) {
		const struct maps_cluster cluster = {sids, c->channels};

		for (uint32_t i = 0; i < c->channels; i++)
			sids[i] = (struct maps_sid){(uint16_t)i, (uint16_t)(f + 1)};
		why = maps_set_flow(m, f,
				    &(struct maps_flow){
					    .sustained = 100000000,
					    .sustained_burst = 1000000,
					    .header_bytes = SEGMENT_HEADER,
					    .clusters = &cluster,
					    .cluster_count = 1,
				    },
				    0);
		if (why != NULL) {
			maps_free(m);
			m = NULL;
		}
	}
	if (m == NULL)
		fprintf(stderr, "%s: %s\n", c->name, why);
	return m;
}

static int by_size(const void *a, const void *b) {
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the values and returns their median, which interruptions hardly change. */
static double median_of(uint32_t *values, uint32_t count) {
	qsort(values, count, sizeof(*values), by_size);
	return values[count / 2];
}

/* Makes the requests of a MAP interval, of `bytes` with grant overhead; each has 0.5 to 1.5 times the case's
 * mean. Returns their number; `cycles` gets the time in maps_request(). */
static uint32_t make_requests(struct load *l, double bytes, uint32_t *cycles) {
	struct maps_request batch[BATCH];
	uint32_t count = 0, all = 0;
	uint64_t elapsed = 0;

	for (l->owing += bytes; l->owing > 0; count = 0) {
		uint64_t begun;

		for (; count < BATCH && l->owing > 0; count++) {
			batch[count] = (struct maps_request){
				.flow = random_below(&l->random, l->c->modems),
				.channel = (uint16_t)random_below(&l->random, l->c->channels),
				.bytes = l->c->bytes / 2 + random_below(&l->random, l->c->bytes),
			};
			l->owing -= batch[count].bytes + GRANT_OVERHEAD;
		}
		begun = rte_rdtsc();
		for (uint32_t i = 0; i < count; i++)
			maps_prefetch(l->m, batch[i].flow);
		for (uint32_t i = 0; i < count; i++)
			maps_request(l->m, &batch[i], l->now);
		elapsed += rte_rdtsc() - begun;
		all += count;
	}
	*cycles = (uint32_t)elapsed;
	return all;
}

/* Makes the MAPs of all channels that are due next. Returns the elapsed reference cycles. */
static uint32_t make_maps(struct load *l) {
	static struct map map;
	uint64_t begun = rte_rdtsc();

	l->now = maps_due(l->m);
	while (maps_make(l->m, l->now, &map) != MAPS_NONE)
		;
	return (uint32_t)(rte_rdtsc() - begun);
}

int maps_load_run(const struct maps_case *c, uint32_t rounds, struct maps_tally *out) {
	struct load l = {.c = c, .m = create(c), .random = {.state = 1}};
	uint32_t frames = (uint32_t)(c->map_ms * (MAPS_HZ / 1000) / FRAME_SAMPLES + 0.5);
	double bytes = (double)frames * FRAME_MINISLOTS * MINISLOT_BYTES * c->channels * c->load;
	uint32_t *made = calloc(rounds, sizeof(*made)),
		 *measured = calloc(rounds, sizeof(*measured)), cycles;
	struct maps_counts before, after;

	*out = (struct maps_tally){0};
	if (l.m == NULL || made == NULL || measured == NULL) {
		if (l.m != NULL)
			fprintf(stderr, "%s: memory is short\n", c->name);
		maps_free(l.m);
		free(made);
		free(measured);
		return -1;
	}
	for (uint32_t i = 0; i < SETTLE; i++) {
		make_maps(&l);
		make_requests(&l, bytes, &cycles);
	}
	maps_counts(l.m, MAPS_NONE, &before);
	for (uint32_t i = 0; i < rounds; i++) {
		made[i] = make_maps(&l);
		out->requests += make_requests(&l, bytes, &measured[i]);
	}
	out->map_cycles = median_of(made, rounds) * rounds;
	out->request_cycles = median_of(measured, rounds) * rounds;
	free(made);
	free(measured);
	maps_counts(l.m, MAPS_NONE, &after);
	out->grants = after.grants - before.grants;
	out->maps = after.maps - before.maps;
	out->minislots = after.minislots - before.minislots;
	out->data_minislots = after.data_minislots - before.data_minislots;
	out->seconds = (double)rounds * frames * FRAME_SAMPLES / MAPS_HZ;
	maps_free(l.m);
	return 0;
}

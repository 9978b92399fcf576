/* SPDX-License-Identifier: BSD-3-Clause */
/* The bench with an upstream scheduler, and what comes of it. */
#pragma once

#include <string.h>

#include <rte_ring_elem.h>

#include "test.h"

#include "fixture.h"
#include "message_ring.h"
#include "the_bench.h"
#include "wire/map.h"

#define CHANNELS 4 /* downstream */

static uint64_t bytes[CHANNELS];
static struct channel downstream[CHANNELS];

static inline void configure(struct service_group *sg) {
	for (unsigned i = 0; i < CHANNELS; i++)
		downstream[i] = (struct channel){.id = 10 + i, .session = 1 + i};
	sg->channels = downstream;
	sg->channel_count = CHANNELS;
	sg->upstream.scheduled = true;
	sg->upstream.scheduler = (struct grants_config){
		.map_interval = 2 * BENCH_MS,
		.ucd_interval = 1000 * BENCH_MS,
		.modem_processing = 600000,
		.cmts_processing = 200000,
	};
	for (unsigned i = 0; i < BENCH_CHANNELS; i++) {
		struct channel_grants *g = &sg->upstream_channels[i].grants;

		*g = (struct channel_grants){
			.map_channels = {12, 13},
			.map_channel_count = i, /* none: the first one, 10 */
			.physical = {.minislot_ticks = 2,
				     .symbol_rate = 5120,
				     .burst_minislots = 1,
				     .cyclic_prefix = 256,
				     .frame_minislots = 237,
				     .frame_symbols = 6,
				     .subcarrier_spacing = 50,
				     .data_iuc = 10},
			.contention = {1, 8, 3, 10},
			.maintenance = {.initial_interval = 1000 * BENCH_MS, .backoff_end = 4},
		};
	}
	for (unsigned m = 0; m < sg->modem_count; m++) {
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++)
			sg->modems[m].upstream_flows[f].grants =
				(struct flow_grants){.request_multiplier = 4};
	}
}

/* A bench that is prepared gets a scheduler, and a ring of that many messages. */
static inline void schedule(unsigned ring) {
	configure(&bench->sg);
	message_ring_open(bench, ring, BENCH_CHANNELS, CHANNELS, bytes);
}

static inline void open_with(unsigned ring) {
	bench_prepare(bench);
	schedule(ring);
	bench_start(bench);
	assert_true(upstream_grants(bench->u));
}

/* A message that came out. */
struct seen {
	uint16_t stream, slack;
	uint64_t due;
	struct management m;
	struct map map; /* of a MAP */
	uint8_t bytes[MANAGEMENT_FRAME_MAX];
};

static inline bool next(struct seen *s) {
	struct rte_mbuf *m;
	size_t size;

	if (rte_ring_dequeue(path.ring, (void **)&m) != 0)
		return false;
	s->stream = message_meta(m)->stream;
	s->due = message_meta(m)->due;
	s->slack = message_meta(m)->slack;
	size = m->data_len;
	memcpy(s->bytes, rte_pktmbuf_mtod(m, uint8_t *), size);
	rte_pktmbuf_free(m);
	if (s->stream < path.pseudowires)
		assert_int_equal(management_read(s->bytes, size, &s->m), MANAGEMENT_OK);
	else
		assert_int_equal(management_frame_read(s->bytes, size, &s->m), MANAGEMENT_OK);
	assert_memory_equal(s->m.sa, bench->sg.rphy.core_mac, 6);
	if (s->m.type == MANAGEMENT_MAP) {
		assert_int_equal(map_read(&s->map, s->m.version, s->m.body, s->m.body_size),
				 MAP_OK);
		assert_int_equal(map_check(&s->map), MAP_OK);
	}
	return true;
}

static inline void empty(void) {
	struct seen s;

	while (next(&s))
		;
}

static inline unsigned run(void) {
	pipeline_run(upstream_pipeline(bench->u, 1));
	return pipeline_run(upstream_pipeline(bench->u, 2));
}

static inline void ask(struct us_request r) {
	assert_int_equal(rte_ring_sp_enqueue_elem(bench->u->requests.ring, &r, sizeof(r)), 0);
	pipeline_run(upstream_pipeline(bench->u, 1));
}

static uint32_t longest; /* minislots of a grant that grants_of() has seen */

/* Data grants of a SID in the MAPs that come, all channels. */
static inline unsigned grants_of(uint16_t sid, unsigned rounds) {
	unsigned found = 0;
	struct seen s;

	for (; rounds > 0; rounds--) {
		bench->clock.now = upstream_grants_due(bench->u);
		run();
		while (next(&s)) {
			if (s.stream >= path.pseudowires || s.m.type != MANAGEMENT_MAP)
				continue;
			for (unsigned e = 0;
			     e + 1 < s.map.count && s.map.elements[e].iuc != MAP_NULL; e++) {
				const struct map_element *at = &s.map.elements[e];
				uint32_t size = at[1].offset - at[0].offset;

				if (at->sid != sid || !map_iuc_is_data(at->iuc))
					continue;
				longest = RTE_MAX(longest, size);
				found++;
			}
		}
	}
	return found;
}

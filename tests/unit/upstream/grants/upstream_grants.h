/* SPDX-License-Identifier: BSD-3-Clause */
/* The kit with an upstream scheduler, and what comes of it. */
#pragma once

#include <rte_ring_elem.h>

#include "group_defaults.h"
#include "pipeline/messages.h"
#include "upstream_cases.h"
#include "wire/map.h"

#define CHANNELS 4 /* downstream, that most groups have */

static struct message_path path;
static uint64_t bytes[GRANTS_MAP_CHANNELS]; /* by downstream channel */
static struct channel downstream[GRANTS_MAP_CHANNELS];

/* Gives a group that is prepared a scheduler; without a ring. */
static inline void configure(struct service_group *sg) {
	for (unsigned i = 0; i < ARRAY_COUNT(downstream); i++)
		downstream[i] = (struct channel){.id = 10 + i, .session = 1 + i};
	sg->channels = downstream;
	sg->channel_count = CHANNELS;
	sg->upstream.scheduled = true;
	sg->upstream.scheduler = (struct grants_config){0};
	for (unsigned i = 0; i < BENCH_CHANNELS; i++) {
		sg->upstream_channels[i].grants = (struct channel_grants){
			.map_channels = {12, 13},
			.map_channel_count = i, /* none: the first one, 10 */
		};
	}
	for (unsigned m = 0; m < sg->modem_count; m++) {
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++)
			sg->modems[m].upstream_flows[f].grants = (struct flow_grants){0};
	}
	service_group_defaults(sg);
}

/* For that many messages of the group. */
static inline void message_ring_open(unsigned ring) {
	static uint8_t memory[64 << 10] __rte_cache_aligned;

	memset(bytes, 0, sizeof(bytes));
	path = (struct message_path){
		.ring = (struct rte_ring *)memory,
		.pseudowires = (uint16_t)bench->sg.upstream_channel_count,
		.channels = (uint16_t)bench->sg.channel_count,
		.bytes = bytes,
	};
	assert_true(rte_ring_get_memsize(ring) <= (ssize_t)sizeof(memory));
	assert_int_equal(rte_ring_init(path.ring, "messages", ring, RING_F_SP_ENQ | RING_F_SC_DEQ),
			 0);
	bench->path = &path;
}

static inline void schedule(unsigned ring) {
	configure(&bench->sg);
	message_ring_open(ring);
}

static inline void scheduled(void) {
	schedule(1024);
}

static inline void grants(void) {
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

/* Returns how many there were. */
static inline unsigned empty(void) {
	struct seen s;
	unsigned n = 0;

	while (next(&s))
		n++;
	return n;
}

static inline unsigned run(void) {
	pipeline_run(upstream_pipeline(bench->u, 1));
	return pipeline_run(upstream_pipeline(bench->u, 2));
}

static inline void ask(struct us_request r) {
	assert_int_equal(rte_ring_sp_enqueue_elem(bench->u->requests.ring, &r, sizeof(r)), 0);
	pipeline_run(upstream_pipeline(bench->u, 1));
}

/* All that was asked for, as the upstream scheduler understands it. */
static inline uint64_t asked_bytes(void) {
	struct maps_counts counts;

	maps_counts(bench->u->grant.maps, MAPS_NONE, &counts);
	return counts.asked_bytes;
}

static unsigned data_grants[1 << 14]; /* by SID, that grants_count() has found */
static uint32_t longest; /* minislots of one of them */

/* Data grants in the MAPs that come, all channels. */
static inline void grants_count(unsigned rounds) {
	struct seen s;

	memset(data_grants, 0, sizeof(data_grants));
	for (; rounds > 0; rounds--) {
		bench->clock.now = upstream_grants_due(bench->u);
		run();
		while (next(&s)) {
			if (s.stream >= path.pseudowires || s.m.type != MANAGEMENT_MAP)
				continue;
			for (unsigned e = 0;
			     e + 1 < s.map.count && s.map.elements[e].iuc != MAP_NULL; e++) {
				const struct map_element *at = &s.map.elements[e];

				if (!map_iuc_is_data(at->iuc))
					continue;
				longest = RTE_MAX(longest, (uint32_t)(at[1].offset - at->offset));
				data_grants[at->sid]++;
			}
		}
	}
}

static inline unsigned grants_of(uint16_t sid, unsigned rounds) {
	grants_count(rounds);
	return data_grants[sid];
}

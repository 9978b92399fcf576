/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream kit with an upstream scheduler: sends it requests, and reads its MAPs and UCDs. */
#pragma once

#include <rte_ring_elem.h>

#include "group_defaults.h"
#include "pipeline/messages.h"
#include "upstream_cases.h"
#include "wire/map.h"

#define CHANNELS 4 /* downstream channels of most groups */

static struct message_path messages;
static uint64_t message_bytes[GRANTS_MAP_CHANNELS]; /* by downstream channel */
static struct channel downstream[GRANTS_MAP_CHANNELS];

/* Adds a scheduler to a prepared group, but no message ring. */
static inline void configure_scheduler(struct service_group *sg) {
	for (unsigned i = 0; i < ARRAY_COUNT(downstream); i++)
		downstream[i] = (struct channel){.id = 10 + i, .session = 1 + i};
	sg->channels = downstream;
	sg->channel_count = CHANNELS;
	sg->upstream.scheduled = true;
	sg->upstream.scheduler = (struct grants_config){0};
	for (unsigned i = 0; i < KIT_CHANNELS; i++) {
		sg->upstream_channels[i].grants = (struct channel_grants){
			.map_channels = {12, 13},
			.map_channel_count = i, /* none: the first one, 10 */
		};
	}
	for (unsigned m = 0; m < sg->modem_count; m++) {
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++)
			sg->modems[m].upstream_flows[f].grants = (struct flow_grants){0};
	}
	service_group_set_defaults(sg);
}

/* Opens a ring for so many messages of the group. */
static inline void message_ring_open(unsigned ring) {
	static uint8_t memory[64 << 10] __rte_cache_aligned;

	memset(message_bytes, 0, sizeof(message_bytes));
	messages = (struct message_path){
		.ring = (struct rte_ring *)memory,
		.pseudowires = (uint16_t)kit->sg.upstream_channel_count,
		.channels = (uint16_t)kit->sg.channel_count,
		.bytes = message_bytes,
	};
	assert_true(rte_ring_get_memsize(ring) <= (ssize_t)sizeof(memory));
	assert_int_equal(
		rte_ring_init(messages.ring, "messages", ring, RING_F_SP_ENQ | RING_F_SC_DEQ), 0);
	kit->path = &messages;
}

static inline void use_scheduler(unsigned ring) {
	configure_scheduler(&kit->sg);
	message_ring_open(ring);
}

static inline void with_scheduler(void) {
	use_scheduler(1024);
}

static inline void check_has_scheduler(void) {
	assert_true(upstream_grants(kit->u));
}

/* A message from the ring. */
struct message {
	uint16_t stream, slack;
	uint64_t due;
	struct management m;
	struct map map; /* of a MAP */
	uint8_t bytes[MANAGEMENT_FRAME_MAX];
};

/* Reads and checks the next message. Returns false if the ring is empty. */
static inline bool next_message(struct message *s) {
	struct rte_mbuf *m;
	size_t size;

	if (rte_ring_dequeue(messages.ring, (void **)&m) != 0)
		return false;
	s->stream = message_meta(m)->stream;
	s->due = message_meta(m)->due;
	s->slack = message_meta(m)->slack;
	size = m->data_len;
	memcpy(s->bytes, rte_pktmbuf_mtod(m, uint8_t *), size);
	rte_pktmbuf_free(m);
	if (s->stream < messages.pseudowires)
		assert_int_equal(management_read(s->bytes, size, &s->m), MANAGEMENT_OK);
	else
		assert_int_equal(management_frame_read(s->bytes, size, &s->m), MANAGEMENT_OK);
	assert_memory_equal(s->m.sa, kit->sg.rphy.core_mac, 6);
	if (s->m.type == MANAGEMENT_MAP) {
		assert_int_equal(map_read(&s->map, s->m.version, s->m.body, s->m.body_size),
				 MAP_OK);
		assert_int_equal(map_check(&s->map), MAP_OK);
	}
	return true;
}

/* Discards the messages in the ring. Returns how many. */
static inline unsigned discard_messages(void) {
	struct message s;
	unsigned n = 0;

	while (next_message(&s))
		n++;
	return n;
}

/* Runs the pipelines of requests and grants. Returns the number of MAPs and UCDs. */
static inline unsigned run_scheduler(void) {
	pipeline_run(upstream_pipeline(kit->u, 1));
	return pipeline_run(upstream_pipeline(kit->u, 2));
}

static inline void send_request(struct us_request r) {
	assert_int_equal(rte_ring_sp_enqueue_elem(kit->u->requests.ring, &r, sizeof(r)), 0);
	pipeline_run(upstream_pipeline(kit->u, 1));
}

/* All requested bytes, as the upstream scheduler counts them. */
static inline uint64_t requested_bytes(void) {
	struct maps_counts counts;

	maps_counts(kit->u->grant.maps, MAPS_NONE, &counts);
	return counts.requested_bytes;
}

static unsigned data_grants[1 << 14]; /* by SID, in the latest count_grants() */
static uint32_t longest_grant; /* minislots of the longest data grant so far */

/* Makes the MAPs of this many due times, and counts the data grants of all channels. */
static inline void count_grants(unsigned rounds) {
	struct message s;

	memset(data_grants, 0, sizeof(data_grants));
	for (; rounds > 0; rounds--) {
		kit->clock.now = upstream_grants_due(kit->u);
		run_scheduler();
		while (next_message(&s)) {
			if (s.stream >= messages.pseudowires || s.m.type != MANAGEMENT_MAP)
				continue;
			for (unsigned e = 0;
			     e + 1 < s.map.count && s.map.elements[e].iuc != MAP_NULL; e++) {
				const struct map_element *at = &s.map.elements[e];

				if (!map_iuc_is_data(at->iuc))
					continue;
				longest_grant = RTE_MAX(longest_grant,
							(uint32_t)(at[1].offset - at->offset));
				data_grants[at->sid]++;
			}
		}
	}
}

static inline unsigned count_grants_of(uint16_t sid, unsigned rounds) {
	count_grants(rounds);
	return data_grants[sid];
}

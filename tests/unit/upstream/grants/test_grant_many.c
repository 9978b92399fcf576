/* SPDX-License-Identifier: BSD-3-Clause */
/* As many upstream channels as there can be, in as many downstream channels each: the ring to the lower MAC has room for
 * all MAPs and UCDs of a moment. */
#include "upstream_grants.h"

#define CARRIERS GRANTS_MAP_CHANNELS
#define STREAMS (1 + CARRIERS) /* of a channel */
#define PAUSE 150000 /* ns: less than a MAP may be late */

static struct channel carriers[CARRIERS];
static struct upstream_channel channels[SG_MAX_UPSTREAM_CHANNELS];
static uint64_t carried[CARRIERS];

static void widest(struct service_group *sg) {
	for (uint32_t d = 0; d < CARRIERS; d++)
		carriers[d] = (struct channel){.id = 10 + d, .session = 1 + d};
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++) {
		channels[i] = sg->upstream_channels[i < BENCH_CHANNELS ? i : BENCH_CHANNELS - 1];
		if (i >= BENCH_CHANNELS) {
			channels[i].id = 1 + i;
			channels[i].session = 0x30000 + i;
		}
		channels[i].grants = message_grants;
		channels[i].grants.map_channel_count = CARRIERS;
		for (uint32_t d = 0; d < CARRIERS; d++)
			channels[i].grants.map_channels[d] = carriers[d].id;
	}
	sg->channels = carriers;
	sg->channel_count = CARRIERS;
	sg->upstream_channels = channels;
	sg->upstream_channel_count = SG_MAX_UPSTREAM_CHANNELS;
	sg->upstream.scheduled = true;
	sg->upstream.scheduler = message_times;
	sg->upstream.scheduler.ucd_interval = 10 * BENCH_MS;
}

/* Who grants has buffers for what is in the ring, and for as much before the R-PHY port. */
static void check_buffers(struct service_group *sg) {
	uint32_t with = us_buffers(sg, NULL).frames;

	sg->upstream.scheduled = false;
	assert_int_equal(with, us_buffers(sg, NULL).frames + 2 * messages_ring(sg));
	sg->upstream.scheduled = true;
}

static void many(void) {
	widest(&bench->sg);
	check_buffers(&bench->sg);
	message_ring_open(bench, messages_ring(&bench->sg), SG_MAX_UPSTREAM_CHANNELS, CARRIERS,
			  carried);
	bench->frame_buffers = 8191;
}

CASE(all_of_a_moment, .prepare = many) {
	unsigned most = 0, came = 0;

	for (unsigned i = 0; i < 200; i++) {
		unsigned now;

		bench->clock.now = upstream_grants_due(bench->u) + i % 2 * PAUSE;
		run();
		now = empty();
		came += now;
		most = RTE_MAX(most, now);
	}
	assert_int_equal(bench_count(COUNTER_MESSAGES_UNSENT), 0);
	assert_int_equal(bench_count(COUNTER_MESSAGES_MADE), came);
	/* UCDs and MAPs at once, behind a pause of the worker */
	assert_in_range(most, SG_MAX_UPSTREAM_CHANNELS * STREAMS + 1,
			2 * SG_MAX_UPSTREAM_CHANNELS * STREAMS);
}

CASE(the_ring_of_a_group, .closed = true) {
	struct service_group sg = {.upstream_channels = channels};

	assert_int_equal(messages_ring(&sg), MESSAGES_RING);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++)
		channels[i].grants.map_channel_count = 0; /* the first of the group is one */
	sg.upstream_channel_count = SG_MAX_UPSTREAM_CHANNELS;
	assert_int_equal(messages_ring(&sg), MESSAGES_RING);
	for (uint32_t i = 0; i < SG_MAX_UPSTREAM_CHANNELS; i++)
		channels[i].grants.map_channel_count = CARRIERS;
	assert_int_equal(messages_ring(&sg), 2048);
	sg.upstream_channel_count = 29; /* 522 messages */
	assert_int_equal(messages_ring(&sg), 1024);
}

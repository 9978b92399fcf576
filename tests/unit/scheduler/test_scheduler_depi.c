/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a channel counts for a packet is what the DEPI stage will send for it. The frames are packed
 * here once more, by the rule of that stage and as a list of frames with their segments, and the bytes
 * of all frames together must at each moment be those that the channel counted.
 */
#include "test.h"

#include <stdlib.h>

#include "random.h"
#include "scheduler/report.h"

#define MAX_SEGMENTS 255

/* A DEPI frame: what it carries, and when it was begun. */
struct frame {
	uint32_t lengths[MAX_SEGMENTS];
	unsigned segments;
	uint64_t begun;
	bool closed;
};

struct stage {
	struct scheduler_depi rule;
	struct frame now; /* the last one */
	unsigned frames;
	uint64_t finished_bytes; /* of all frames before it, with all that stands around */
	uint64_t payload; /* of all frames */
};

/* The room that segments and their entries take. */
static uint32_t used(const struct stage *d) {
	uint32_t bytes = 0;

	for (unsigned i = 0; i < d->now.segments; i++)
		bytes += d->now.lengths[i] + d->rule.entry_bytes;
	return bytes;
}

static uint64_t stage_bytes(const struct stage *d) {
	return d->finished_bytes + (d->frames > 0 ? d->rule.frame_bytes + used(d) : 0);
}

static void frame_begin(struct stage *d, uint64_t now) {
	d->finished_bytes = stage_bytes(d);
	d->frames++;
	d->now = (struct frame){.begun = now};
}

static void segment_add(struct stage *d, uint32_t length, bool ends_packet) {
	assert_true(ends_packet || length >= d->rule.min_fragment);
	d->now.lengths[d->now.segments++] = length;
	assert_true(used(d) <= d->rule.room);
	assert_true(d->now.segments <= d->rule.max_segments);
	if (d->now.segments == d->rule.max_segments ||
	    d->rule.room - used(d) <= d->rule.entry_bytes)
		d->now.closed = true;
}

/* One DOCSIS frame: whole where it fits, otherwise what fits and the rest in the next one. */
static void stage_packet(struct stage *d, uint32_t length, uint64_t now) {
	if (d->frames > 0 && now - d->now.begun >= d->rule.flush_ns)
		d->now.closed = true;
	d->payload += length;
	while (length > 0) {
		uint32_t fits;

		if (d->frames == 0 || d->now.closed)
			frame_begin(d, now);
		fits = d->rule.room - used(d) - d->rule.entry_bytes;
		if (fits >= length) {
			segment_add(d, length, true);
			return;
		}
		if (fits < d->rule.min_fragment) {
			d->now.closed = true;
			continue;
		}
		segment_add(d, fits, false);
		length -= fits;
	}
}

static void random_rule(struct random *r, struct scheduler_depi *d) {
	static const uint16_t mtus[] = {1500, 2000, 9000};

	*d = (struct scheduler_depi){
		.frame_bytes = (uint16_t)random_between(r, 0, 120),
		.entry_bytes = 2,
		.min_fragment = 16,
		.max_segments = (uint16_t)random_between(r, 1, MAX_SEGMENTS),
		.flush_ns = random_between(r, 1, 200000),
		.room = (uint16_t)(mtus[random_below(r, ARRAY_COUNT(mtus))] - random_below(r, 80)),
	};
	if (random_below(r, 4) == 0) { /* narrow ones, where every edge is met often */
		d->entry_bytes = (uint16_t)random_between(r, 0, 12);
		d->min_fragment = (uint16_t)random_between(r, 1, 60);
		d->room = (uint16_t)(2 * d->entry_bytes + d->min_fragment +
				     random_between(r, 1, 200));
	}
}

struct line {
	struct scheduler *s;
	struct scheduler_channel channels[2];
	struct stage stages[2];
	uint32_t header;
};

static void make(struct line *d, struct random *r) {
	static const uint32_t both[] = {0, 1};
	const struct scheduler_group group = {both, 2};
	const struct scheduler_modem modem = {{0, 0}};
	const struct scheduler_flow flow = {
		.weight = 1,
		.header_bytes = (uint16_t)random_between(r, 0, 30),
		.min_buffer = 100000,
		.buffer = 100000,
		.max_buffer = 100000,
	};
	const struct scheduler_config c = {.channels = d->channels,
					   .channel_count = 2,
					   .groups = &group,
					   .group_count = 1,
					   .modems = &modem,
					   .modem_count = 1,
					   .flows = &flow,
					   .flow_count = 1,
					   .packet_limit = 100};
	const char *why = NULL;

	*d = (struct line){.header = flow.header_bytes};
	for (unsigned i = 0; i < 2; i++) {
		random_rule(r, &d->channels[i].depi);
		d->channels[i].rate = 1000000000 + random_below(r, 1000000000);
		d->stages[i].rule = d->channels[i].depi;
	}
	d->s = scheduler_create(&c, &why);
	if (d->s == NULL)
		fail_msg("refused: %s; room %u, entry %u, fragment %u", why,
			 d->channels[0].depi.room, d->channels[0].depi.entry_bytes,
			 d->channels[0].depi.min_fragment);
}

static uint32_t random_bytes(struct random *r) {
	switch (random_below(r, 4)) {
	case 0: return 64;
	case 1: return random_between(r, 1400, 1522);
	case 2: return random_below(r, 20) == 0 ? SCHEDULER_PACKET_MAX : random_between(r, 1, 40);
	default: return random_between(r, 1, 4000);
	}
}

static void assert_counted(const struct line *d, int round, int step) {
	for (uint32_t i = 0; i < 2; i++) {
		struct scheduler_channel_report report;

		scheduler_report_channel(d->s, i, &report);
		if (report.bytes != stage_bytes(&d->stages[i]))
			fail_msg("round %d, packet %d, channel %u: counted %llu, sent %llu", round,
				 step, i, (unsigned long long)report.bytes,
				 (unsigned long long)stage_bytes(&d->stages[i]));
	}
}

static void channels_count_what_the_stage_sends(void **state) {
	struct random r = {20260204};

	(void)state;
	for (int round = 0; round < 400; round++) {
		struct line d;
		uint64_t now = random_next(&r);

		make(&d, &r);
		for (int step = 0; step < 500; step++) {
			struct scheduler_arrival in = {NULL, 0, random_bytes(&r)};
			enum scheduler_verdict verdict;
			struct scheduler_grant g;

			assert_int_equal(scheduler_enqueue(d.s, now, &in, 1, &verdict), 1);
			while (scheduler_dequeue(d.s, now, &g, 1) == 0)
				now += 100000;
			stage_packet(&d.stages[g.channel], in.bytes + d.header, now);
			assert_counted(&d, round, step);
			now += random_below(&r, 4) == 0 ? 0 : random_below(&r, 50000);
		}
		assert_true(d.stages[0].frames > 1 && d.stages[1].frames > 0);
		scheduler_free(d.s);
	}
}

/* Bytes that one channel counts for packets of these sizes, all at once. */
static uint64_t counted(const struct scheduler_depi *rule, const uint32_t *sizes, size_t n) {
	static const uint32_t list[] = {0};
	const struct scheduler_channel channel = {1000000000000, *rule};
	const struct scheduler_group group = {list, 1};
	const struct scheduler_modem modem = {{0, 0}};
	const struct scheduler_flow flow = {
		.weight = 1, .min_buffer = 100000, .buffer = 100000, .max_buffer = 100000};
	const struct scheduler_config c = {.channels = &channel,
					   .channel_count = 1,
					   .groups = &group,
					   .group_count = 1,
					   .modems = &modem,
					   .modem_count = 1,
					   .flows = &flow,
					   .flow_count = 1,
					   .packet_limit = 100};
	struct scheduler *s = scheduler_create(&c, NULL);
	struct scheduler_channel_report report;
	struct scheduler_grant grants[100];

	assert_non_null(s);
	for (size_t i = 0; i < n; i++) {
		struct scheduler_arrival in = {NULL, 0, sizes[i]};
		enum scheduler_verdict verdict;

		assert_int_equal(scheduler_enqueue(s, 0, &in, 1, &verdict), 1);
	}
	assert_int_equal(scheduler_dequeue(s, 0, grants, 100), n);
	scheduler_report_channel(s, 0, &report);
	scheduler_free(s);
	return report.bytes;
}

/* The edges, counted by hand: a frame of 100 with entries of 2, fragments of 16 at least. */
static void edges_are_where_the_stage_has_them(void **state) {
	struct scheduler_depi rule = {60, 100, 2, 16, 10, 1000};

	(void)state;
	/* 98 fill a frame; 1 more needs another */
	assert_int_equal(counted(&rule, (uint32_t[]){98}, 1), 60 + 2 + 98);
	assert_int_equal(counted(&rule, (uint32_t[]){99}, 1), 2 * (60 + 2) + 99);
	/* after 80 there are 18 left: 16 and their entry, which a longer packet is cut for */
	assert_int_equal(counted(&rule, (uint32_t[]){80, 17}, 2),
			 60 + 2 + 80 + 2 + 16 + 60 + 2 + 1);
	/* after 81 the cut would be 15: all goes to the next frame */
	assert_int_equal(counted(&rule, (uint32_t[]){81, 17}, 2), 60 + 2 + 81 + 60 + 2 + 17);
	/* but one that ends there may be shorter */
	assert_int_equal(counted(&rule, (uint32_t[]){81, 15}, 2), 60 + 2 + 81 + 2 + 15);
	/* with an entry's bytes left a frame is full, with one more it is not */
	assert_int_equal(counted(&rule, (uint32_t[]){96, 1}, 2), 2 * (60 + 2) + 97);
	assert_int_equal(counted(&rule, (uint32_t[]){95, 1}, 2), 60 + 2 + 95 + 2 + 1);
	rule.max_segments = 2;
	assert_int_equal(counted(&rule, (uint32_t[]){1, 1, 1}, 3), 2 * 60 + 3 * 2 + 3);
	rule = (struct scheduler_depi){0};
	assert_int_equal(counted(&rule, (uint32_t[]){98, 1500, 16383}, 3), 98 + 1500 + 16383);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(channels_count_what_the_stage_sends),
		cmocka_unit_test(edges_are_where_the_stage_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

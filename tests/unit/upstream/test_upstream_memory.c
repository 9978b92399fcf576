/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits is bounded, by modem and in all, whatever is sent; the oldest goes first, under its name.
 * And a modem that floods costs the others nothing.
 */

#include "upstream_cases.h"

#define FLOODER FRAMED
#define SAME_MODEM 5 /* another stream of it */
#define LIMIT 65536 /* of a modem */
#define FRAME_BUFFER (RTE_PKTMBUF_HEADROOM + US_FRAME_SIZE)

static uint32_t most_held; /* buffers of the R-PHY port */

static void nothing_seen(void) {
	most_held = 0;
}

/* The counts that the limits are about are those of the buffers. Modems may have `frames` more than their limit. */
static void check_limits(unsigned frames) {
	const struct pending_set *all = &bench->u->pending_set;

	for (unsigned p = 0; p < PENDING_POOLS; p++)
		assert_in_range(all->buffers[p], 0, all->limits[p]);
	for (uint32_t m = 0; m < bench->sg.modem_count; m++)
		assert_in_range(all->modems[m].bytes, 0,
				all->modem_limit + (uint64_t)frames * FRAME_BUFFER);
	assert_in_range(rte_mempool_in_use_count(bench->packets), 0,
			all->limits[PENDING_POOL_PACKETS] + 1);
	most_held = RTE_MAX(most_held, all->buffers[PENDING_POOL_PACKETS]);
}

static void settle(void) {
	bench_settle();
	check_limits(0);
}

EACH_CASE(nothing_seen)

/* Packets of four bursts each, and in each burst a segment that is ahead: what the bursts were when packets
 * waited, the segments are after the same round. */
CASE(segments_keep_to_the_limit_each_round, .held_by_modem = 8388608, .pending = LIMIT) {
	static const uint8_t bytes[20] = {0xff};
	uint8_t payload[SEGMENT_HEADER_SIZE + sizeof(bytes)];
	struct bench_psp p;

	for (unsigned i = 0; i < 60; i++) {
		psp_open(&p, BENCH_SC_QAM);
		for (unsigned s = 0; s < 4; s++) {
			static const unsigned streams[] = {0, FLOODER, 7, 8};
			struct segment_header h = {.sid_cluster = bench_streams[streams[s]].cluster,
						   .sequence = (uint16_t)(2 * i)};

			segment_header_write(&h, payload);
			memcpy(payload + SEGMENT_HEADER_SIZE, bytes, sizeof(bytes));
			psp_add_header(&p, bench_streams[streams[s]].sid);
			psp_add(&p, false, false, payload, sizeof(payload));
			psp_add_trailer(&p);
		}
		psp_send(&p);
	}
	for (int round = 0; round < 20; round++) {
		bench_round();
		assert_in_range(bench->u->pending_set.buffers[PENDING_POOL_PACKETS], 0,
				bench->u->pending_set.limits[PENDING_POOL_PACKETS]);
		most_held = RTE_MAX(most_held, bench->u->pending_set.buffers[PENDING_POOL_PACKETS]);
	}
	assert_in_range(most_held, US_BURST_PIECES - 4, US_BURST_PIECES);
	bench->any_drops = true;
}

static uint64_t drops(enum drop_reason reason) {
	return bench->u->counters.drops[reason];
}

/* What a round leaves above the limit is to be ended by the next one, which a worker must not sleep over. */
CASE(a_worker_comes_back, .lossy = true, .held_by_modem = FRAME_BUFFER) {
	uint8_t bytes[BENCH_FRAME_MAX];

	for (unsigned i = 0; i < 2; i++) { /* the first is as much as there may be */
		unsigned stream = i == 0 ? FLOODER : SAME_MODEM;

		bench_mac(stream, 500, bytes);
		bench_segment(stream, 0, bytes, 100);
		bench_round();
		assert_int_equal(upstream_busy(bench->u), i > 0);
		assert_int_equal(pipeline_due(&bench->u->list) == 0, i > 0);
	}
	bench_round();
	assert_false(upstream_busy(bench->u));
	bench_dropped(DROP_FRAME_LIMIT, 1);
}

/* The oldest of a modem's first: by the time when the wait began. */
CASE(oldest_of_a_modem, .lossy = true, .held_by_modem = 2 * FRAME_BUFFER) {
	uint8_t bytes[BENCH_FRAME_MAX];

	for (unsigned stream = 0; stream < 3; stream++) { /* all of modem 0 */
		bench_mac(stream, 500, bytes);
		bench_handle(stream, bytes, 100);
		bench_after(BENCH_MS);
	}
	bench_dropped(DROP_FRAME_LIMIT, 1);
	for (unsigned stream = 0; stream < 3; stream++) {
		bench->serial[stream]--;
		bench_mac(stream, 500, bytes);
		bench_handle_rest(stream, bytes + 100, 300);
	}
	bench_dropped(DROP_SEGMENT_ORPHAN, 1); /* stream 0 */
	assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), 2);
}

/* Of all that waits in buffers of packets: an open burst, and then packets, and then one more burst. A frame that waits
 * longer has buffers of another pool. */
CASE(oldest_of_all, .pending = LIMIT) {
	static const uint8_t bytes[100];
	uint8_t frame[BENCH_FRAME_MAX];

	bench_mac(FLOODER, 500, frame);
	bench_handle(FLOODER, frame, 100);
	bench_after(BENCH_MS);
	for (unsigned turn = 0; turn < 2; turn++) {
		struct bench_psp p;

		bench_open_burst(&p, BENCH_SC_QAM, 0x30);
		psp_add(&p, false, false, bytes, sizeof(bytes));
		bench_handle_packet(&p);
		bench_after(BENCH_MS);
		for (uint16_t number = 0; turn == 0 && number <= US_PSP_WINDOW + 1; number++) {
			for (uint8_t flow = 0; flow < 2 && number != 1; flow++)
				bench_put_number(BENCH_OFDMA, flow, number);
		}
		settle();
		assert_int_equal(drops(DROP_BURST_LIMIT), 1);
		assert_int_equal(bench_count(COUNTER_PSP_GAPS), turn);
	}
	assert_int_equal(most_held, US_BURST_PIECES); /* LIMIT is less */
	assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), 1);
	bench->any_drops = true;
}

/* Random nonsense of a modem. */
static void flood(struct random *r) {
	struct segment_header h = {
		.pointer_valid = random_below(r, 2),
		.pointer = (uint16_t)random_below(r, 300),
		.sequence = (uint16_t)random_next(r),
		.sid_cluster = bench_streams[FLOODER].cluster,
		.request = 9,
	};
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = bench_mac(FLOODER, 400, bytes);

	bench->serial[FLOODER]--;
	switch (random_below(r, 4)) {
	case 0: bench_segment_as(FLOODER, &h, bytes, random_below(r, 300)); break;
	case 1:
		bench->segment[FLOODER] += 2;
		bench_segment(FLOODER, 0, bytes, random_between(r, 1, (uint32_t)size - 1));
		break;
	case 2:
		bench->segment[SAME_MODEM]++;
		bench_segment(SAME_MODEM, BENCH_NO_POINTER, bytes, random_below(r, 300));
		break;
	default:
		size = bench_fragment(SAME_MODEM, random_below(r, 16), random_below(r, 2),
				      bytes + 1000, random_between(r, 1, 900), bytes);
		bench_segment(SAME_MODEM, 0, bytes, size);
	}
}

/* Three others, each with a frame that spans segments, now and then a segment out of order. */
static void good_traffic(struct random *r) {
	static const unsigned streams[] = {7, 8, PLAIN};
	uint8_t bytes[3][2 * BENCH_FRAME_MAX];

	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		unsigned s = streams[i];
		uint32_t size = (uint32_t)bench_mac(s, random_between(r, 60, 1500), bytes[i]);
		uint32_t cut = random_between(r, 1, size - 1);

		if (s == PLAIN) {
			bench_plain(s, bytes[i], size);
			continue;
		}
		if (random_below(r, 4) == 0 && bench->segment[s] > 0) {
			bench->segment[s]++; /* the second half first */
			bench_segment(s, BENCH_NO_POINTER, bytes[i] + cut, size - cut);
			bench->segment[s] -= 2;
			bench_segment(s, 0, bytes[i], cut);
			bench->segment[s]++;
			continue;
		}
		bench_segment(s, 0, bytes[i], cut);
		bench_segment(s, BENCH_NO_POINTER, bytes[i] + cut, size - cut);
	}
}

CASE(a_flood_harms_nobody_else, .held_by_modem = LIMIT, .pending = 4 * LIMIT) {
	struct random r = {.state = 99};

	for (int round = 0; round < 1500; round++) {
		for (int i = 0; i < 60; i++) {
			flood(&r);
			if (i % 8 == 7)
				bench_round();
		}
		good_traffic(&r);
		bench_round();
		check_limits(PIPELINE_BURST); /* behind the row `expire` of that round */
		settle();
		bench->clock.now += 100000;
	}
	for (int i = 0; i < 50; i++)
		bench_after(10 * BENCH_MS);
	bench_complete(7);
	bench_complete(8);
	bench_complete(PLAIN);
	assert_int_equal(bench->serial[7], 1500);
	assert_true(drops(DROP_FRAME_LIMIT) > 0 || drops(DROP_FRAME_GAP) > 1000);
	assert_int_equal(drops(DROP_FRAME_NO_BUFFER) + drops(DROP_BURST_NO_BUFFER), 0);
	bench->any_drops = true;
}

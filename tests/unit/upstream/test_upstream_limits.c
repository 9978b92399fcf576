/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the limits of pending buffers, per modem and in all: the oldest are dropped first, with a
 * reason of their own. A modem that floods the upstream costs other modems nothing. */

#include "upstream_cases.h"

#define FLOODER SEGMENTED
#define SAME_MODEM 5 /* another stream of modem 2 */
#define LIMIT 65536 /* bytes per modem */
#define FRAME_BUFFER (RTE_PKTMBUF_HEADROOM + US_FRAME_SIZE)

static uint32_t max_pending; /* highest number of pending buffers of the R-PHY port */

static void reset_max_pending(void) {
	max_pending = 0;
}

/* Checks the pending buffers against limits and pools. Modems may exceed theirs by `frames`. */
static void check_limits(unsigned frames) {
	const struct pending_set *all = &kit->u->pending_set;

	for (unsigned p = 0; p < PENDING_POOLS; p++)
		assert_in_range(all->buffers[p], 0, all->limits[p]);
	for (uint32_t m = 0; m < kit->sg.modem_count; m++)
		assert_in_range(all->modems[m].bytes, 0,
				all->modem_limit + (uint64_t)frames * FRAME_BUFFER);
	assert_in_range(rte_mempool_in_use_count(kit->packets), 0,
			all->limits[PENDING_POOL_PACKETS] + 1);
	max_pending = RTE_MAX(max_pending, all->buffers[PENDING_POOL_PACKETS]);
}

static void settle_and_check(void) {
	kit_settle();
	check_limits(0);
}

BEFORE_EACH_CASE(reset_max_pending)

/* Each packet has four bursts, and each burst an early segment. The pending packets become pending
 * segments in one round, which must keep the limit. */
CASE(early_segments_stay_within_limit, .modem_pending_limit = 8388608, .pending = LIMIT) {
	static const uint8_t bytes[20] = {0xff};
	uint8_t payload[SEGMENT_HEADER_SIZE + sizeof(bytes)];
	struct psp_packet p;

	for (unsigned i = 0; i < 60; i++) {
		psp_begin(&p, KIT_SC_QAM);
		for (unsigned s = 0; s < 4; s++) {
			static const unsigned streams[] = {0, FLOODER, 7, 8};
			struct segment_header h = {.sid_cluster = kit_streams[streams[s]].cluster,
						   .sequence = (uint16_t)(2 * i)};

			segment_header_write(&h, payload);
			memcpy(payload + SEGMENT_HEADER_SIZE, bytes, sizeof(bytes));
			psp_add_header(&p, kit_streams[streams[s]].sid);
			psp_add_segment(&p, false, false, payload, sizeof(payload));
			psp_add_trailer(&p);
		}
		psp_send(&p);
	}
	for (int round = 0; round < 20; round++) {
		kit_run_round();
		assert_in_range(kit->u->pending_set.buffers[PENDING_POOL_PACKETS], 0,
				kit->u->pending_set.limits[PENDING_POOL_PACKETS]);
		max_pending =
			RTE_MAX(max_pending, kit->u->pending_set.buffers[PENDING_POOL_PACKETS]);
	}
	assert_in_range(max_pending, US_BURST_PIECES - 4, US_BURST_PIECES);
	kit->ignore_drops = true;
}

static uint64_t drops(enum drop_reason reason) {
	return kit->u->counters.drops[reason];
}

/* The next round drops what exceeds the limit, so the worker must not sleep before it. */
CASE(excess_keeps_worker_busy, .lossy = true, .modem_pending_limit = FRAME_BUFFER) {
	uint8_t bytes[KIT_FRAME_MAX];

	for (unsigned i = 0; i < 2; i++) { /* the first one just reaches the limit */
		unsigned stream = i == 0 ? FLOODER : SAME_MODEM;

		kit_next_frame(stream, 500, bytes);
		kit_send_segment(stream, 0, bytes, 100);
		kit_run_round();
		assert_int_equal(upstream_busy(kit->u), i > 0);
		assert_int_equal(pipeline_due(&kit->u->list) == 0, i > 0);
	}
	kit_run_round();
	assert_false(upstream_busy(kit->u));
	kit_check_dropped(DROP_FRAME_LIMIT, 1);
}

/* The oldest pending frame of a modem is dropped first. */
CASE(modem_limit_drops_oldest_frame, .lossy = true, .modem_pending_limit = 2 * FRAME_BUFFER) {
	uint8_t bytes[KIT_FRAME_MAX];

	for (unsigned stream = 0; stream < 3; stream++) { /* all of modem 0 */
		kit_next_frame(stream, 500, bytes);
		kit_process(stream, bytes, 100);
		kit_advance(KIT_MS);
	}
	kit_check_dropped(DROP_FRAME_LIMIT, 1);
	for (unsigned stream = 0; stream < 3; stream++) {
		kit->serial[stream]--;
		kit_next_frame(stream, 500, bytes);
		kit_process_tail(stream, bytes + 100, 300);
	}
	kit_check_dropped(DROP_SEGMENT_ORPHAN, 1); /* stream 0 */
	assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), 2);
}

/* The oldest pending packet buffers are dropped first: an open burst, then packets. An older frame
 * is in buffers of another pool. */
CASE(pool_limit_drops_oldest, .pending = LIMIT) {
	static const uint8_t bytes[100];
	uint8_t frame[KIT_FRAME_MAX];

	kit_next_frame(FLOODER, 500, frame);
	kit_process(FLOODER, frame, 100);
	kit_advance(KIT_MS);
	for (unsigned step = 0; step < 2; step++) {
		struct psp_packet p;

		kit_begin_burst(&p, KIT_SC_QAM, 0x30);
		psp_add_segment(&p, false, false, bytes, sizeof(bytes));
		kit_process_packet(&p);
		kit_advance(KIT_MS);
		for (uint16_t number = 0; step == 0 && number <= US_PSP_WINDOW + 1; number++) {
			for (uint8_t flow = 0; flow < 2 && number != 1; flow++)
				kit_send_empty_packet(KIT_OFDMA, flow, number);
		}
		settle_and_check();
		assert_int_equal(drops(DROP_BURST_LIMIT), 1);
		assert_int_equal(kit_counter(COUNTER_PSP_GAPS), step);
	}
	assert_int_equal(max_pending, US_BURST_PIECES); /* LIMIT is less */
	assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), 1);
	kit->ignore_drops = true;
}

/* Sends a random invalid segment of one modem. */
static void send_flood(struct random *r) {
	struct segment_header h = {
		.pointer_valid = random_below(r, 2),
		.pointer = (uint16_t)random_below(r, 300),
		.sequence = (uint16_t)random_next(r),
		.sid_cluster = kit_streams[FLOODER].cluster,
		.request = 9,
	};
	uint8_t bytes[KIT_FRAME_MAX];
	size_t size = kit_next_frame(FLOODER, 400, bytes);

	kit->serial[FLOODER]--;
	switch (random_below(r, 4)) {
	case 0: kit_send_segment_as(FLOODER, &h, bytes, random_below(r, 300)); break;
	case 1:
		kit->segment[FLOODER] += 2;
		kit_send_segment(FLOODER, 0, bytes, random_between(r, 1, (uint32_t)size - 1));
		break;
	case 2:
		kit->segment[SAME_MODEM]++;
		kit_send_segment(SAME_MODEM, KIT_NO_POINTER, bytes, random_below(r, 300));
		break;
	default:
		size = kit_write_fragment(SAME_MODEM, random_below(r, 16), random_below(r, 2),
					  bytes + 1000, random_between(r, 1, 900), bytes);
		kit_send_segment(SAME_MODEM, 0, bytes, size);
	}
}

/* Sends a frame of each of three other modems, in segments that are sometimes out of order. */
static void send_good_frames(struct random *r) {
	static const unsigned streams[] = {7, 8, PLAIN};
	uint8_t bytes[3][2 * KIT_FRAME_MAX];

	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		unsigned s = streams[i];
		uint32_t size = (uint32_t)kit_next_frame(s, random_between(r, 60, 1500), bytes[i]);
		uint32_t split = random_between(r, 1, size - 1);

		if (s == PLAIN) {
			kit_send_plain(s, bytes[i], size);
			continue;
		}
		if (random_below(r, 4) == 0 && kit->segment[s] > 0) {
			kit->segment[s]++; /* the second half first */
			kit_send_segment(s, KIT_NO_POINTER, bytes[i] + split, size - split);
			kit->segment[s] -= 2;
			kit_send_segment(s, 0, bytes[i], split);
			kit->segment[s]++;
			continue;
		}
		kit_send_segment(s, 0, bytes[i], split);
		kit_send_segment(s, KIT_NO_POINTER, bytes[i] + split, size - split);
	}
}

CASE(flood_drops_nothing_of_other_modems, .modem_pending_limit = LIMIT, .pending = 4 * LIMIT) {
	struct random r = {.state = 99};

	for (int round = 0; round < 1500; round++) {
		for (int i = 0; i < 60; i++) {
			send_flood(&r);
			if (i % 8 == 7)
				kit_run_round();
		}
		send_good_frames(&r);
		kit_run_round();
		check_limits(PIPELINE_BURST); /* pending since the stage `expire` */
		settle_and_check();
		kit->clock.now += 100000;
	}
	for (int i = 0; i < 50; i++)
		kit_advance(10 * KIT_MS);
	kit_check_complete(7);
	kit_check_complete(8);
	kit_check_complete(PLAIN);
	assert_int_equal(kit->serial[7], 1500);
	assert_true(drops(DROP_FRAME_LIMIT) > 0 || drops(DROP_FRAME_GAP) > 1000);
	assert_int_equal(drops(DROP_FRAME_NO_BUFFER) + drops(DROP_BURST_NO_BUFFER), 0);
	kit->ignore_drops = true;
}

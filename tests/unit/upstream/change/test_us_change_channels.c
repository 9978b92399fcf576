/* SPDX-License-Identifier: BSD-3-Clause */
/* Upstream channels and their sessions, and what a group has but once. */
#include "us_change_kit.h"

#define SC_QAM 0 /* channel of BENCH_SC_QAM */
#define OFDMA 1
#define ALONE 2

static struct upstream_channel next[3];

static void copy(unsigned channel) {
	next[channel] = bench->sg.upstream_channels[channel];
}

/* With an open burst in each flow, and more behind gaps than a step may free: it takes several, and rounds between them
 * see nothing odd. */
CASE(channel_goes_in_the_midst, .prepare = with_room) {
	enum { FLOWS = PSP_FLOW_MAX + 1, WAITING = 31 };
	unsigned steps = 1, slots;
	struct us_change *c;
	struct bench_psp p;

	slots = bench_windows_free();
	for (uint8_t f = 0; f < FLOWS; f++) {
		for (uint16_t i = 0; i <= WAITING; i++) {
			bench_open_burst(&p, BENCH_SC_QAM, bench_streams[PLAIN].sid);
			p.flow = f;
			p.numbered = true;
			p.sequence = i > 0 ? i + 1 : 0;
			psp_send(&p);
		}
		bench_settle();
	}
	assert_int_equal(upstream_pending(bench->u, UNIT_BURST), FLOWS);
	assert_int_equal(upstream_pending(bench->u, UNIT_PACKET), FLOWS * WAITING);
	assert_int_equal(bench_windows_free(), slots - FLOWS);
	will_be(LIVE_UPSTREAM_CHANNEL, SC_QAM, NULL);
	c = begin();
	for (; !us_change_apply(c); steps++) {
		assert_true(upstream_pending(bench->u, UNIT_PACKET) > 0);
		bench_round();
	}
	assert_int_equal(steps, 2);
	nothing_held();
	assert_int_equal(bench_windows_free(), slots);
	bench_expect(DROP_PACKET_SESSION_REMOVED, FLOWS * WAITING);
	bench_expect(DROP_BURST_SESSION_REMOVED, FLOWS);
	pass_and_finish(c);
	drops(PLAIN, DROP_UNKNOWN_SESSION);
	change_to(LIVE_UPSTREAM_CHANNEL, SC_QAM, &bench->sg.upstream_channels[SC_QAM]);
	whole(PLAIN); /* the numbers begin where they like */
}

/* The rest of the channel goes on: orders, an open burst. */
CASE(request_session_goes_and_comes, .prepare = with_room) {
	struct bench_psp p;
	uint8_t frame[BENCH_FRAME_MAX], record[64];
	struct uepi_request r = {.sid = bench_streams[2].sid, .size = 2};
	size_t size;

	bench_open_burst(&p, BENCH_OFDMA, bench_streams[2].sid);
	bench_handle_packet(&p);
	assert_int_equal(upstream_pending(bench->u, UNIT_BURST), 1);
	assert_true(us_request_is_repeated(&bench->u->requests, OFDMA));
	copy(OFDMA);
	next[OFDMA].request_session = 0;
	change_to(LIVE_UPSTREAM_CHANNEL, OFDMA, &next[OFDMA]);
	assert_false(us_request_is_repeated(&bench->u->requests, OFDMA));
	assert_int_equal(upstream_pending(bench->u, UNIT_BURST), 1);
	segment_header_write(&(struct segment_header){.pointer_valid = true}, frame);
	size = bench_mac(2, SIZE, frame + SEGMENT_HEADER_SIZE);
	psp_open(&p, BENCH_OFDMA);
	psp_add(&p, false, false, frame, SEGMENT_HEADER_SIZE + size);
	psp_add_trailer(&p);
	bench_handle_packet(&p);
	bench_complete(2);
	psp_open(&p, BENCH_REQUESTS);
	psp_add(&p, true, true, record, uepi_request_write(UEPI_OFDMA, &r, record));
	bench_handle_packet(&p);
	bench_expect(DROP_UNKNOWN_SESSION, 1);
	change_to(LIVE_UPSTREAM_CHANNEL, OFDMA, &bench->sg.upstream_channels[OFDMA]);
	bench_handle_packet(&p);
	assert_int_equal(bench->u->requests.sink.by_kind[REQUEST_RECORD], 1);
}

/* Two channels of one format take each other's session: none is unknown at any time. */
CASE(sessions_change_hands, .prepare = with_room) {
	struct places_seen before;
	struct us_change *c;
	uint64_t segments;

	before = places_now();
	copy(OFDMA);
	copy(ALONE);
	next[OFDMA].session = BENCH_OFDMA_ALONE;
	next[ALONE].session = BENCH_OFDMA;
	will_be(LIVE_UPSTREAM_CHANNEL, OFDMA, &next[OFDMA]);
	will_be(LIVE_UPSTREAM_CHANNEL, ALONE, &next[ALONE]);
	c = begin();
	do {
		bench_burst(BENCH_OFDMA, 0x12, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
		bench_burst(BENCH_OFDMA_ALONE, 0x31, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
		bench_round();
	} while (!us_change_apply(c));
	pass_and_finish(c);
	places_are(before);
	bench_settle();
	assert_int_equal(bench->u->counters.drops[DROP_UNKNOWN_SESSION], 0);
	/* SID 0x12 is one of channel OFDMA, which has the other session now */
	bench->any_drops = true;
	segments = bench_count(COUNTER_SEGMENTS);
	bench_burst(BENCH_OFDMA_ALONE, 0x12, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9);
	bench_settle();
	assert_int_equal(bench_count(COUNTER_SEGMENTS), segments + 1);
}

CASE(type_differs, .prepare = with_room) {
	struct places_seen before;

	before = places_now();
	whole(PLAIN);
	for (unsigned i = 0; i < 301; i++) {
		if (i == 300)
			passes(PLAIN);
		copy(SC_QAM);
		next[SC_QAM].type = i & 1 ? UPSTREAM_SC_QAM : UPSTREAM_OFDMA;
		change_to(LIVE_UPSTREAM_CHANNEL, SC_QAM, &next[SC_QAM]);
		places_are(before);
	}
	whole(PLAIN); /* a header of SC-QAM is none of OFDMA */
	bench->any_drops = true;
	assert_int_equal(bench->came[PLAIN], bench->serial[PLAIN] - 1);
}

CASE(group_differs, .prepare = with_room) {
	static struct service_group group;
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size;

	group = bench->sg;
	group.upstream.verify_source = false;
	group.upstream.verify_crc = false;
	group.upstream.frame_timeout_ns = 7 * BENCH_MS;
	group.upstream.reorder_timeout_ns = 3 * BENCH_MS;
	group.upstream.held_by_modem = 4096;
	group.upstream.pending /= 2;
	group.max_frame = SIZE + 3;
	change_to(LIVE_GROUP, 0, &group);
	assert_int_equal(bench->u->pending_set.timeouts[PENDING_CLASS_SEGMENTS], 6 * BENCH_MS);
	assert_int_equal(bench->u->pending_set.modem_limit, 4096);
	assert_int_equal(bench->u->pending_set.limits[PENDING_POOL_PACKETS],
			 group.upstream.pending / us_packet_size(&group));
	drops(PLAIN, DROP_FRAME_TOO_LONG);
	group.max_frame = 2000;
	change_to(LIVE_GROUP, 0, &group);
	size = bench_mac(PLAIN, SIZE, frame);
	frame[size - 1] ^= 1; /* of the CRC, which is not asked for */
	bench_handle(PLAIN, frame, size);
	bench_complete(PLAIN);
	bench->modems[3].addresses = bench->modems[4].addresses;
	passes(PLAIN);
	bench_handle(FRAMED, frame, bench_mac(FRAMED, SIZE, frame) - 20);
	bench_after(7 * BENCH_MS);
	lost(FRAMED, DROP_FRAME_TIMEOUT, 1);
	change_to(LIVE_GROUP, 0, &bench->sg);
	drops(PLAIN, DROP_SOURCE_ADDRESS);
}

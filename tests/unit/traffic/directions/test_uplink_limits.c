/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What holds the upstream's sender up, and what it remembers. What it counts is held against a decoder in
 * tests/e2e/replay/test_replay_upstream_traffic.py.
 */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#define DEPTH 64 /* packets that the wire holds */

#include "test_main.h"
#include "uplink_kit.h"
#include "wire/docsis_mac.h"
#include "wire/segment.h"

static int open_rig(void **state) {
	rig.depth = DEPTH;
	return uplink_kit_open(state);
}

static void send_rounds(unsigned n) {
	while (n-- > 0)
		uplink_send(rig.uplink, rte_rdtsc());
}

TEST(a_full_port) {
	for (unsigned drop = 0; drop < 2; drop++) {
		struct uplink_counts counts;
		uint64_t made;

		uplink_kit_end(state);
		uplink_kit_begin(state);
		uplink_kit_start("upstream-imix", 0);
		uplink_wire(rig.uplink, NULL, drop, rte_rdtsc());
		send_rounds(20);
		made = uplink_kit_made();
		assert_true(drop || uplink_sent(rig.uplink) < made);
		uplink_stop(rig.uplink);
		send_rounds(drop ? 20 : 1);
		assert_int_equal(uplink_empty(rig.uplink), drop);
		uplink_counts(rig.uplink, &counts);
		assert_in_range(counts.packets, DEPTH - 1, DEPTH);
		assert_true(counts.backpressure > 10);
		if (drop)
			assert_int_equal(uplink_kit_receive(), counts.packets);
		uplink_kit_run(0);
		assert_int_equal(uplink_sent(rig.uplink), uplink_kit_made());
		assert_true(drop || uplink_kit_made() == made);
	}
}

/* Times are known of what was sent, not of what waits, nor of what is long ago. */
static void times_check(uint64_t begin) {
	uint64_t times = 0, old = 0;

	for (uint32_t s = 0; s < UPLINK_KIT_STREAMS; s++) {
		uint32_t made = uplink_made(rig.uplink, s);

		assert_true(made > 0);
		for (uint32_t n = 0; n < made; n++) {
			uint64_t at = uplink_sent_at(rig.uplink, s, n);

			times += at != 0;
			assert_true(at == 0 || (n + 256 >= made && at > begin && at < rte_rdtsc()));
		}
		assert_int_equal(uplink_sent_at(rig.uplink, s, made), 0);
		old += made > 256 ? made - 256 : 0;
	}
	assert_int_equal(times + old, uplink_sent(rig.uplink));
	assert_true(times + old < uplink_kit_made()); /* the port is full */
}

TEST(times_of_sending_are_remembered) {
	uint64_t begin = rte_rdtsc();

	uplink_kit_start("84", 0);
	assert_int_equal(uplink_sent_at(rig.uplink, 0, 0), 0); /* not made */
	while (uplink_made(rig.uplink, 0) < 50)
		send_rounds(1);
	send_rounds(5);
	times_check(begin);
	while (uplink_made(rig.uplink, 2) < 600) {
		send_rounds(1);
		uplink_kit_receive();
	}
	send_rounds(10);
	times_check(begin);
}

TEST(the_rate_is_kept) {
	const uint64_t rate = 400000000;
	uint64_t hz = rte_get_tsc_hz(), begin = hz; /* on a clock of our own */
	uint64_t expected = rate / 8 / 20;

	uplink_kit_start("upstream-imix", rate);
	uplink_begin(rig.uplink, begin);
	for (uint64_t now = begin; now < begin + hz / 20; now += hz / 200000) {
		uplink_send(rig.uplink, now);
		uplink_kit_receive();
	}
	/* One grant more, and what is left for the next ones. */
	assert_in_range(uplink_sent_bytes(rig.uplink), expected - expected / 1000 - 7 * 2000,
			expected + expected / 1000 + 2000);
	uplink_kit_run(0);
	uplink_kit_check(UPLINK_GRANT);
}

/* At 1 kbps one grant is given, whose last packets wait for more until rphy.flush has passed. */
TEST(open_packets_are_flushed) {
	uint64_t us = rte_get_tsc_hz() / 1000000, begin = 1000 * us;

	rig.sg.upstream.frame_timeout_ns = 3600000000000; /* at this rate, too, grants are full */
	uplink_kit_start("upstream-imix", 1000);
	uplink_begin(rig.uplink, 0);
	assert_int_equal(uplink_send(rig.uplink, begin), 1); /* the full one */
	assert_in_range(uplink_kit_made(), 2, 26);
	assert_int_equal(uplink_send(rig.uplink, begin + 49 * us), 0);
	/* The rest of the burst, the request record, the RNG-REQ. */
	assert_int_equal(uplink_send(rig.uplink, begin + 51 * us), 3);
	assert_int_equal(uplink_send(rig.uplink, begin + 200 * us), 0);
	uplink_kit_receive();
	assert_int_equal(rig.came.record_count, 1);
	assert_int_equal(rig.came.burst_count, 2);
	assert_int_equal(rig.came.bursts[0]->size, UPLINK_GRANT);
	uplink_stop(rig.uplink);
	/* At the end nothing waits. */
	for (int round = 0; round < 2; round++)
		uplink_send(rig.uplink, begin + 201 * us);
	assert_true(uplink_empty(rig.uplink));
	uplink_kit_receive();
	/* The last grant has the size of what was left. */
	assert_true(rig.came.bursts[rig.came.burst_count - 1]->size < UPLINK_GRANT);
}

/* Modem 0's first: RNG-REQ and queue-depth request of 34 and 7 bytes, one frame of 1,999. */
TEST(a_grant_may_be_filled_exactly) {
	const struct rig_burst *first = NULL;
	const struct uepi_request *request = NULL;
	struct segment_header header;

	uplink_kit_start("1985", 0);
	uplink_kit_run(100);
	uplink_kit_check(UPLINK_GRANT);
	for (size_t i = rig.came.burst_count; i > 0; i--) {
		if (rig.came.bursts[i - 1]->channel == 0 &&
		    rig.came.bursts[i - 1]->kind == RIG_DATA)
			first = rig.came.bursts[i - 1];
	}
	assert_non_null(first);
	assert_int_equal(first->header.sid, 0x10);
	assert_int_equal(first->size, UPLINK_GRANT);
	assert_int_equal(segment_header_parse(first->payload, first->size, &header), SEGMENT_OK);
	assert_int_equal(header.request, 0);
	for (size_t i = 0; i < rig.came.record_count; i++) {
		if (rig.came.records[i].start_minislot == first->header.start_minislot &&
		    rig.came.records[i].sid == 0x10)
			request = &rig.came.records[i];
	}
	assert_non_null(request);
	assert_int_equal(request->size, UPLINK_GRANT / 4);
	assert_true(request->n_bytes && !request->piggyback);
}

static void discard(void) {
	struct rte_mbuf *packets[DEPTH];
	unsigned n = rte_eth_rx_burst(rig.ports[1], 0, packets, DEPTH);

	if (n > 0)
		rte_pktmbuf_free_bulk(packets, n);
}

/* Every 4,096th grant has management in it, which may be cut as well; it is no packet. */
TEST(management_may_span_grants) {
	struct uplink_counts counts;

	rig.sg.modem_count = 1;
	rig.uplink = uplink_kit_create("1280", 0, 1000);
	while (!uplink_empty(rig.uplink)) {
		if (uplink_kit_made() >= 200000)
			uplink_stop(rig.uplink);
		send_rounds(1);
		discard();
	}
	uplink_counts(rig.uplink, &counts);
	assert_int_equal(uplink_sent(rig.uplink), uplink_kit_made());
	assert_int_equal(uplink_sent_bytes(rig.uplink), uplink_sent(rig.uplink) * 1280);
	/* One in the stream, unless the rest of a frame fills the grant, and one on channel 0. */
	assert_in_range(counts.management, counts.segments / 4096 / 2,
			2 * (counts.segments / 4096 + 1));
}

static const struct {
	const char *name, *mix;
	uint32_t mtu, grant, modems; /* 0: as they are */
	uint64_t packets;
	uint32_t most_ends, segments,
		most_segments; /* in a packet: most ends of bursts, from and to; 0: any */
	uint32_t longest; /* at least */
} packings[] = {
	{"large packets", "upstream-imix", 9000, UPLINK_GRANT, 0, 3000, 0, 12, 255, 8901},
	/* Records of 16 bytes fill the table of segments, which has 255 entries, before the packet is full. */
	{"a full table", "84", 9000, UPLINK_GRANT, 1, 24 * 800, 0, 255, 255, 0},
	/* Of 30 bursts for which it has room, in all of which packets end. */
	{"a packet tells of few bursts", "82", 9000, 256, 1, 600, 16, 0, 255, 0},
};

TEST(bursts_are_packed) {
	for (size_t i = 0; i < ARRAY_COUNT(packings); i++) {
		print_message("  %s\n", packings[i].name);
		uplink_kit_end(state);
		uplink_kit_begin(state);
		rig.sg.rphy.mtu = packings[i].mtu;
		rig.sg.rphy.flush_ns = 10000000000;
		if (packings[i].modems > 0)
			rig.sg.modem_count = packings[i].modems;
		rig.uplink = uplink_kit_create(packings[i].mix, 0, packings[i].grant);
		uplink_kit_run(packings[i].packets);
		if (packings[i].packets < 10000)
			uplink_kit_check(packings[i].grant);
		assert_in_range(rig.came.most_segments, packings[i].segments,
				packings[i].most_segments);
		assert_true(rig.came.longest >= packings[i].longest);
		if (packings[i].most_ends > 0)
			assert_int_equal(rig.came.most_ends, packings[i].most_ends);
	}
}

TEST(bursts_fit_their_grants) {
	static const char *const mixes[] = {"1996", "82", "82:1,1996:1", "94,95,96,97,1000"};
	static const uint32_t grants[] = {256, 300, 1000, 2014, UPLINK_GRANT, 4096};

	for (size_t i = 0; i < ARRAY_COUNT(mixes) * ARRAY_COUNT(grants); i++) {
		uint32_t grant = grants[i / ARRAY_COUNT(mixes)];

		uplink_kit_end(state);
		uplink_kit_begin(state);
		rig.uplink = uplink_kit_create(mixes[i % ARRAY_COUNT(mixes)], 0, grant);
		assert_non_null(rig.uplink);
		uplink_kit_run(500);
		uplink_kit_check(grant);
	}
}

/* The first burst of a SID, and where its frames begin. */
static const struct rig_burst *first_of(uint16_t sid, bool segments, size_t *at) {
	struct segment_header h = {0};

	*at = segments ? SEGMENT_HEADER_SIZE : 0;
	for (size_t i = 0; i < rig.came.burst_count; i++) {
		const struct rig_burst *b = rig.came.bursts[i];

		if (b->kind != RIG_DATA || b->header.sid != sid)
			continue;
		if (segments)
			assert_int_equal(segment_header_parse(b->payload, b->size, &h), SEGMENT_OK);
		if (h.sequence == 0)
			return b;
	}
	fail_msg("no burst of SID 0x%x", sid);
	return NULL;
}

TEST(each_modem_ranges_and_asks_first) {
	static const struct {
		uint16_t sid; /* of a modem's first stream */
		bool segments;
	} modems[] = {{0x10, true}, {0x20, false}, {0x30, true}, {0x3ffe, false}, {0x60, false}};
	unsigned rangings = 0;

	uplink_kit_start("upstream-imix", 0);
	uplink_kit_run(1000);
	for (size_t m = 0; m < ARRAY_COUNT(modems); m++) {
		unsigned kinds[DOCSIS_KIND_CONCATENATION + 1] = {0};
		struct docsis_mac mac;
		const struct rig_burst *b;
		size_t at;

		b = first_of(modems[m].sid, modems[m].segments, &at);
		while (at < b->size &&
		       docsis_mac_parse(b->payload + at, b->size - at, &mac) == DOCSIS_OK) {
			kinds[mac.kind]++;
			at += mac.frame_size;
		}
		assert_int_equal(kinds[DOCSIS_KIND_MANAGEMENT], modems[m].segments);
		assert_int_equal(kinds[DOCSIS_KIND_QUEUE_REQUEST], modems[m].segments);
		assert_int_equal(kinds[DOCSIS_KIND_REQUEST], !modems[m].segments);
	}
	for (size_t i = 0; i < rig.came.burst_count; i++)
		rangings += rig.came.bursts[i]->kind == RIG_RANGING;
	assert_int_equal(rangings, 3); /* on the channel that has a session for it */
}

EACH_TEST(uplink_kit_begin, uplink_kit_end)
ALL_TESTS(open_rig, uplink_kit_close)

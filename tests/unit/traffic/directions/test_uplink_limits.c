/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the uplink: full ports, send times, rate, flush of partial packets, and bursts within
 * grants. tests/e2e/replay/test_replay_upstream_traffic.py compares its counters with a
 * decoder's. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#define DEPTH 64 /* capacity of the ports' rings, packets */

#include "refused/kinds.h"
#include "test_main.h"
#include "uplink_kit.h"
#include "wire/docsis_mac.h"
#include "wire/segment.h"

static int open_rig(void **state) {
	rig.ring_size = DEPTH;
	return uplink_kit_open(state);
}

static void send_rounds(unsigned n) {
	while (n-- > 0)
		uplink_send(rig.uplink, rte_rdtsc());
}

TEST(full_port_waits_or_drops) {
	for (unsigned drop = 0; drop < 2; drop++) {
		struct uplink_counts counts;
		uint64_t made;

		uplink_kit_tear_down(state);
		uplink_kit_set_up(state);
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

/* Asserts that send times are known for the last 256 packets per stream, if these were sent. */
static void check_send_times(uint64_t begin) {
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

TEST(send_times_are_recorded) {
	uint64_t begin = rte_rdtsc();

	uplink_kit_start("84", 0);
	assert_int_equal(uplink_sent_at(rig.uplink, 0, 0), 0); /* not made */
	while (uplink_made(rig.uplink, 0) < 50)
		send_rounds(1);
	send_rounds(5);
	check_send_times(begin);
	while (uplink_made(rig.uplink, 2) < 600) {
		send_rounds(1);
		uplink_kit_receive();
	}
	send_rounds(10);
	check_send_times(begin);
}

TEST(rate_is_exact) {
	const uint64_t rate = 400000000;
	uint64_t hz = rte_get_tsc_hz(), begin = hz; /* simulated time */
	uint64_t expected = rate / 8 / 20;

	uplink_kit_start("upstream-imix", rate);
	uplink_begin(rig.uplink, begin);
	for (uint64_t now = begin; now < begin + hz / 20; now += hz / 200000) {
		uplink_send(rig.uplink, now);
		uplink_kit_receive();
	}
	/* up to one grant more, or the partial packets of 7 streams less */
	assert_in_range(uplink_sent_bytes(rig.uplink), expected - expected / 1000 - 7 * 2000,
			expected + expected / 1000 + 2000);
	uplink_kit_run(0);
	uplink_kit_check_bursts(UPLINK_GRANT);
}

/* At 1 kbps there is one grant. A partial L2TPv3 packet is sent after rphy.flush. */
TEST(partial_packets_are_flushed) {
	uint64_t us = rte_get_tsc_hz() / 1000000, begin = 1000 * us;

	rig.sg.upstream.frame_timeout_ns = 3600000000000; /* full grants at this rate */
	uplink_kit_start("upstream-imix", 1000);
	uplink_begin(rig.uplink, 0);
	assert_int_equal(uplink_send(rig.uplink, begin), 1); /* the full one */
	assert_in_range(uplink_kit_made(), 2, 26);
	assert_int_equal(uplink_send(rig.uplink, begin + 49 * us), 0);
	/* the rest of the burst, the request record, the RNG-REQ */
	assert_int_equal(uplink_send(rig.uplink, begin + 51 * us), 3);
	assert_int_equal(uplink_send(rig.uplink, begin + 200 * us), 0);
	uplink_kit_receive();
	assert_int_equal(rig.received.record_count, 1);
	assert_int_equal(rig.received.burst_count, 2);
	assert_int_equal(rig.received.bursts[0]->size, UPLINK_GRANT);
	uplink_stop(rig.uplink);
	/* a stop flushes partial packets */
	for (int round = 0; round < 2; round++)
		uplink_send(rig.uplink, begin + 201 * us);
	assert_true(uplink_empty(rig.uplink));
	uplink_kit_receive();
	/* the last grant is as long as the remaining bytes */
	assert_true(rig.received.bursts[rig.received.burst_count - 1]->size < UPLINK_GRANT);
}

/* The first burst of modem 0: RNG-REQ of 34, queue-depth request of 7, frame of 1,999 bytes. */
TEST(burst_may_fill_grant_exactly) {
	const struct rig_burst *first = NULL;
	const struct uepi_request *request = NULL;
	struct segment_header header;

	uplink_kit_start("1985", 0);
	uplink_kit_run(100);
	uplink_kit_check_bursts(UPLINK_GRANT);
	for (size_t i = rig.received.burst_count; i > 0; i--) {
		if (rig.received.bursts[i - 1]->channel == 0 &&
		    rig.received.bursts[i - 1]->kind == RIG_DATA)
			first = rig.received.bursts[i - 1];
	}
	assert_non_null(first);
	assert_int_equal(first->header.sid, 0x10);
	assert_int_equal(first->size, UPLINK_GRANT);
	assert_int_equal(segment_header_parse(first->payload, first->size, &header), SEGMENT_OK);
	assert_int_equal(header.request, 0);
	for (size_t i = 0; i < rig.received.record_count; i++) {
		if (rig.received.records[i].start_minislot == first->header.start_minislot &&
		    rig.received.records[i].sid == 0x10)
			request = &rig.received.records[i];
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

static void run_discarding(uint64_t packets) {
	while (!uplink_empty(rig.uplink)) {
		if (uplink_kit_made() >= packets)
			uplink_stop(rig.uplink);
		send_rounds(1);
		discard();
	}
}

/* Frames of modems that the CMTS must drop. */
static uint64_t refused_frames(void) {
	struct refused_counts counts = uplink_refused_sent(rig.uplink);
	uint64_t sum = 0;

	for (unsigned kind = REFUSED_CLEAR; kind <= REFUSED_SOURCE; kind++)
		sum += counts.packets[0][kind];
	return sum;
}

TEST(one_frame_in_every_is_refused) {
	uint64_t made = 0;

	rig.sg.modem_count = 2;
	rig.sg.upstream.verify_source = true;
	rig.refuse_every = 32;
	uplink_kit_start("84", 0);
	run_discarding(20000);
	for (uint32_t s = 0; s < 3; s++) /* streams with segment headers */
		made += uplink_made(rig.uplink, s);
	assert_int_equal(refused_frames(), (made + 1) / 32);
}

TEST(restart_resets_all_counts) {
	struct uplink_counts counts;

	rig.refuse_every = 32;
	rig.reorder_every = 2;
	uplink_kit_start("84", 0);
	run_discarding(20000);
	uplink_counts(rig.uplink, &counts);
	assert_true(counts.psp_segments > 0 && counts.reordered > 0 && refused_frames() > 0);
	assert_int_equal(uplink_restart(rig.uplink, &rig.sg, NULL, 0, rte_rdtsc()), 0);
	uplink_counts(rig.uplink, &counts);
	assert_int_equal(counts.packets, 0);
	assert_int_equal(counts.psp_segments, 0);
	assert_int_equal(counts.reordered, 0);
	assert_int_equal(refused_frames(), 0);
}

/* Each 4,096th grant contains a management message, which may span grants and is not a packet. */
TEST(management_message_may_span_grants) {
	struct uplink_counts counts;

	rig.sg.modem_count = 1;
	rig.uplink = uplink_kit_create("1280", 0, 1000);
	run_discarding(200000);
	uplink_counts(rig.uplink, &counts);
	assert_int_equal(uplink_sent(rig.uplink), uplink_kit_made());
	assert_int_equal(uplink_sent_bytes(rig.uplink), uplink_sent(rig.uplink) * 1280);
	/* one in the stream, unless a frame fills the grant, and one on channel 0 */
	assert_in_range(counts.management, counts.segments / 4096 / 2,
			2 * (counts.segments / 4096 + 1));
}

static const struct {
	const char *name, *mix;
	uint32_t mtu, grant, modems; /* modems 0: all */
	uint64_t packets;
	uint32_t max_ends; /* ends of bursts in a packet; 0: any */
	uint32_t min_segments, max_segments; /* range of the maximum per packet */
	uint32_t longest; /* packet, minimum bytes */
} packing_cases[] = {
	{"large packets", "upstream-imix", 9000, UPLINK_GRANT, 0, 3000, 0, 12, 255, 8901},
	/* request records of 16 bytes fill the segment table of 255 entries first */
	{"full segment table", "84", 9000, UPLINK_GRANT, 1, 24 * 800, 0, 255, 255, 0},
	/* a packet has space for 30 bursts, but reports the ends of 16 */
	{"limit of burst ends per packet", "82", 9000, 256, 1, 600, 16, 0, 255, 0},
};

TEST(bursts_share_packets) {
	for (size_t i = 0; i < ARRAY_COUNT(packing_cases); i++) {
		print_message("  %s\n", packing_cases[i].name);
		uplink_kit_tear_down(state);
		uplink_kit_set_up(state);
		rig.sg.rphy.mtu = packing_cases[i].mtu;
		rig.sg.rphy.flush_ns = 10000000000;
		if (packing_cases[i].modems > 0)
			rig.sg.modem_count = packing_cases[i].modems;
		rig.uplink = uplink_kit_create(packing_cases[i].mix, 0, packing_cases[i].grant);
		uplink_kit_run(packing_cases[i].packets);
		if (packing_cases[i].packets < 10000)
			uplink_kit_check_bursts(packing_cases[i].grant);
		assert_in_range(rig.received.max_segments, packing_cases[i].min_segments,
				packing_cases[i].max_segments);
		assert_true(rig.received.longest >= packing_cases[i].longest);
		if (packing_cases[i].max_ends > 0)
			assert_int_equal(rig.received.max_ends, packing_cases[i].max_ends);
	}
}

TEST(bursts_fit_their_grants) {
	static const char *const mixes[] = {"1996", "82", "82:1,1996:1", "94,95,96,97,1000"};
	static const uint32_t grants[] = {256, 300, 1000, 2014, UPLINK_GRANT, 4096};

	for (size_t i = 0; i < ARRAY_COUNT(mixes) * ARRAY_COUNT(grants); i++) {
		uint32_t grant = grants[i / ARRAY_COUNT(mixes)];

		uplink_kit_tear_down(state);
		uplink_kit_set_up(state);
		rig.uplink = uplink_kit_create(mixes[i % ARRAY_COUNT(mixes)], 0, grant);
		assert_non_null(rig.uplink);
		uplink_kit_run(500);
		uplink_kit_check_bursts(grant);
	}
}

/* Returns the first burst of a SID; sets the offset of its frames. */
static const struct rig_burst *find_first_burst(uint16_t sid, bool segments, size_t *at) {
	struct segment_header h = {0};

	*at = segments ? SEGMENT_HEADER_SIZE : 0;
	for (size_t i = 0; i < rig.received.burst_count; i++) {
		const struct rig_burst *b = rig.received.bursts[i];

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

TEST(modem_starts_with_ranging_and_request) {
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

		b = find_first_burst(modems[m].sid, modems[m].segments, &at);
		while (at < b->size &&
		       docsis_mac_parse(b->payload + at, b->size - at, &mac) == DOCSIS_OK) {
			kinds[mac.kind]++;
			at += mac.frame_size;
		}
		assert_int_equal(kinds[DOCSIS_KIND_MANAGEMENT], modems[m].segments);
		assert_int_equal(kinds[DOCSIS_KIND_QUEUE_REQUEST], modems[m].segments);
		assert_int_equal(kinds[DOCSIS_KIND_REQUEST], !modems[m].segments);
	}
	for (size_t i = 0; i < rig.received.burst_count; i++)
		rangings += rig.received.bursts[i]->kind == RIG_RANGING;
	assert_int_equal(rangings, 3); /* on the channel with a ranging session */
}

EACH_TEST(uplink_kit_set_up, uplink_kit_tear_down)
ALL_TESTS(open_rig, uplink_kit_close)

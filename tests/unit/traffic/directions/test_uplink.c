/* SPDX-License-Identifier: BSD-3-Clause */
/* Every packet that the upstream's sender makes is found again in what it sends. */
#include <rte_cycles.h>
#include <string.h>

#include "test.h"
#include "uplink_group.h"

static int begin_with_ipv6(void **state) {
	(void)state;
	uplink_rig_begin(&rig, 6);
	return 0;
}

static void run_and_prove(const char *mix, uint64_t packets) {
	uplink_rig_start(&rig, mix, 0);
	assert_int_equal(uplink_stream_count(rig.uplink), UPLINK_RIG_STREAMS);
	uplink_rig_run(&rig, packets);
	uplink_rig_prove(&rig);
	for (uint32_t s = 0; s < UPLINK_RIG_STREAMS; s++)
		assert_int_equal(rig.came.streams[s].packets, uplink_made(rig.uplink, s));
}

static struct rig_stream sums(void) {
	struct rig_stream sum = {0};

	for (uint32_t s = 0; s < UPLINK_RIG_STREAMS; s++) {
		const struct rig_stream *stream = &rig.came.streams[s];

		sum.management += stream->management;
		sum.request_frames += stream->request_frames;
		sum.piggybacks += stream->piggybacks;
		sum.fragments += stream->fragments;
		sum.concatenations += stream->concatenations;
		sum.segments += stream->segments;
		sum.asking += stream->asking;
	}
	return sum;
}

static void every_packet_comes_back(void **state) {
	struct uplink_counts counts;
	struct rig_stream seen;

	(void)state;
	run_and_prove("upstream-imix", 3000);
	seen = sums();
	uplink_counts(rig.uplink, &counts);
	assert_int_equal(counts.packets, rig.came.packets);
	assert_int_equal(counts.bytes, rig.came.bytes);
	assert_int_equal(counts.bursts, rig.came.burst_count);
	assert_int_equal(counts.segments, seen.segments);
	assert_int_equal(counts.request_records, rig.came.record_count);
	assert_int_equal(counts.requests, seen.request_frames + seen.piggybacks + seen.asking);
	assert_int_equal(counts.management, seen.management);
	assert_int_equal(counts.fragments, seen.fragments);
	assert_int_equal(counts.concatenations, seen.concatenations);
	assert_int_equal(counts.backpressure, 0);
	assert_int_equal(counts.crypto_errors, 0);
}

/* Frames of 2,014 bytes span segments of 2,040 in every way, and 64-byte ones need IPv4. */
static void any_size_comes_back(void **state) {
	static const char *const mixes[] = {"1996", "82", "82:1,1996:1", "94,95,96,97,1000"};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(mixes); i++) {
		if (i > 0) {
			end(state);
			begin(state);
		}
		run_and_prove(mixes[i], 500);
	}
}

static void sizes_and_addresses_have_their_shares(void **state) {
	const struct rig_received *came = &rig.came;
	uint32_t packets;

	(void)state;
	run_and_prove("upstream-imix", 5000);
	packets = (uint32_t)uplink_rig_made(&rig);
	/* Every hundred packets of a stream exactly, and less than a hundred are over. */
	assert_in_range(came->by_size[84], packets * 65 / 100 - 7 * 23,
			packets * 65 / 100 + 7 * 23);
	assert_in_range(came->by_size[256], packets * 18 / 100 - 7 * 15,
			packets * 18 / 100 + 7 * 15);
	assert_int_equal(came->by_size[84] + came->by_size[256] + came->by_size[1280], packets);
	assert_in_range(came->by_address[0][0], came->by_address[0][1] - 30,
			came->by_address[0][1] + 30);
	assert_int_equal(came->by_address[1][1] + came->by_address[2][0], 0);
	/* Every other packet, where it fits: not in 84 bytes with IPv6. */
	assert_in_range(came->tcp, packets / 4, packets / 2);
}

static void grants_are_balanced(void **state) {
	uint32_t bursts[UPLINK_RIG_STREAMS + 1] = {0};

	(void)state;
	uplink_rig_start(&rig, "upstream-imix", 0);
	uplink_rig_run(&rig, 3000);
	/* By SID: 0x10, then 0x11 and 0x12 of one flow, .. */
	for (size_t i = 0; i < rig.came.burst_count; i++) {
		const struct rig_burst *b = rig.came.bursts[i];
		uint16_t sid = b->header.sid;

		if (b->kind != RIG_DATA)
			continue;
		bursts[sid == 0x10   ? 0
		       : sid == 0x11 ? 1
		       : sid == 0x12 ? 2
		       : sid == 0x20 ? 3
		       : sid == 0x30 ? 4
		       : sid == 0x60 ? 6
				     : 5]++;
	}
	/* Three at the end: what each has left, once or, fragments, twice. */
	assert_in_range(bursts[1] + bursts[2], bursts[0] - 3, bursts[0] + 3);
	assert_in_range(bursts[1], bursts[2] - 1, bursts[2] + 1);
	for (unsigned s = 3; s < UPLINK_RIG_STREAMS; s++)
		assert_in_range(bursts[s], bursts[0] - 3, bursts[0] + 3);
}

static void grants_are_filled(void **state) {
	uint32_t full[UPLINK_RIG_STREAMS] = {0};

	(void)state;
	run_and_prove("upstream-imix", 3000);
	for (size_t i = 0; i < rig.came.burst_count; i++)
		full[0] += rig.came.bursts[i]->header.sid == 0x10 &&
			   rig.came.bursts[i]->kind == RIG_DATA &&
			   rig.came.bursts[i]->size == UPLINK_GRANT;
	/* All but the last. */
	assert_int_equal(full[0], rig.came.streams[0].segments - 1);
	/* A frame of 1,280 bytes never fills a segment: a frame begins in all but that last one. */
	assert_in_range(rig.came.streams[0].without_pointer, 0, 1);
}

static void both_generations_of_a_key_are_used(void **state) {
	const struct rig_stream *s = rig.came.streams;

	(void)state;
	run_and_prove("upstream-imix", 3000);
	/* Modem 0, over its three streams: 64 frames of one, then 64 of the other. */
	uint32_t first = s[0].by_key[0] + s[1].by_key[0] + s[2].by_key[0];
	uint32_t second = s[0].by_key[1] + s[1].by_key[1] + s[2].by_key[1];
	uint32_t rest = (first + second) % 128;

	assert_int_equal(first - second, rest <= 64 ? rest : 128 - rest);
	assert_in_range(s[0].key_changes, 10, 40);
	assert_int_equal(s[3].by_key[1], 0); /* modem 1 has one */
	assert_true(s[6].by_key[0] >= 64 && s[6].by_key[1] >= 64);
	assert_int_equal(s[4].by_key[0] + s[4].by_key[1] + s[5].by_key[0], 0);
}

static void fragments_and_concatenations_take_turns(void **state) {
	static const uint32_t legacy[] = {3, 5, 6};

	(void)state;
	run_and_prove("upstream-imix", 3000);
	for (size_t i = 0; i < ARRAY_COUNT(legacy); i++) {
		const struct rig_stream *s = &rig.came.streams[legacy[i]];

		assert_true(s->units > 20);
		assert_in_range(s->fragments, 2 * s->units, 3 * s->units);
		assert_in_range(s->concatenations, s->units + 10, 2 * s->units + 1);
		assert_int_equal(s->segments, 0);
	}
	assert_int_equal(rig.came.streams[0].fragments + rig.came.streams[0].concatenations, 0);
}

static void each_modem_ranges_and_asks(void **state) {
	static const uint32_t first_streams[] = {0, 3, 4, 5, 6};
	/* In the stream with segment headers, and on channel 0, which has a session for it. */
	static const uint32_t messages[] = {2, 0, 2, 0, 1};
	uint32_t rangings = 0;

	(void)state;
	run_and_prove("upstream-imix", 1000);
	for (size_t i = 0; i < ARRAY_COUNT(first_streams); i++) {
		assert_int_equal(rig.came.streams[first_streams[i]].management, messages[i]);
		assert_int_equal(rig.came.streams[first_streams[i]].request_frames, 1);
	}
	for (size_t i = 0; i < rig.came.burst_count; i++)
		rangings += rig.came.bursts[i]->kind == RIG_RANGING;
	assert_int_equal(rangings, 3);
}

/* One for each burst that asks, on the channels that have a session for it. */
static void requests_are_recorded(void **state) {
	uint32_t segments = 0, legacy = 0;

	(void)state;
	run_and_prove("upstream-imix", 2000);
	for (size_t i = 0; i < rig.came.record_count; i++) {
		const struct uepi_request *q = &rig.came.records[i];

		assert_int_equal(q->sid, q->scheduled_sid);
		assert_int_equal(q->n_bytes, q->cluster_valid);
		assert_true(q->size > 0);
		segments += q->n_bytes;
		legacy += !q->n_bytes;
		if (q->sid == 0x11)
			assert_int_equal(q->sid_cluster, 2);
		if (q->sid == 0x30)
			assert_int_equal(q->sid_cluster, 7);
	}
	/* Stream 2 alternates between channel 1 and channel 2, which has no session. */
	assert_in_range(segments,
			rig.came.streams[0].asking + rig.came.streams[1].asking +
				rig.came.streams[4].asking + rig.came.streams[2].asking / 2 - 1,
			rig.came.streams[0].asking + rig.came.streams[1].asking +
				rig.came.streams[4].asking + rig.came.streams[2].asking / 2 + 1);
	assert_int_equal(legacy, rig.came.streams[3].piggybacks + rig.came.streams[6].piggybacks);
}

/* OFDMA packets hold parts of many bursts and are full, but for those that the end flushed. */
static void ofdma_packets_are_full(void **state) {
	(void)state;
	for (size_t i = 0; i < 2; i++)
		rig.sg.upstream_channels[i].type = UPSTREAM_OFDMA;
	rig.sg.rphy.flush_ns = 1000000000;
	run_and_prove("upstream-imix", 3000);
	rig.sg.upstream_channels[1].type = UPSTREAM_SC_QAM;
	assert_in_range(rig.came.short_packets, 0, UPLINK_RIG_CHANNELS);
	assert_true(rig.came.packets > 300);
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
	const struct CMUnitTest tests[] = {
		test(every_packet_comes_back),
		cmocka_unit_test_setup_teardown(every_packet_comes_back, begin_with_ipv6, end),
		test(any_size_comes_back),
		test(sizes_and_addresses_have_their_shares),
		test(grants_are_balanced),
		test(grants_are_filled),
		test(both_generations_of_a_key_are_used),
		test(fragments_and_concatenations_take_turns),
		test(each_modem_ranges_and_asks),
		test(requests_are_recorded),
		test(ofdma_packets_are_full),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Every packet that the upstream's sender makes is found again in what it sends. */
#include <rte_cycles.h>

#include "test.h"
#include "uplink_rig.h"

static struct uplink_rig rig;

static void everything_comes_back(uint8_t family) {
	uint64_t requests = 0, management = 0, fragments = 0, concatenations = 0, segments = 0;
	struct uplink_counts counts;
	uint64_t made;

	uplink_rig_open(&rig, family, 1024);
	uplink_rig_start(&rig, "upstream-imix", 0);
	assert_int_equal(uplink_stream_count(rig.uplink), UPLINK_RIG_STREAMS);
	uplink_rig_run(&rig, 3000);
	uplink_rig_prove(&rig);
	made = uplink_rig_made(&rig);
	for (uint32_t s = 0; s < UPLINK_RIG_STREAMS; s++) {
		const struct rig_stream *stream = &rig.streams[s];

		assert_int_equal(stream->packets, uplink_made(rig.uplink, s));
		assert_true(stream->packets > made / UPLINK_RIG_STREAMS / 3);
		requests += stream->request_frames + stream->piggybacks + stream->asking;
		management += stream->management;
		fragments += stream->fragments;
		concatenations += stream->concatenations;
		segments += stream->segments;
	}
	uplink_counts(rig.uplink, &counts);
	assert_int_equal(counts.packets, rig.packets);
	assert_int_equal(counts.bytes, rig.bytes);
	assert_int_equal(counts.bursts, rig.burst_count);
	assert_int_equal(counts.request_records, rig.record_count);
	assert_int_equal(counts.requests, requests);
	assert_int_equal(counts.management, management);
	assert_int_equal(counts.fragments, fragments);
	assert_int_equal(counts.concatenations, concatenations);
	assert_int_equal(counts.segments, segments);
	assert_int_equal(counts.crypto_errors, 0);
	uplink_rig_stop(&rig);
	uplink_rig_close(&rig);
}

static void every_packet_comes_back_over_ipv4(void **state) {
	(void)state;
	everything_comes_back(4);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_comes_back_over_ipv4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds the upstream's sender up, and what it remembers. */
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#define UPLINK_GROUP_DEPTH 64 /* packets that the wire holds */

#include "test.h"
#include "uplink_group.h"
#include "wire/segment.h"

static void a_full_port_loses_nothing(void **state) {
	struct uplink_counts counts;
	uint64_t made;

	(void)state;
	uplink_rig_start(&rig, "upstream-imix", 0);
	for (int round = 0; round < 20; round++)
		uplink_send(rig.uplink, rte_rdtsc());
	made = uplink_rig_made(&rig);
	uplink_counts(rig.uplink, &counts);
	assert_in_range(counts.packets, UPLINK_GROUP_DEPTH - 1, UPLINK_GROUP_DEPTH);
	assert_true(counts.backpressure > 10);
	assert_true(uplink_sent(rig.uplink) < made);
	uplink_stop(rig.uplink);
	assert_false(uplink_empty(rig.uplink));
	assert_int_equal(uplink_send(rig.uplink, rte_rdtsc()), 0);
	uplink_rig_run(&rig, 0);
	assert_int_equal(uplink_rig_made(&rig), made);
	prove_all();
}

/* On a wire that does not wait all of it is sent, and what found no room is not there. */
static void a_full_port_may_lose_what_it_does_not_take(void **state) {
	struct uplink_counts counts;

	(void)state;
	uplink_rig_start(&rig, "upstream-imix", 0);
	uplink_wire(rig.uplink, NULL, true, rte_rdtsc());
	for (int round = 0; round < 20; round++)
		uplink_send(rig.uplink, rte_rdtsc());
	uplink_stop(rig.uplink);
	while (!uplink_empty(rig.uplink))
		uplink_send(rig.uplink, rte_rdtsc());
	uplink_counts(rig.uplink, &counts);
	assert_in_range(counts.packets, UPLINK_GROUP_DEPTH - 1, UPLINK_GROUP_DEPTH);
	assert_true(counts.backpressure > 10);
	assert_int_equal(uplink_sent(rig.uplink), uplink_rig_made(&rig));
	assert_int_equal(uplink_rig_receive(&rig), counts.packets);
}

/* Times are known of what was sent, not of what waits, nor of what is long ago. */
static void times_of_sending_are_remembered(void **state) {
	uint64_t begin = rte_rdtsc(), times = 0;

	(void)state;
	uplink_rig_start(&rig, "84", 0);
	assert_int_equal(uplink_sent_at(rig.uplink, 0, 0), 0); /* not made */
	while (uplink_made(rig.uplink, 0) < 50)
		uplink_send(rig.uplink, rte_rdtsc());
	for (int round = 0; round < 5; round++)
		uplink_send(rig.uplink, rte_rdtsc());
	for (uint32_t s = 0; s < UPLINK_RIG_STREAMS; s++) {
		uint32_t made = uplink_made(rig.uplink, s);

		assert_in_range(made, 1, 256);
		for (uint32_t n = 0; n < made; n++) {
			uint64_t at = uplink_sent_at(rig.uplink, s, n);

			times += at != 0;
			assert_true(at == 0 || (at > begin && at < rte_rdtsc()));
		}
		assert_int_equal(uplink_sent_at(rig.uplink, s, made), 0);
	}
	assert_int_equal(times, uplink_sent(rig.uplink));
	assert_true(times < uplink_rig_made(&rig)); /* the port is full */
}

/* The time of a number that is long ago is not taken for that of a packet that waits. */
static void old_times_are_forgotten(void **state) {
	uint64_t waiting = 0;

	(void)state;
	uplink_rig_start(&rig, "84", 0);
	while (uplink_made(rig.uplink, 2) < 600) {
		uplink_send(rig.uplink, rte_rdtsc());
		uplink_rig_receive(&rig);
	}
	for (int round = 0; round < 10; round++)
		uplink_send(rig.uplink, rte_rdtsc());
	for (uint32_t s = 0; s < UPLINK_RIG_STREAMS; s++) {
		uint32_t made = uplink_made(rig.uplink, s);

		for (uint32_t n = 0; n < made; n++) {
			if (n < made - 256)
				assert_int_equal(uplink_sent_at(rig.uplink, s, n), 0);
			else
				waiting += uplink_sent_at(rig.uplink, s, n) == 0;
		}
	}
	assert_true(waiting > 0);
	assert_int_equal(waiting, uplink_rig_made(&rig) - uplink_sent(rig.uplink));
}

static void sizes_of_what_was_sent_are_summed(void **state) {
	uint64_t bytes = 0;

	(void)state;
	uplink_rig_start(&rig, "upstream-imix", 0);
	uplink_rig_run(&rig, 1000);
	prove_all();
	for (uint32_t size = 0; size <= PACKET_SIZE_MAX; size++)
		bytes += (uint64_t)size * rig.came.by_size[size];
	assert_int_equal(uplink_sent_bytes(rig.uplink), bytes);
}

static void the_rate_is_kept(void **state) {
	const uint64_t rate = 400000000;
	uint64_t hz = rte_get_tsc_hz(), begin = hz; /* on a clock of our own */
	uint64_t expected = rate / 8 / 20;

	(void)state;
	uplink_rig_start(&rig, "upstream-imix", rate);
	uplink_begin(rig.uplink, begin);
	for (uint64_t now = begin; now < begin + hz / 20; now += hz / 200000) {
		uplink_send(rig.uplink, now);
		uplink_rig_receive(&rig);
	}
	/* One grant more, and what is left for the next ones. */
	assert_in_range(uplink_sent_bytes(rig.uplink), expected - expected / 1000 - 7 * 2000,
			expected + expected / 1000 + 2000);
	uplink_rig_run(&rig, 0);
	prove_all();
}

/* At 1 kbps one grant is given, whose last packets wait for more until rphy.flush has passed. */
static void open_packets_are_flushed(void **state) {
	uint64_t us = rte_get_tsc_hz() / 1000000, begin = 1000 * us;

	(void)state;
	rig.sg.upstream.frame_timeout_ns = 3600000000000; /* at this rate, too, grants are full */
	uplink_rig_start(&rig, "upstream-imix", 1000);
	uplink_begin(rig.uplink, 0);
	assert_int_equal(uplink_send(rig.uplink, begin), 1); /* the full one */
	assert_in_range(uplink_rig_made(&rig), 2, 26);
	assert_int_equal(uplink_send(rig.uplink, begin + 49 * us), 0);
	/* The rest of the burst, the request record, the RNG-REQ. */
	assert_int_equal(uplink_send(rig.uplink, begin + 51 * us), 3);
	assert_int_equal(uplink_send(rig.uplink, begin + 200 * us), 0);
	uplink_rig_receive(&rig);
	assert_int_equal(rig.came.record_count, 1);
	assert_int_equal(rig.came.burst_count, 2);
	assert_int_equal(rig.came.bursts[0]->size, UPLINK_GRANT);
	uplink_stop(rig.uplink);
	/* At the end nothing waits. */
	for (int round = 0; round < 2; round++)
		uplink_send(rig.uplink, begin + 201 * us);
	assert_true(uplink_empty(rig.uplink));
	uplink_rig_receive(&rig);
	prove_all();
	/* The last grant has the size of what was left. */
	assert_in_range(rig.came.streams[0].segments, 1, 2);
	assert_true(rig.came.bursts[rig.came.burst_count - 1]->size < UPLINK_GRANT);
}

static void large_packets_hold_several_bursts(void **state) {
	(void)state;
	rig.sg.rphy.mtu = 9000;
	rig.sg.rphy.flush_ns = 1000000000;
	uplink_rig_start(&rig, "upstream-imix", 0);
	uplink_rig_run(&rig, 3000);
	prove_all();
	assert_in_range(rig.came.most_segments, 12, 255); /* request records are small */
	assert_true(rig.came.longest > 8900);
}

/* A table has 255 entries: records of 16 bytes fill it before a packet of 9,000 bytes is full. */
static void a_table_of_segments_may_be_full(void **state) {
	(void)state;
	rig.sg.rphy.mtu = 9000;
	rig.sg.rphy.flush_ns = 10000000000;
	rig.sg.modem_count = 1;
	uplink_rig_start(&rig, "84", 0);
	uplink_rig_run(&rig, 24 * 800);
	assert_int_equal(rig.came.most_segments, 255);
}

static struct uplink *create(const char *mix, uint32_t grant) {
	struct uplink_options options = {
		.rphy_port = rig.ports[0],
		.crypto = rig.crypto,
		.grant = grant,
	};
	char error[128];

	assert_int_equal(mix_parse(mix, PACKET_SIZE_MAX, &options.mix, error, sizeof(error)), 0);
	return uplink_create(&rig.sg, &options);
}

/* Modem 0's first: RNG-REQ and queue-depth request of 34 and 7 bytes, one frame of 1,999. */
static void a_grant_may_be_filled_exactly(void **state) {
	const struct rig_burst *first = NULL;
	const struct uepi_request *request = NULL;
	struct segment_header header;

	(void)state;
	uplink_rig_start(&rig, "1985", 0);
	uplink_rig_run(&rig, 100);
	prove_all();
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
	struct rte_mbuf *packets[UPLINK_GROUP_DEPTH];
	unsigned n = rte_eth_rx_burst(rig.ports[1], 0, packets, UPLINK_GROUP_DEPTH);

	if (n > 0)
		rte_pktmbuf_free_bulk(packets, n);
}

/* Every 4,096th grant has management in it, which may be cut as well; it is no packet. */
static void management_may_span_grants(void **state) {
	struct uplink_counts counts;

	(void)state;
	rig.sg.modem_count = 1;
	rig.uplink = create("1280", 1000);
	while (uplink_rig_made(&rig) < 200000) {
		uplink_send(rig.uplink, rte_rdtsc());
		discard();
	}
	uplink_stop(rig.uplink);
	while (!uplink_empty(rig.uplink)) {
		uplink_send(rig.uplink, rte_rdtsc());
		discard();
	}
	uplink_counts(rig.uplink, &counts);
	assert_int_equal(uplink_sent(rig.uplink), uplink_rig_made(&rig));
	assert_int_equal(uplink_sent_bytes(rig.uplink), uplink_sent(rig.uplink) * 1280);
	/* One in the stream, unless the rest of a frame fills the grant, and one on channel 0. */
	assert_in_range(counts.management, counts.segments / 4096 / 2,
			2 * (counts.segments / 4096 + 1));
}

/* Of 30 bursts that a packet of 9,000 bytes has room for, in all of which packets end. */
static void a_packet_tells_of_few_bursts(void **state) {
	(void)state;
	rig.sg.modem_count = 1;
	rig.sg.rphy.mtu = 9000;
	rig.uplink = create("82", 256);
	rig.grant = 256;
	uplink_rig_run(&rig, 600);
	prove_all();
	assert_int_equal(rig.came.most_ends, 16);
}

static void grants_of_any_size_are_filled(void **state) {
	static const uint32_t grants[] = {256, 300, 1000, 2014, 4096};

	for (size_t i = 0; i < ARRAY_COUNT(grants); i++) {
		if (i > 0) {
			uplink_rig_end(&rig);
			uplink_rig_begin(&rig, 4);
		}
		rig.uplink = create("82:3,1996:2", grants[i]);
		rig.grant = grants[i];
		assert_non_null(rig.uplink);
		uplink_rig_run(&rig, 600);
		prove_all();
		/* The first has room for 30 in a packet. */
	}
	(void)state;
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
	const struct CMUnitTest tests[] = {
		test(a_full_port_loses_nothing),
		test(a_full_port_may_lose_what_it_does_not_take),
		test(times_of_sending_are_remembered),
		test(old_times_are_forgotten),
		test(sizes_of_what_was_sent_are_summed),
		test(the_rate_is_kept),
		test(open_packets_are_flushed),
		test(large_packets_hold_several_bursts),
		test(a_table_of_segments_may_be_full),
		test(a_grant_may_be_filled_exactly),
		test(management_may_span_grants),
		test(a_packet_tells_of_few_bursts),
		test(grants_of_any_size_are_filled),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that wait for the grants of MAPs: what they send, and what they do when something goes wrong. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/uplink_parts.h"
#include "granting_kit.h"
#include "grants/grants.h"
#include "test_main.h"
#include "wire/segment.h"

#define HOUR_NS UINT64_C(3600000000000)

TEST(a_packet_is_as_old_as_its_arrival) {
	uint64_t start = rte_rdtsc();
	const struct uplink_stream *s;

	granting_kit_start("84", 1000000);
	s = &rig.uplink->flows.streams[4];
	while (s->arrived < 3)
		granting_kit_round();
	assert_int_equal(s->made, 0);
	assert_true(s->arrivals[0] >= start && s->arrivals[0] < s->arrivals[2]);
	assert_int_equal(rig.came.burst_count + rig.came.record_count, 0);
}

/* The system's clock is set by an hour, either way: it is told, and what waits goes on waiting. */
TEST(a_clock_that_jumps_is_told) {
	static const int64_t jumps[] = {(int64_t)HOUR_NS, -(int64_t)HOUR_NS};
	struct grants_result result;

	for (size_t i = 0; i < ARRAY_COUNT(jumps); i++) {
		uplink_kit_end(state);
		uplink_kit_begin(state);
		granting_kit_start("84", 5000000);
		granting_kit_round();
		rig.uplink->scheduled->clock.system += (uint64_t)jumps[i];
		while (rig.uplink->scheduled->result.clock_jumps == 0)
			granting_kit_round();
		uplink_grants(rig.uplink, &result);
		assert_int_equal(result.clock_jumps, 1);
		assert_int_equal(result.given_up, 0);
		assert_int_equal(result.arrived, result.waiting);
	}
}

/* A stream in which 60 packets of a size wait, when the modems have a time. */
static struct uplink_stream *waiting_stream(uint32_t number, const char *mix, uint32_t size) {
	struct uplink_stream *s;

	granting_kit_start(mix, 1000000);
	granting_kit_round();
	s = &rig.uplink->flows.streams[number];
	while (s->arrived < 60)
		grants_arrive(rig.uplink->scheduled, s, size, rte_rdtsc());
	return s;
}

/* Modems have decided a burst, which is over for `ago` samples. */
static void decided(const struct access_event *e, uint64_t ago) {
	struct grants *g = rig.uplink->scheduled;
	uint32_t number = g->unused[--g->unused_count];

	g->events[number] = *e;
	g->carrying += e->bytes > 0;
	g->events[number].end = g->now - ago;
	due_add(&g->ends, g->now - ago, number);
}

/* Beside packets: a request as a record or, where the channel has no session for it, as a burst; ranging; and nothing. */
TEST(requests_and_unused_grants_are_told) {
	static const struct access_event events[] = {
		{.kind = ACCESS_REQUEST, .channel = 1, .sid = 0x12, .flow = 2, .request = 256},
		{.kind = ACCESS_REQUEST, .channel = 2, .sid = 0x12, .flow = 2, .request = 256},
		{.kind = ACCESS_STATION, .channel = 0, .sid = 0x10},
		{.kind = ACCESS_BURST, .channel = 0, .sid = 0x10, .granted = 100},
	};
	unsigned kinds[RIG_UNUSED + 1] = {0};
	const struct uepi_request *record;
	struct grants_result result;

	granting_kit_start("84", 1000000);
	granting_kit_round(); /* it has a time now */
	for (size_t i = 0; i < ARRAY_COUNT(events); i++)
		decided(&events[i], ARRAY_COUNT(events) - i);
	granting_kit_round();
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.records, 1);
	assert_int_equal(result.frames, 1);
	assert_int_equal(result.heard_bytes, 2 * 256);
	assert_int_equal(result.unused_bursts, 1);
	assert_int_equal(rig.came.record_count, 1);
	record = rig.came.records;
	assert_int_equal(record->size, 256 / 2); /* N = 2 */
	assert_int_equal(record->sid, 0x12);
	assert_int_equal(record->sid_cluster, 5);
	assert_true(record->n_bytes && record->cluster_valid && !record->piggyback);
	for (size_t i = 0; i < rig.came.burst_count; i++)
		kinds[rig.came.bursts[i]->kind]++;
	assert_int_equal(kinds[RIG_DATA], 0);
	assert_int_equal(kinds[RIG_RANGING], 1);
	assert_int_equal(kinds[RIG_UNUSED], 1);
	assert_in_range(kinds[RIG_ASKING], 1, 2);
}

/* What the CMTS gets first is what it counts on from. */
TEST(the_first_segment_comes_before_the_second) {
	struct access_event e = {.kind = ACCESS_BURST, .bytes = 300, .granted = 300};
	struct uplink_stream *s = waiting_stream(0, "84", 100);

	for (uint16_t channel = 0; channel < 2; channel++) {
		e.channel = channel;
		e.sid = s->cluster->sids[channel].sid;
		decided(&e, 2u - channel);
	}
	uplink_send(rig.uplink, rte_rdtsc());
	assert_int_equal(s->sequence, 2);
	uplink_kit_receive();
	assert_int_equal(rig.came.burst_count, 2);
	for (uint16_t sequence = 0; sequence < 2; sequence++) {
		struct segment_header h;

		assert_int_equal(segment_header_parse(rig.came.bursts[sequence]->payload,
						      SEGMENT_HEADER_SIZE, &h),
				 SEGMENT_OK);
		assert_int_equal(h.sequence, sequence);
	}
}

TEST(a_large_grant_is_two_bursts) {
	struct access_event e = {.kind = ACCESS_BURST, .sid = 0x30, .minislot = 7, .flow = 4};
	struct uplink_stream *s = waiting_stream(4, "1280", 1290);
	struct rte_mbuf *packets[64];
	uint16_t n;

	e.bytes = e.granted = UPLINK_GRANT_LONGEST + 5000;
	decided(&e, 0);
	uplink_send(rig.uplink, rte_rdtsc());
	assert_int_equal(rig.uplink->scheduled->result.oversized, 1);
	assert_int_equal(s->sequence, 2);
	while ((n = rte_eth_rx_burst(rig.ports[1], 0, packets, 64)) > 0)
		rte_pktmbuf_free_bulk(packets, n);
}

TEST(full_queues_refuse) {
	struct grants_result result;
	struct uplink_stream *s;

	granting_kit_start("84", 1000000);
	s = &rig.uplink->flows.streams[1];
	while (grants_arrive(rig.uplink->scheduled, s, 100, rte_rdtsc()))
		;
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.refused, 1);
	assert_int_equal(s->arrived, s->arrivals_mask + 1);
	assert_int_equal(result.arrived, s->arrived);
}

TEST(bad_messages_are_counted) {
	static const uint8_t mangled[64] = {1, 2, 3};
	struct random random = {5};
	struct grants_result result;
	uint8_t message[80] = {[17] = 3, [18] = 1, [19] = 3};
	struct rte_mbuf *m;

	granting_kit_start("84", 1000000);
	granting_kit_hand(granting_kit_packet(0, mangled, sizeof(mangled)));
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.maps_bad, 1);
	for (unsigned i = 0; i < 3000; i++) {
		m = granting_kit_packet(i % 3, message, sizeof(message));
		for (unsigned k = 0; k < 4; k++)
			rte_pktmbuf_mtod(m,
					 uint8_t *)[34 + random_below(&random, m->data_len - 34)] ^=
				(uint8_t)(1u << random_below(&random, 8));
		if (uplink_hear(rig.uplink, &m, 1) == 1)
			rte_pktmbuf_free(m);
	}
	/* a session that is none of theirs is left */
	m = granting_kit_packet(0, message, sizeof(message));
	rte_pktmbuf_mtod(m, uint8_t *)[34 + 3] ^= 0x40;
	assert_int_equal(uplink_hear(rig.uplink, &m, 1), 1);
	rte_pktmbuf_free(m);
}

TEST(what_lacks_is_told) {
	assert_non_null(grants_lack(&rig.sg));
	granting_kit_config();
	assert_null(grants_lack(&rig.sg));
	rig.sg.modems[1].upstream_flows[0].segment_header = false;
	assert_non_null(grants_lack(&rig.sg));
}

EACH_TEST(uplink_kit_begin, uplink_kit_end)
ALL_TESTS(uplink_kit_open, uplink_kit_close)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests grants.h: simulated modems that wait for grants in MAPs, their bursts, and errors. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/uplink_parts.h"
#include "granting_kit.h"
#include "grants/grants.h"
#include "test_main.h"
#include "wire/management.h"
#include "wire/map.h"
#include "wire/segment.h"

#define HOUR_NS UINT64_C(3600000000000)

TEST(arrival_time_is_recorded) {
	uint64_t start = rte_rdtsc();
	const struct uplink_stream *s;

	granting_kit_start("84", 1000000);
	s = &rig.uplink->flows.streams[4];
	while (s->arrived < 3)
		granting_kit_round();
	assert_int_equal(s->made, 0);
	assert_true(s->arrivals[0] >= start && s->arrivals[0] < s->arrivals[2]);
	assert_int_equal(rig.received.burst_count + rig.received.record_count, 0);
}

/* The system's clock jumps by an hour: the jump is counted, packets stay queued. */
TEST(clock_jump_is_counted) {
	static const int64_t jumps[] = {(int64_t)HOUR_NS, -(int64_t)HOUR_NS};
	struct grants_result result;

	for (size_t i = 0; i < ARRAY_COUNT(jumps); i++) {
		uplink_kit_tear_down(state);
		uplink_kit_set_up(state);
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

/* Starts the modems and queues 60 packets of `size` bytes in a stream. */
static struct uplink_stream *start_with_queue(uint32_t number, const char *mix, uint32_t size) {
	struct uplink_stream *s;

	granting_kit_start(mix, 1000000);
	granting_kit_round();
	s = &rig.uplink->flows.streams[number];
	while (s->arrived < 60)
		grants_arrive(rig.uplink->scheduled, s, size, rte_rdtsc());
	return s;
}

/* Inserts a burst that modems have decided, and that ended `ago` samples ago. */
static void insert_event(const struct access_event *e, uint64_t ago) {
	struct grants *g = rig.uplink->scheduled;
	uint32_t number = g->unused[--g->unused_count];

	g->events[number] = *e;
	g->carrying += e->bytes > 0;
	g->events[number].end = g->now - ago;
	due_add(&g->ends, g->now - ago, number);
}

/* Requests are sent as records, or as bursts if the channel has no request session. */
TEST(requests_and_unused_grants_are_sent) {
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
	granting_kit_round(); /* sets the modems' time */
	for (size_t i = 0; i < ARRAY_COUNT(events); i++)
		insert_event(&events[i], ARRAY_COUNT(events) - i);
	granting_kit_round();
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.records, 1);
	assert_int_equal(result.frames, 1);
	assert_int_equal(result.heard_bytes, 2 * 256);
	assert_int_equal(result.unused_bursts, 1);
	assert_int_equal(rig.received.record_count, 1);
	record = rig.received.records;
	assert_int_equal(record->size, 256 / 2); /* N = 2 */
	assert_int_equal(record->sid, 0x12);
	assert_int_equal(record->sid_cluster, 5);
	assert_true(record->n_bytes && record->cluster_valid && !record->piggyback);
	for (size_t i = 0; i < rig.received.burst_count; i++)
		kinds[rig.received.bursts[i]->kind]++;
	assert_int_equal(kinds[RIG_DATA], 0);
	assert_int_equal(kinds[RIG_RANGING], 1);
	assert_int_equal(kinds[RIG_UNUSED], 1);
	assert_in_range(kinds[RIG_REQUEST_BURST], 1, 2);
}

/* Segments are numbered in the order in which the CMTS receives their bursts. */
TEST(segments_follow_burst_order) {
	struct access_event e = {.kind = ACCESS_BURST, .bytes = 300, .granted = 300};
	struct uplink_stream *s = start_with_queue(0, "84", 100);

	for (uint16_t channel = 0; channel < 2; channel++) {
		e.channel = channel;
		e.sid = s->cluster->sids[channel].sid;
		insert_event(&e, 2u - channel);
	}
	uplink_send(rig.uplink, rte_rdtsc());
	assert_int_equal(s->sequence, 2);
	uplink_kit_receive();
	assert_int_equal(rig.received.burst_count, 2);
	for (uint16_t sequence = 0; sequence < 2; sequence++) {
		struct segment_header h;

		assert_int_equal(segment_header_parse(rig.received.bursts[sequence]->payload,
						      SEGMENT_HEADER_SIZE, &h),
				 SEGMENT_OK);
		assert_int_equal(h.sequence, sequence);
	}
}

TEST(oversized_grant_gives_two_bursts) {
	struct access_event e = {.kind = ACCESS_BURST, .sid = 0x30, .minislot = 7, .flow = 4};
	struct uplink_stream *s = start_with_queue(4, "1280", 1290);
	struct rte_mbuf *packets[64];
	uint16_t n;

	e.bytes = e.granted = UPLINK_GRANT_LONGEST + 5000;
	insert_event(&e, 0);
	uplink_send(rig.uplink, rte_rdtsc());
	assert_int_equal(rig.uplink->scheduled->result.oversized, 1);
	assert_int_equal(s->sequence, 2);
	while ((n = rte_eth_rx_burst(rig.ports[1], 0, packets, 64)) > 0)
		rte_pktmbuf_free_bulk(packets, n);
}

TEST(full_queue_refuses_packets) {
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

TEST(invalid_messages_are_counted) {
	static const uint8_t invalid[64] = {1, 2, 3};
	struct random random = {5};
	struct grants_result result;
	uint8_t message[80] = {[17] = 3, [18] = 1, [19] = 3};
	struct rte_mbuf *m;

	granting_kit_start("84", 1000000);
	granting_kit_receive(granting_kit_packet(0, invalid, sizeof(invalid)));
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.maps_bad, 1);
	for (unsigned i = 0; i < 3000; i++) {
		m = granting_kit_packet(i % 3, message, sizeof(message));
		for (unsigned k = 0; k < 4; k++)
			rte_pktmbuf_mtod(m,
					 uint8_t *)[34 + random_below(&random, m->data_len - 34)] ^=
				(uint8_t)(1u << random_below(&random, 8));
		if (uplink_receive_maps(rig.uplink, &m, 1) == 1)
			rte_pktmbuf_free(m);
	}
	/* a packet of an unknown session is not consumed */
	m = granting_kit_packet(0, message, sizeof(message));
	rte_pktmbuf_mtod(m, uint8_t *)[34 + 3] ^= 0x40;
	assert_int_equal(uplink_receive_maps(rig.uplink, &m, 1), 1);
	rte_pktmbuf_free(m);
}

/* The sum of both shares is 100 %, so no MAP remains. */
TEST(each_map_is_lost_or_late) {
	struct map map = {.version = 5, .channel = 1, .count = 2};
	struct management m = {.version = 5, .type = MANAGEMENT_MAP};
	struct grants_result result;
	uint8_t body[MAP_BODY_MAX], message[128];

	map.elements[0] = (struct map_element){0x3000, 0, MAP_LONG};
	map.elements[1] = (struct map_element){0, 100, MAP_NULL};
	m.body = body;
	m.body_size = map_write(body, sizeof(body), &map);
	rig.impair.share[IMPAIR_MAP_LOSS] = rig.impair.share[IMPAIR_MAP_LATE] = 0.5;
	granting_kit_start("84", 1000000);
	for (unsigned i = 0; i < 100; i++)
		granting_kit_receive(granting_kit_packet(
			0, message, management_write(&m, message, sizeof(message))));
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.maps, 100);
	assert_in_range(result.maps_lost, 30, 70);
	assert_int_equal(result.maps_lost + result.maps_delayed, 100);
}

TEST(group_without_grants_settings_is_rejected) {
	assert_non_null(grants_missing_setting(&rig.sg));
	granting_kit_configure();
	assert_null(grants_missing_setting(&rig.sg));
	rig.sg.modems[1].upstream_flows[0].segment_header = false;
	assert_non_null(grants_missing_setting(&rig.sg));
}

EACH_TEST(uplink_kit_set_up, uplink_kit_tear_down)
ALL_TESTS(uplink_kit_open, uplink_kit_close)

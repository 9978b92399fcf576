/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that wait for the grants of MAPs: what they send, and what they do when something goes wrong. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "directions/uplink_parts.h"
#include "granting_rig.h"
#include "grants/grants.h"
#include "test.h"
#include "uplink_group.h"
#include "wire/segment.h"

#define PACKETS 600
#define HOUR_NS UINT64_C(3600000000000)

static struct granting_rig granting;

static void closed_begin(const char *mix, uint64_t rate) {
	granting_rig_config(&rig);
	uplink_rig_start(&rig, mix, rate);
	granting_rig_start(&granting, &rig);
	uplink_begin(rig.uplink, granting.tsc);
}

/* Bytes of the modems' queues in all bursts that came. */
static uint64_t payload(void) {
	uint64_t bytes = 0;

	for (size_t i = 0; i < rig.came.burst_count; i++) {
		if (rig.came.bursts[i]->kind == RIG_DATA)
			bytes += rig.came.bursts[i]->size - SEGMENT_HEADER_SIZE;
	}
	return bytes;
}

/* Every byte that was queued is sent, and every one that was granted is named. */
static void balance(struct grants_result *out) {
	const struct access_counts *a = &out->access;

	uplink_grants(rig.uplink, out);
	assert_int_equal(a->queued, a->sent + a->discarded + a->waiting);
	assert_int_equal(a->sent, a->used + a->beyond);
	assert_int_equal(a->granted, a->used + a->unused + a->silent_bytes + a->late_bytes +
					     a->lost_bytes + a->coming);
	assert_int_equal(out->arrived, uplink_rig_made(&rig) + out->waiting);
	assert_int_equal(uplink_rig_made(&rig), uplink_sent(rig.uplink) + out->given_up);
	assert_int_equal(payload(), a->sent);
	assert_int_equal(out->maps, granting.maps_sent);
	assert_int_equal(out->maps_missing + out->maps_bad, 0);
}

static void closed_end(struct grants_result *out) {
	granting_rig_run(&granting, 0);
	balance(out);
	assert_int_equal(out->waiting, 0);
	if (out->given_up == 0)
		uplink_rig_prove(&rig);
	granting_rig_end(&granting);
}

static void every_packet_comes_in_what_was_granted(void **state) {
	struct grants_result result;

	(void)state;
	closed_begin("upstream-imix", 20000000);
	granting_rig_run(&granting, PACKETS);
	closed_end(&result);
	assert_true(result.access.contention > 0);
	assert_true(result.records > 0);
	assert_true(result.frames > 0); /* of the channel without a session for requests */
	assert_int_equal(result.oversized, 0);
	/* but for those that met in an opportunity */
	assert_true(granting.asked <= result.access.asked);
	if (result.access.collisions == 0)
		assert_int_equal(granting.asked, result.access.asked);
	for (uint32_t c = 0; c < UPLINK_RIG_CHANNELS; c++) {
		assert_int_equal(result.use[c].id, rig.sg.upstream_channels[c].id);
		assert_true(result.use[c].maps > 0 && result.use[c].data > 0 &&
			    result.use[c].request > 0);
	}
}

/* Times are those of arrivals: of each packet that came, between the start and when it came. */
static void a_packet_is_as_old_as_its_arrival(void **state) {
	uint64_t start = rte_rdtsc();
	struct grants_result result;
	struct packet_tag tag;
	const struct uplink_stream *s;

	(void)state;
	closed_begin("84", 1000000);
	granting_rig_system_time(&granting);
	granting.silent = true; /* packets come, and wait */
	s = &rig.uplink->flows.streams[4];
	while (s->arrived < 3)
		granting_rig_round(&granting);
	assert_int_equal(s->made, 0);
	assert_true(s->arrivals[0] >= start && s->arrivals[0] < s->arrivals[2]);
	tag.tsc = s->arrivals[0];
	granting.silent = false;
	granting_rig_run(&granting, 0);
	assert_true(uplink_sent_at(rig.uplink, 4, 0) > tag.tsc);
	closed_end(&result);
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

/* What the CMTS gets first is what it counts on from. */
static void the_first_segment_comes_before_the_second(void **state) {
	struct access_event e = {.kind = ACCESS_BURST, .bytes = 300, .granted = 300};
	struct uplink_stream *s;

	(void)state;
	closed_begin("84", 1000000);
	granting.silent = true;
	granting_rig_round(&granting); /* it has a time now */
	s = &rig.uplink->flows.streams[0];
	while (s->arrived < 60)
		grants_arrive(rig.uplink->scheduled, s, 100, rte_rdtsc());
	for (uint16_t channel = 0; channel < 2; channel++) {
		e.channel = channel;
		e.sid = s->cluster->sids[channel].sid;
		decided(&e, 2u - channel);
	}
	uplink_send(rig.uplink, granting.tsc);
	assert_int_equal(s->sequence, 2);
	uplink_rig_receive(&rig);
	assert_int_equal(rig.came.burst_count, 2);
	for (uint16_t sequence = 0; sequence < 2; sequence++) {
		struct segment_header h;

		assert_int_equal(segment_header_parse(rig.came.bursts[sequence]->payload,
						      SEGMENT_HEADER_SIZE, &h),
				 SEGMENT_OK);
		assert_int_equal(h.sequence, sequence);
	}
	granting_rig_end(&granting);
}

/* A grant beyond what the CMTS takes in one burst: two of them. */
static void a_large_grant_is_two_bursts(void **state) {
	struct access_event e = {.kind = ACCESS_BURST, .sid = 0x30, .minislot = 7, .flow = 4};
	struct rte_mbuf *packets[64];
	struct uplink_stream *s;
	uint16_t n;

	(void)state;
	closed_begin("1280", 1000000);
	granting.silent = true;
	s = &rig.uplink->flows.streams[4];
	while (s->arrived < 60)
		grants_arrive(rig.uplink->scheduled, s, 1290, rte_rdtsc());
	e.bytes = e.granted = UPLINK_GRANT_LONGEST + 5000;
	decided(&e, 0);
	uplink_send(rig.uplink, granting.tsc);
	assert_int_equal(rig.uplink->scheduled->result.oversized, 1);
	assert_int_equal(s->sequence, 2);
	while ((n = rte_eth_rx_burst(rig.ports[1], 0, packets, 64)) > 0)
		rte_pktmbuf_free_bulk(packets, n);
	granting_rig_end(&granting);
}

static void lost_maps_and_requests_cost_time_only(void **state) {
	struct grants_result result;

	(void)state;
	rig.impair.share[IMPAIR_MAP_LOSS] = 0.2;
	rig.impair.share[IMPAIR_MAP_LATE] = 0.1;
	rig.impair.share[IMPAIR_REQUEST_LOSS] = 0.3;
	closed_begin("upstream-imix", 20000000);
	granting_rig_run(&granting, PACKETS);
	closed_end(&result);
	assert_true(result.maps_lost > 0 && result.maps_delayed > 0 && result.requests_lost > 0);
	assert_true(result.access.maps == result.maps - result.maps_lost);
	assert_true(result.access.late_maps >= result.maps_delayed);
	assert_true(result.access.unanswered > 0);
	assert_true(granting.asked < result.access.asked);
}

static void silent_modems_wait_for_ever(void **state) {
	struct grants_result result;

	(void)state;
	rig.impair.share[IMPAIR_SILENT_MODEM] = 1;
	closed_begin("84", 5000000);
	while (granting.maps_sent < 30)
		granting_rig_round(&granting);
	balance(&result);
	assert_int_equal(result.silent, 5); /* one has no address */
	assert_int_equal(rig.came.burst_count + rig.came.record_count, 0);
	assert_true(result.waiting > 0);
	granting_rig_end(&granting);
}

static void who_asks_without_end_hurts_nobody(void **state) {
	struct grants_result result;

	(void)state;
	rig.impair.share[IMPAIR_ENDLESS_REQUESTS] = 0.5;
	closed_begin("upstream-imix", 20000000);
	granting_rig_run(&granting, PACKETS / 4);
	closed_end(&result);
	assert_true(result.endless > 0);
	assert_true(result.access.asked > 2 * result.access.queued);
}

static void who_sends_beyond_its_grant_is_named(void **state) {
	struct grants_result result;

	(void)state;
	rig.impair.share[IMPAIR_BEYOND_GRANT] = 1;
	closed_begin("upstream-imix", 20000000);
	granting_rig_run(&granting, PACKETS / 4);
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.beyond, 5);
	assert_int_equal(result.access.sent, result.access.used + result.access.beyond);
	assert_int_equal(payload(), result.access.sent);
	granting_rig_end(&granting);
}

/* The system's clock is set by an hour: MAPs are of another time, and what waits goes on waiting. */
static void clock_jumps(int64_t ns) {
	struct grants_result result;

	closed_begin("84", 5000000);
	granting_rig_system_time(&granting);
	granting_rig_run(&granting, PACKETS / 4);
	rig.uplink->scheduled->clock.system += (uint64_t)ns;
	rig.uplink->stopping = false;
	rig.uplink->patience = 0;
	while (rig.uplink->scheduled->result.clock_jumps == 0)
		granting_rig_round(&granting);
	granting_rig_run(&granting, uplink_rig_made(&rig) + PACKETS / 4);
	closed_end(&result);
	assert_true(result.clock_jumps >= 1);
}

static void a_clock_that_jumps_costs_time_only(void **state) {
	(void)state;
	clock_jumps((int64_t)HOUR_NS);
}

static void also_when_it_jumps_forward(void **state) {
	(void)state;
	clock_jumps(-(int64_t)HOUR_NS);
}

static void full_queues_refuse(void **state) {
	struct grants_result result;
	struct uplink_stream *s;

	(void)state;
	closed_begin("84", 1000000);
	s = &rig.uplink->flows.streams[1];
	while (grants_arrive(rig.uplink->scheduled, s, 100, rte_rdtsc()))
		;
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.refused, 1);
	assert_int_equal(s->arrived, s->arrivals_mask + 1);
	assert_int_equal(result.arrived, s->arrived);
	granting_rig_end(&granting);
}

/* What is no MAP, or none of ours, and what is broken in any byte. */
static void bad_messages_are_counted(void **state) {
	static const uint8_t mangled[64] = {1, 2, 3};
	struct random random = {5};
	struct grants_result result;
	uint8_t message[80] = {[17] = 3, [18] = 1, [19] = 3};
	struct rte_mbuf *m;

	(void)state;
	closed_begin("84", 1000000);
	granting_rig_hand(&granting, granting_rig_packet(&granting, 0, mangled, sizeof(mangled)));
	uplink_grants(rig.uplink, &result);
	assert_int_equal(result.maps_bad, 1);
	for (unsigned i = 0; i < 3000; i++) {
		m = granting_rig_packet(&granting, i % 3, message, sizeof(message));
		for (unsigned k = 0; k < 4; k++)
			rte_pktmbuf_mtod(m,
					 uint8_t *)[34 + random_below(&random, m->data_len - 34)] ^=
				(uint8_t)(1u << random_below(&random, 8));
		if (uplink_hear(rig.uplink, &m, 1) == 1)
			rte_pktmbuf_free(m);
	}
	/* a session that is none of theirs is left */
	m = granting_rig_packet(&granting, 0, message, sizeof(message));
	rte_pktmbuf_mtod(m, uint8_t *)[34 + 3] ^= 0x40;
	assert_int_equal(uplink_hear(rig.uplink, &m, 1), 1);
	rte_pktmbuf_free(m);
	granting_rig_end(&granting);
}

static void what_lacks_is_told(void **state) {
	(void)state;
	assert_non_null(grants_lack(&rig.sg));
	granting_rig_config(&rig);
	assert_null(grants_lack(&rig.sg));
	rig.sg.modems[1].upstream_flows[0].segment_header = false;
	assert_non_null(grants_lack(&rig.sg));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_packet_comes_in_what_was_granted, begin, end),
		cmocka_unit_test_setup_teardown(a_packet_is_as_old_as_its_arrival, begin, end),
		cmocka_unit_test_setup_teardown(the_first_segment_comes_before_the_second, begin,
						end),
		cmocka_unit_test_setup_teardown(a_large_grant_is_two_bursts, begin, end),
		cmocka_unit_test_setup_teardown(lost_maps_and_requests_cost_time_only, begin, end),
		cmocka_unit_test_setup_teardown(silent_modems_wait_for_ever, begin, end),
		cmocka_unit_test_setup_teardown(who_asks_without_end_hurts_nobody, begin, end),
		cmocka_unit_test_setup_teardown(who_sends_beyond_its_grant_is_named, begin, end),
		cmocka_unit_test_setup_teardown(a_clock_that_jumps_costs_time_only, begin, end),
		cmocka_unit_test_setup_teardown(also_when_it_jumps_forward, begin, end),
		cmocka_unit_test_setup_teardown(full_queues_refuse, begin, end),
		cmocka_unit_test_setup_teardown(bad_messages_are_counted, begin, end),
		cmocka_unit_test_setup_teardown(what_lacks_is_told, begin, end),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}

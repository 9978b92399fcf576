/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests successive trials: each has its own counters, shape and handling of full ports. */
#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "fake_uplink.h"
#include "groups/run.h"
#include "test_main.h"
#include "traffic_kit.h"

#define PACKETS 96
#define PROVE 4
#define OVERFLOW_ROUNDS 60

static struct rig_frame first[PACKETS], second[PACKETS];

static struct traffic_load make_load(const char *mix, uint32_t prove_every) {
	struct traffic_load load = {.downstream = true, .prove_every = prove_every};
	char error[128];

	assert_int_equal(mix_parse(mix, 1996, &load.mix, error, sizeof(error)), 0);
	return load;
}

static void begin_trial(const char *mix, uint32_t prove_every, struct rig_frame *frames) {
	struct traffic_load load = make_load(mix, prove_every);

	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	rig_collect(&rig, frames, PACKETS, NULL);
}

/* Ends a trial as run_trial() does; asserts the verdicts, and that no frame violates DEPI. */
static struct traffic_result end_trial(struct rig_errors wrong) {
	struct traffic_result r = rig_end_run(&rig);

	assert_int_equal(r.sent, PACKETS);
	rig_assert_result(&r, wrong);
	for (int v = 0; v < VIOLATIONS; v++)
		assert_int_equal(r.violations[v], 0);
	return r;
}

/* Whether the frame has a DSID number; parses its MAC header into `mac`. */
static bool is_numbered(const struct rig_frame *f, struct docsis_mac *mac) {
	assert_int_equal(docsis_mac_parse(f->bytes, f->size, mac), DOCSIS_OK);
	return mac->ds == DS_EHDR_SEQUENCE;
}

static bool is_lost(unsigned i) {
	return i >= 32 && i % 13 == 0;
}

/* Sends the frames for which is_lost() equals `lost`. Returns the number of lost frames. */
static unsigned send_lost_or_not(const struct rig_frame *frames, bool lost) {
	unsigned count = 0;

	for (unsigned i = 0; i < PACKETS; i++) {
		count += is_lost(i);
		if (is_lost(i) == lost)
			rig_send_frame(&rig, &frames[i]);
	}
	return count;
}

/* A packet that arrives in the next trial is lost in its own trial, and unexpected in the next. */
TEST(late_packets_count_in_no_later_trial) {
	struct traffic_result r;
	unsigned lost;

	rig_start(&rig, "84", 7);
	begin_trial("256", 1, first);
	lost = send_lost_or_not(first, false);
	end_trial((struct rig_errors){.lost = lost});
	begin_trial("1280", 1, second);
	send_lost_or_not(first, true); /* before the new frames */
	for (unsigned i = 0; i < PACKETS; i++) {
		rig_send_frame(&rig, &second[i]);
		if (i == PACKETS / 2)
			send_lost_or_not(first, true); /* and between these */
	}
	r = end_trial((struct rig_errors){0});
	assert_int_equal(r.proven_bytes, PACKETS * 1280);
	assert_int_equal(r.sent_bytes, PACKETS * 1280);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], 2 * lost);
	begin_trial("84", 1, first);
	r = rig_finish(&rig);
	assert_int_equal(r.lost, PACKETS);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], 0);
}

/* Frames to be decrypted: without DSID number, first of a stream, each PROVE-th number. */
static unsigned count_proven(const struct rig_frame *frames) {
	bool begun[RIG_MODEMS][RIG_FLOWS_MAX] = {0};
	unsigned proven = 0;

	for (unsigned i = 0; i < PACKETS; i++) {
		const struct rig_frame *f = &frames[i];
		struct docsis_mac mac;
		bool numbered = is_numbered(f, &mac);

		if (is_lost(i))
			continue;
		proven += !numbered || mac.sequence % PROVE == 0 || !begun[f->modem][f->flow];
		begun[f->modem][f->flow] = true;
	}
	return proven;
}

TEST(counted_packets_are_counted_exactly) {
	struct traffic_result r;
	unsigned lost;

	rig_start(&rig, "84", 8);
	begin_trial("256", PROVE, first);
	lost = send_lost_or_not(first, false);
	r = end_trial((struct rig_errors){.lost = lost});
	assert_int_equal(r.proven, count_proven(first));
	assert_true(r.counted > PACKETS / 3);
	assert_int_equal(r.counted_bytes, r.counted * 256);
	begin_trial("256", PROVE, second);
	send_lost_or_not(first, true);
	rig_send_frames(&rig, second, PACKETS);
	send_lost_or_not(first, true); /* counted packets are recognized by their numbers */
	r = end_trial((struct rig_errors){0});
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], 2 * lost);
	rig_finish(&rig);
}

static unsigned find_counted_frame(const struct rig_frame *frames, unsigned from) {
	struct docsis_mac mac;

	for (unsigned i = from; i < PACKETS; i++) {
		if (is_numbered(&frames[i], &mac) && mac.sequence % PROVE != 0)
			return i;
	}
	fail_msg("no such frame");
	return 0;
}

/* Of a counted packet, header and DSID number are checked, but not the encrypted bytes. */
TEST(faults_of_counted_packets_are_detected) {
	struct traffic_result r;
	unsigned twice, header, body;

	rig_start(&rig, "84", 9);
	begin_trial("256", PROVE, first);
	twice = find_counted_frame(first, PACKETS / 2);
	header = find_counted_frame(first, twice + 1);
	body = find_counted_frame(first, header + 1);
	first[header].bytes[3] ^= 1; /* LEN, which the HCS covers */
	first[body].bytes[first[body].header_size + 60] ^= 1;
	for (unsigned i = 0; i < PACKETS; i++) {
		rig_send_frame(&rig, &first[i]);
		if (i == twice)
			rig_send_frame(&rig, &first[i]);
	}
	r = end_trial((struct rig_errors){.duplicated = 1, .corrupted = 1});
	assert_int_equal(r.corrupted_by[CORRUPTION_HCS], 1);
	rig_finish(&rig);
}

TEST(late_counted_packet_is_reordered) {
	unsigned late;

	rig_start(&rig, "84", 10);
	begin_trial("256", PROVE, first);
	late = find_counted_frame(first, PACKETS / 2);
	rig_send_frames(&rig, first, late);
	rig_send_frames(&rig, first + late + 1, PACKETS - late - 1);
	traffic_finish(rig.traffic); /* gives up missing packets */
	rig_send_frame(&rig, &first[late]);
	end_trial((struct rig_errors){.reordered = 1});
	rig_finish(&rig);
}

TEST(mix_below_minimum_size_is_rejected) {
	struct traffic_load load = make_load("64", 1);

	rig_start(&rig, "84", 11);
	load.mix.sizes[0] = 50; /* shorter than headers and tag */
	assert_int_equal(traffic_restart(rig.traffic, &load), -1);
	begin_trial("84", 1, first);
	end_trial((struct rig_errors){.lost = send_lost_or_not(first, false)});
	rig_finish(&rig);
}

static unsigned begun;

static void on_begin(void *data_plane, const struct traffic_load *load) {
	assert_ptr_equal(data_plane, &rig);
	begun++;
}

static void run_upstream(uint32_t lose_every, bool no_latency) {
	struct trial trial = {
		.run = {.groups = rig_groups(&rig), .duration_ns = 2000000},
		.load = {.upstream = true, .no_latency = no_latency, .prove_every = 1},
		.begins = on_begin,
		.data_plane = &rig,
	};
	struct traffic_result down;
	struct uplink_result up;

	fake_plan.lose_every = lose_every;
	run_trial(&trial);
	assert_true(trial.settled && trial.begun && trial.run.done);
	traffic_uplink_result(rig.traffic, &up);
	assert_true(up.sent > FAKE_INCOMPLETE);
	assert_int_equal(up.lost, lose_every == 0 ? 0 : up.sent / lose_every);
	assert_int_equal(up.proven, up.sent - up.lost);
	assert_int_equal(up.latency_us.max > 0, !no_latency);
	traffic_result(rig.traffic, &down);
	assert_int_equal(down.sent + down.lost + down.depi_frames, 0);
}

/* The fake uplink loses one of `lose_every` packets. */
TEST(upstream_trial_begins_without_old_packets) {
	struct traffic_options options = rig_options(&rig, "256", 5);
	struct trial stuck = {
		.run = {.duration_ns = 1000, .stop = 1},
		.load = {.upstream = true, .prove_every = 1},
	};

	options.upstream = true;
	fake_plan = (struct fake_plan){.pool = rig.pool, .port = rig.network[1], .burst = 1};
	rig_create(&rig, &options);
	begun = 0;
	run_upstream(5, false);
	run_upstream(0, true);
	run_upstream(3, false);
	run_upstream(0, false);
	assert_int_equal(begun, 4);
	/* a trial does not begin while packets of an earlier one are incomplete */
	fake_plan.stuck = true;
	stuck.run.groups = rig_groups(&rig);
	assert_int_equal(traffic_restart(rig.traffic, &stuck.load), 0);
	assert_true(traffic_send(rig.traffic, rte_rdtsc()) > 0);
	run_trial(&stuck);
	assert_true(stuck.run.done);
	assert_false(stuck.settled || stuck.begun);
	traffic_free(rig.traffic);
}

static unsigned drain_port(void) {
	struct rte_mbuf *m;
	unsigned n = 0;

	while (rte_eth_rx_burst(rig.network[1], 0, &m, 1) == 1) {
		rte_pktmbuf_free(m);
		n++;
	}
	return n;
}

/* Sends more packets than the port's capacity. Returns the packets in the port. */
static unsigned overflow(bool drop, struct traffic_result *r) {
	struct traffic_load load = make_load("84", 1);
	unsigned in_port;

	load.drop = drop;
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	for (unsigned round = 0; round < OVERFLOW_ROUNDS; round++)
		traffic_send(rig.traffic, rte_rdtsc());
	traffic_stop(rig.traffic);
	traffic_finish(rig.traffic);
	traffic_result(rig.traffic, r);
	assert_true(r->transmit_backpressure > 0);
	assert_int_equal(r->lost, r->sent);
	in_port = drain_port();
	assert_int_equal(traffic_in_flight(rig.traffic), in_port); /* without dropped packets */
	return in_port;
}

TEST(full_port_waits_or_drops) {
	struct traffic_result r;
	unsigned in_port;

	rig_start(&rig, "84", 12);
	in_port = overflow(false, &r);
	assert_int_equal(r.sent, in_port);
	in_port = overflow(true, &r);
	assert_int_equal(r.sent, OVERFLOW_ROUNDS * GENERATOR_BURST);
	assert_true(r.sent > in_port);
	in_port = overflow(false, &r);
	assert_int_equal(r.sent, in_port);
	traffic_free(rig.traffic);
}

/* Sends in rounds of 10 us, from `from` to `to` us after the start. Returns the packets sent. */
static unsigned send_until(unsigned from, unsigned to) {
	uint64_t us = rte_get_tsc_hz() / 1000000;
	unsigned n = 0;

	for (unsigned time_us = from; time_us < to; time_us += 10)
		n += traffic_send(rig.traffic, time_us * us);
	return n;
}

/* The shape of a trial does not affect the next trial, nor traffic after it was discarded. */
TEST(rate_follows_shape_of_trial) {
	struct traffic_load load = make_load("256", 1);
	static struct shape shape;

	shape_add(&shape, 0, 1);
	shape_add(&shape, 1e-3, 1);
	shape_add(&shape, 1e-3, 0);
	shape_add(&shape, 9e-3, 0);
	assert_null(shape_finish(&shape));
	load.rate = 500000000;
	load.shape = &shape;
	rig_start(&rig, "84", 13);
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 1010), 235, 250);
	send_until(1010, 1100); /* packets still due */
	assert_int_equal(send_until(1100, 1500), 0);
	memset(&shape, 0xff, sizeof(shape));
	traffic_forget_shape(rig.traffic);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 1010), 235, 250);
	drain_port();
	load.shape = NULL;
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 2010), 475, 495);
	drain_port();
	traffic_stop(rig.traffic);
	traffic_free(rig.traffic);
}

ALL_TESTS(rig_open, rig_close)

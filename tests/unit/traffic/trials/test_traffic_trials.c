/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials one behind the other: each has its own counts, whatever comes late, its own shape, and a wire that waits or does not. */
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

static struct traffic_load load_of(const char *mix, uint32_t prove_every) {
	struct traffic_load load = {.downstream = true, .prove_every = prove_every};
	char error[128];

	assert_int_equal(mix_parse(mix, 1996, &load.mix, error, sizeof(error)), 0);
	return load;
}

static void begin(const char *mix, uint32_t prove_every, struct rig_frame *frames) {
	struct traffic_load load = load_of(mix, prove_every);

	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	rig_take(&rig, frames, PACKETS, NULL);
}

/* Ends a trial as run_trial() does: that much is wrong, and no frame has a fault. */
static struct traffic_result end(struct rig_wrong wrong) {
	struct traffic_result r = rig_result(&rig);

	assert_int_equal(r.sent, PACKETS);
	rig_expect(&r, wrong);
	for (int v = 0; v < VIOLATIONS; v++)
		assert_int_equal(r.violations[v], 0);
	return r;
}

/* As it stands in the MAC header, if it does. */
static bool is_numbered(const struct rig_frame *f, struct docsis_mac *mac) {
	assert_int_equal(docsis_mac_parse(f->bytes, f->size, mac), DOCSIS_OK);
	return mac->ds == DS_EHDR_SEQUENCE;
}

static bool is_lost(unsigned i) {
	return i >= 32 && i % 13 == 0;
}

/* Those that are lost, or all others. Returns how many are lost. */
static unsigned send_which(const struct rig_frame *frames, bool lost) {
	unsigned count = 0;

	for (unsigned i = 0; i < PACKETS; i++) {
		count += is_lost(i);
		if (is_lost(i) == lost)
			rig_send_frame(&rig, &frames[i]);
	}
	return count;
}

/* What one trial loses and the next receives is lost in the one, and in the next a packet of before. */
TEST(late_packets_count_in_no_trial) {
	struct traffic_result r;
	unsigned lost;

	rig_start(&rig, "84", 7);
	begin("256", 1, first);
	lost = send_which(first, false);
	end((struct rig_wrong){.lost = lost});
	begin("1280", 1, second);
	send_which(first, true); /* before any of the new ones */
	for (unsigned i = 0; i < PACKETS; i++) {
		rig_send_frame(&rig, &second[i]);
		if (i == PACKETS / 2)
			send_which(first, true); /* and among them */
	}
	r = end((struct rig_wrong){0});
	assert_int_equal(r.proven_bytes, PACKETS * 1280);
	assert_int_equal(r.sent_bytes, PACKETS * 1280);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], 2 * lost);
	begin("84", 1, first);
	r = rig_finish(&rig);
	assert_int_equal(r.lost, PACKETS);
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], 0);
}

/* Those that must be decrypted: without a number, first of its stream, every PROVE-th number. */
static unsigned proven_of(const struct rig_frame *frames) {
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
	begin("256", PROVE, first);
	lost = send_which(first, false);
	r = end((struct rig_wrong){.lost = lost});
	assert_int_equal(r.proven, proven_of(first));
	assert_true(r.counted > PACKETS / 3);
	assert_int_equal(r.counted_bytes, r.counted * 256);
	begin("256", PROVE, second);
	send_which(first, true);
	rig_send_frames(&rig, second, PACKETS);
	send_which(first, true); /* known by their numbers only, where nobody decrypts them */
	r = end((struct rig_wrong){0});
	assert_int_equal(r.unexpected[UNEXPECTED_EARLIER], 2 * lost);
	rig_finish(&rig);
}

static unsigned counted_frame(const struct rig_frame *frames, unsigned from) {
	struct docsis_mac mac;

	for (unsigned i = from; i < PACKETS; i++) {
		if (is_numbered(&frames[i], &mac) && mac.sequence % PROVE != 0)
			return i;
	}
	fail_msg("no such frame");
	return 0;
}

/* Its header is checked, its number too; what is encrypted is not looked at. */
TEST(faults_of_counted_packets) {
	struct traffic_result r;
	unsigned twice, header, body;

	rig_start(&rig, "84", 9);
	begin("256", PROVE, first);
	twice = counted_frame(first, PACKETS / 2);
	header = counted_frame(first, twice + 1);
	body = counted_frame(first, header + 1);
	first[header].bytes[3] ^= 1; /* LEN, which the HCS covers */
	first[body].bytes[first[body].header_size + 60] ^= 1;
	for (unsigned i = 0; i < PACKETS; i++) {
		rig_send_frame(&rig, &first[i]);
		if (i == twice)
			rig_send_frame(&rig, &first[i]);
	}
	r = end((struct rig_wrong){.duplicated = 1, .corrupted = 1});
	assert_int_equal(r.corrupted_by[CORRUPTION_HCS], 1);
	rig_finish(&rig);
}

/* A counted packet that comes behind a later one of its DSID waits for nobody longer than a modem. */
TEST(counted_packets_are_put_in_order) {
	unsigned late;

	rig_start(&rig, "84", 10);
	begin("256", PROVE, first);
	late = counted_frame(first, PACKETS / 2);
	rig_send_frames(&rig, first, late);
	rig_send_frames(&rig, first + late + 1, PACKETS - late - 1);
	traffic_finish(rig.traffic); /* all are given up that were waited for */
	rig_send_frame(&rig, &first[late]);
	end((struct rig_wrong){.reordered = 1});
	rig_finish(&rig);
}

TEST(mixes_that_fit_no_modem_are_refused) {
	struct traffic_load load = load_of("64", 1);

	rig_start(&rig, "84", 11);
	load.mix.sizes[0] = 50; /* less than any header */
	assert_int_equal(traffic_restart(rig.traffic, &load), -1);
	begin("84", 1, first);
	end((struct rig_wrong){.lost = send_which(first, false)});
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
	assert_true(up.sent > FAKE_UNDER_WAY);
	assert_int_equal(up.lost, lose_every == 0 ? 0 : up.sent / lose_every);
	assert_int_equal(up.proven, up.sent - up.lost);
	assert_int_equal(up.latency_us.max > 0, !no_latency);
	traffic_result(rig.traffic, &down);
	assert_int_equal(down.sent + down.lost + down.depi_frames, 0);
}

/* The data plane is a wire that loses every so-manieth packet. */
TEST(upstream_trials_begin_with_nothing) {
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
	/* What one trial does not get rid of, the next must not count as its own: it does not begin. */
	fake_plan.stuck = true;
	stuck.run.groups = rig_groups(&rig);
	assert_int_equal(traffic_restart(rig.traffic, &stuck.load), 0);
	assert_true(traffic_send(rig.traffic, rte_rdtsc()) > 0);
	run_trial(&stuck);
	assert_true(stuck.run.done);
	assert_false(stuck.settled || stuck.begun);
	traffic_free(rig.traffic);
}

static unsigned on_the_wire(void) {
	struct rte_mbuf *m;
	unsigned n = 0;

	while (rte_eth_rx_burst(rig.network[1], 0, &m, 1) == 1) {
		rte_pktmbuf_free(m);
		n++;
	}
	return n;
}

/* Sends more than the wire holds. Returns the packets that it held. */
static unsigned overflow(bool drop, struct traffic_result *r) {
	struct traffic_load load = load_of("84", 1);
	unsigned held;

	load.drop = drop;
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	for (unsigned round = 0; round < OVERFLOW_ROUNDS; round++)
		traffic_send(rig.traffic, rte_rdtsc());
	traffic_stop(rig.traffic);
	traffic_finish(rig.traffic);
	traffic_result(rig.traffic, r);
	assert_true(r->transmit_backpressure > 0);
	assert_int_equal(r->lost, r->sent);
	held = on_the_wire();
	assert_int_equal(traffic_in_flight(rig.traffic), held); /* of others nothing will come */
	return held;
}

TEST(a_full_port_waits_or_loses) {
	struct traffic_result r;
	unsigned held;

	rig_start(&rig, "84", 12);
	held = overflow(false, &r);
	assert_int_equal(r.sent, held);
	held = overflow(true, &r);
	assert_int_equal(r.sent, OVERFLOW_ROUNDS * GENERATOR_BURST);
	assert_true(r.sent > held);
	held = overflow(false, &r);
	assert_int_equal(r.sent, held);
	traffic_free(rig.traffic);
}

/* In rounds of 10 us from `from` to `to`, us since the begin. Returns packets. */
static unsigned send_until(unsigned from, unsigned to) {
	uint64_t us = rte_get_tsc_hz() / 1000000;
	unsigned n = 0;

	for (unsigned at = from; at < to; at += 10)
		n += traffic_send(rig.traffic, at * us);
	return n;
}

/* Each trial has its own shape, and what is sent behind it has none. */
TEST(rates_follow_the_shape_of_their_trial) {
	struct traffic_load load = load_of("256", 1);
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
	send_until(1010, 1100); /* what was behind */
	assert_int_equal(send_until(1100, 1500), 0);
	memset(&shape, 0xff, sizeof(shape));
	traffic_forget_shape(rig.traffic);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 1010), 235, 250);
	on_the_wire();
	load.shape = NULL;
	assert_int_equal(traffic_restart(rig.traffic, &load), 0);
	traffic_begin(rig.traffic, 0);
	assert_in_range(send_until(10, 2010), 475, 495);
	on_the_wire();
	traffic_stop(rig.traffic);
	traffic_free(rig.traffic);
}

ALL_TESTS(rig_open, rig_close)

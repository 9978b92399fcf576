/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modem lookup: at most cpe_limit active addresses a modem. An address is active in the period in
 * which it was seen and in the next.
 */
#include "test.h"

#include "downstream/cpe.h"
#include "fixture.h"
#include "lookup_bench.h"
#include "packets.h"
#include "random.h"

#define MODEM 3 /* 64 IPv4 addresses, of which two may be active */
#define LIMIT 2

static struct rte_mbuf *frame(size_t address) {
	uint8_t bytes[100];
	size_t size = packet_for(&lookup_bench.sg.modems[MODEM], address, bytes, 60, 1);

	return fixture_packet(lookup_bench.packets, bytes, size);
}

/* Whether a packet for the address gets through now. */
static bool passes(size_t address) {
	struct counters *c = &lookup_bench.upper.counters;
	uint64_t dropped = c->drops[DROP_CPE_LIMIT], found = c->values[COUNTER_LOOKUP_MATCHED];
	struct rte_mbuf *m = frame(address);
	uint16_t kept = lookup_run(&m, 1);

	/* its modem was found, whatever becomes of it */
	assert_int_equal(c->values[COUNTER_LOOKUP_MATCHED], found + 1);
	if (kept == 1) {
		rte_pktmbuf_free(m);
		return true;
	}
	assert_int_equal(c->drops[DROP_CPE_LIMIT], dropped + 1);
	return false;
}

/* To a time at which nothing is active any more. */
static void forget(void) {
	lookup_bench.clock.now += 10 * (uint64_t)LOOKUP_PERIOD_NS;
	lookup_bench.clock.now -= lookup_bench.clock.now % LOOKUP_PERIOD_NS;
}

static void next_period(void) {
	lookup_bench.clock.now += LOOKUP_PERIOD_NS;
}

static void first_come_first_served(void **state) {
	(void)state;
	forget();
	assert_true(passes(5));
	assert_true(passes(63));
	assert_false(passes(0));
	assert_true(passes(5));
	assert_true(passes(63));
	assert_false(passes(6));
}

static void silence_frees_the_place(void **state) {
	(void)state;
	forget();
	assert_true(passes(1));
	assert_true(passes(2));
	next_period();
	assert_true(passes(2)); /* 1 is silent */
	assert_false(passes(3)); /* but counts in this period still */
	next_period();
	assert_true(passes(3));
	assert_false(passes(1));
	assert_true(passes(2));
	/* both are silent for two periods */
	next_period();
	next_period();
	assert_true(passes(7));
	assert_true(passes(8));
	assert_false(passes(2));
}

/* Nothing was asked for during several periods: the past is forgotten, not taken for the last. */
static void long_silence_forgets_all(void **state) {
	(void)state;
	for (uint64_t periods = 2; periods < 6; periods++) {
		forget();
		assert_true(passes(10));
		assert_true(passes(11));
		lookup_bench.clock.now += periods * LOOKUP_PERIOD_NS;
		assert_true(passes(12));
		assert_true(passes(13));
		assert_false(passes(10));
	}
}

static void a_period_ends_to_the_nanosecond(void **state) {
	(void)state;
	forget();
	assert_true(passes(20));
	assert_true(passes(21));
	lookup_bench.clock.now += 2 * (uint64_t)LOOKUP_PERIOD_NS - 1;
	assert_false(passes(22));
	lookup_bench.clock.now += 1;
	assert_true(passes(22));
}

/* A burst counts in its order; other modems and frames to the modem itself have no part in it. */
static void limit_inside_a_burst(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint8_t bytes[100];
	uint16_t n;

	(void)state;
	forget();
	for (size_t i = 0; i < 60; i += 3) {
		pkts[i] = frame(i % 5);
		packet_llc(bytes, 60, 1, lookup_bench.sg.modems[MODEM].mac);
		pkts[i + 1] = fixture_packet(lookup_bench.packets, bytes, 60);
		packet_for(&lookup_bench.sg.modems[0], i % 3, bytes, 62, 1);
		pkts[i + 2] = fixture_packet(lookup_bench.packets, bytes, 62);
	}
	n = lookup_run(pkts, 60);
	/* addresses 0 and 3 came first: 8 of 20 packets */
	assert_int_equal(n, 40 + 8);
	rte_pktmbuf_free_bulk(pkts, n);
}

/* A CPE with an address of each family is one, as each family has a limit; modem 1 has one of each, and may have
 * one of each. A number that was an IPv4 address's counts as such only while it is. */
static void families_have_limits_of_their_own(void **state) {
	struct ds_modem *modem = &lookup_bench.tables.modems[1];
	uint8_t bytes[100];
	struct rte_mbuf *m;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		forget();
		for (unsigned i = 0; i < 4; i++) {
			size_t size = packet_for(&lookup_bench.sg.modems[1], i % 2, bytes, 62, 1);

			m = fixture_packet(lookup_bench.packets, bytes, size);
			assert_int_equal(lookup_run(&m, 1), 1);
			rte_pktmbuf_free(m);
		}
	}
	assert_false(cpe_admit(modem, 5, false, modem->cpe_period));
	assert_false(cpe_admit(modem, 5, true, modem->cpe_period));
	modem->cpe_limit_ipv6 = 2;
	assert_false(cpe_admit(modem, 5, false, modem->cpe_period));
	assert_true(cpe_admit(modem, 5, true, modem->cpe_period));
	assert_false(cpe_admit(modem, 6, true, modem->cpe_period));
	modem->cpe_recent &=
		~(1ULL << 5); /* the address goes; its number is one of the other family's */
	modem->cpe_limit = 2;
	assert_true(cpe_admit(modem, 5, false, modem->cpe_period));
	assert_false(cpe_admit(modem, 6, false, modem->cpe_period));
	assert_true(cpe_admit(modem, 6, true, modem->cpe_period));
	assert_int_equal(cpe_active_addresses(&lookup_bench.upper, 1), 4);
	modem->cpe_limit = modem->cpe_limit_ipv6 = 1;
}

/* Frames to the modem itself take nobody's place. */
static void modem_is_no_cpe(void **state) {
	uint8_t bytes[60];
	struct rte_mbuf *m;

	(void)state;
	forget();
	packet_llc(bytes, sizeof(bytes), 1, lookup_bench.sg.modems[MODEM].mac);
	m = fixture_packet(lookup_bench.packets, bytes, sizeof(bytes));
	assert_int_equal(lookup_run(&m, 1), 1);
	rte_pktmbuf_free(m);
	assert_true(passes(1));
	assert_true(passes(2));
	assert_false(passes(0));
}

/* ARP for an address counts as the address does. */
static void arp_counts(void **state) {
	uint8_t bytes[60];
	struct rte_mbuf *m;

	(void)state;
	forget();
	assert_true(passes(0));
	packet_arp(bytes, sizeof(bytes), 1, (const uint8_t[]){10, 0, 3, 1});
	m = fixture_packet(lookup_bench.packets, bytes, sizeof(bytes));
	assert_int_equal(lookup_run(&m, 1), 1);
	rte_pktmbuf_free(m);
	assert_false(passes(2));
	assert_true(passes(1));
}

/* Against sets of addresses kept by hand, with time that passes at random. */
static void agrees_with_a_plain_model(void **state) {
	bool recent[SG_MAX_MODEM_ADDRESSES] = {0}, before[SG_MAX_MODEM_ADDRESSES] = {0};
	struct random r = {5};
	unsigned admitted = 0;

	(void)state;
	forget();
	for (int step = 0; step < 20000; step++) {
		size_t address = random_below(&r, 8) * 9;
		unsigned active = 0;
		bool expected;

		for (size_t i = 0; i < SG_MAX_MODEM_ADDRESSES; i++)
			active += recent[i] || before[i];
		expected = recent[address] || before[address] || active < LIMIT;
		if (expected)
			recent[address] = true;
		admitted += expected;
		assert_int_equal(passes(address), expected);
		for (uint32_t periods = random_below(&r, 12); periods >= 10; periods--) {
			next_period();
			memcpy(before, recent, sizeof(before));
			memset(recent, 0, sizeof(recent));
		}
	}
	assert_in_range(admitted, 4000, 16000);
}

/* As many as the limit counts, in the same two periods, of all modems together. */
static void activity_is_told(void **state) {
	struct cpe_activity a;

	(void)state;
	forget();
	a = cpe_activity(&lookup_bench.upper);
	assert_int_equal(a.modems, 0);
	assert_int_equal(a.addresses, 0);
	assert_true(passes(1));
	assert_true(passes(2));
	assert_false(passes(3));
	a = cpe_activity(&lookup_bench.upper);
	assert_int_equal(a.modems, 1);
	assert_int_equal(a.addresses, 2);
	next_period();
	assert_int_equal(cpe_activity(&lookup_bench.upper).addresses, 2);
	assert_true(passes(2));
	assert_int_equal(cpe_activity(&lookup_bench.upper).addresses, 2);
	next_period();
	assert_int_equal(cpe_activity(&lookup_bench.upper).addresses, 1);
	next_period();
	assert_int_equal(cpe_activity(&lookup_bench.upper).modems, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activity_is_told),
		cmocka_unit_test(families_have_limits_of_their_own),
		cmocka_unit_test(first_come_first_served),
		cmocka_unit_test(silence_frees_the_place),
		cmocka_unit_test(long_silence_forgets_all),
		cmocka_unit_test(a_period_ends_to_the_nanosecond),
		cmocka_unit_test(limit_inside_a_burst),
		cmocka_unit_test(modem_is_no_cpe),
		cmocka_unit_test(arp_counts),
		cmocka_unit_test(agrees_with_a_plain_model),
		cmocka_unit_test(lookup_bench_end),
	};

	return cmocka_run_group_tests(tests, lookup_bench_open, fixture_stop);
}

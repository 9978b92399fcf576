/* SPDX-License-Identifier: BSD-3-Clause */
/* L2TPv3 packets: each reason to drop one, the order of PSP, and nothing read behind their end. */
#include "test.h"

#include <string.h>

#include <rte_ethdev.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#include "fixture.h"
#include "upstream_bench.h"

#define IP ETHERNET_HEADER
#define SESSION (IP + IPV4_HEADER)
#define PSP (SESSION + L2TP_SESSION_SIZE)
#define PACKET 64 /* bytes of IP in a good packet */
#define STREAM 6 /* in the clear, without segment headers, SC-QAM */

static struct upstream_bench storage, *const bench = &storage;

/* A whole burst with a packet in it. Returns its size. */
static size_t good(uint8_t *out) {
	uint8_t frame[BENCH_FRAME_MAX];
	struct bench_psp p;
	size_t size = bench_mac(bench, STREAM, PACKET, frame);

	psp_open(&p, BENCH_SC_QAM);
	psp_add_header(bench, &p, bench_streams[STREAM].sid);
	psp_add(&p, false, false, frame, size);
	psp_add_trailer(bench, &p);
	return psp_write(bench, &p, out);
}

/* Nothing comes of a packet that is not good; its number and its serial are used again. */
static size_t bad(uint8_t *out) {
	size_t size = good(out);

	bench->serial[STREAM]--;
	bench->psp[0][0]--;
	return size;
}

static void refused(const uint8_t *frame, size_t size, enum drop_reason reason) {
	bench_inject(bench, frame, size);
	bench_expect(bench, reason, 1);
	bench_settle(bench);
	assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
}

static void checksum(uint8_t *frame) {
	store_be16(frame + IP + 10, ipv4_checksum(frame + IP, IPV4_HEADER));
}

static void headers_of_the_outside(void **state) {
	uint8_t f[BENCH_PACKET_MAX];
	size_t n;

	(void)state;
	bench_open(bench);
	n = bad(f);
	refused(f, ETHERNET_HEADER - 1, DROP_OUTER_RUNT);
	store_be16(f + 12, ETHERTYPE_ARP);
	refused(f, n, DROP_NOT_L2TP);
	bad(f);
	f[IP] = 0x44;
	refused(f, n, DROP_OUTER_IP_HEADER);
	bad(f);
	store_be16(f + IP + 2, (uint16_t)(n - IP + 1));
	checksum(f);
	refused(f, n, DROP_OUTER_IP_LENGTH);
	bad(f);
	f[IP + 10] ^= 1;
	refused(f, n, DROP_OUTER_IP_CHECKSUM);
	bad(f);
	store_be16(f + IP + 6, 0x2000);
	checksum(f);
	refused(f, n, DROP_OUTER_FRAGMENT);
	bad(f);
	f[IP + 9] = IP_PROTOCOL_TCP;
	checksum(f);
	refused(f, n, DROP_NOT_L2TP);
	bad(f);
	store_be16(f + IP + 2, IPV4_HEADER + 3);
	checksum(f);
	refused(f, n, DROP_L2TP_TRUNCATED);
	bad(f);
	store_be32(f + SESSION, 0);
	refused(f, n, DROP_L2TP_CONTROL);
	bench_inject(bench, f, good(f));
	bench_settle(bench);
	bench_complete(bench, STREAM);
	bench_close(bench);
}

/* Over UDP, with the version of another protocol of the same port. */
static void version_of_l2tp(void **state) {
	uint8_t f[BENCH_PACKET_MAX];

	(void)state;
	bench_open(bench);
	bad(f);
	f[IP + 9] = IP_PROTOCOL_UDP;
	checksum(f);
	store_be32(f + SESSION, L2TP_PORT << 16 | L2TP_PORT);
	store_be32(f + SESSION + 4, (PACKET - 1u) << 16);
	store_be32(f + SESSION + 8, 0x00020000);
	refused(f, IP + load_be16(f + IP + 2), DROP_L2TP_VERSION);
	bench_close(bench);
}

static void only_from_the_device_to_us(void **state) {
	uint8_t f[BENCH_PACKET_MAX];
	size_t n;

	(void)state;
	bench_open(bench);
	for (unsigned at = 12; at < 20; at++) { /* each byte of both addresses */
		n = bad(f);
		f[IP + at] ^= 1;
		checksum(f);
		refused(f, n, DROP_OUTER_ADDRESS);
	}
	n = bad(f);
	store_be32(f + SESSION, 0x20009);
	refused(f, n, DROP_UNKNOWN_SESSION);
	bench_close(bench);
}

static void stands_in_one_buffer(void **state) {
	struct rte_mbuf *m, *more;
	uint8_t f[BENCH_PACKET_MAX];

	(void)state;
	bench_open(bench);
	m = fixture_packet(bench->packets, f, bad(f));
	more = fixture_packet(bench->packets, f, 10);
	rte_pktmbuf_chain(m, more);
	assert_int_equal(rte_eth_tx_burst(bench->rphy, 0, &m, 1), 1);
	bench->injected++;
	bench_expect(bench, DROP_OUTER_CHAINED, 1);
	bench_settle(bench);
	bench_close(bench);
}

/* Padding behind the IP packet is no payload. */
static void padding_of_ethernet(void **state) {
	uint8_t f[BENCH_PACKET_MAX] = {0};
	size_t n;

	(void)state;
	bench_open(bench);
	n = good(f);
	memset(f + n, 0xee, 10);
	bench_inject(bench, f, n + 10);
	bench_settle(bench);
	bench_complete(bench, STREAM);
	bench_close(bench);
}

static void over_ipv6(void **state) {
	uint8_t f[BENCH_PACKET_MAX];

	(void)state;
	bench_prepare(bench);
	bench->sg.rphy.core_ip = (struct ip_address){6, {0x20, 1, [15] = 1}};
	bench->sg.rphy.rpd_ip = (struct ip_address){6, {0x20, 1, [15] = 2}};
	bench_start(bench);
	bench_inject(bench, f, good(f));
	bench_settle(bench);
	bench_complete(bench, STREAM);
	for (unsigned at = 8; at < 40; at++) {
		size_t n = bad(f);

		f[IP + at] ^= 0x10;
		refused(f, n, DROP_OUTER_ADDRESS);
	}
	bench_close(bench);
}

static void psp_that_is_none(void **state) {
	uint8_t f[BENCH_PACKET_MAX];
	size_t n;

	(void)state;
	bench_open(bench);
	n = bad(f);
	f[PSP] |= PSP_VCCV;
	refused(f, n, DROP_PSP_CONTROL);
	bad(f);
	f[PSP] |= 0x10;
	refused(f, n, DROP_PSP_EXTENDED);
	bad(f);
	f[PSP + PSP_HEADER_FIXED + 1]++; /* a segment longer than it is */
	refused(f, n, DROP_PSP_TRUNCATED);
	bad(f);
	f[PSP + PSP_HEADER_FIXED + 1]--;
	refused(f, n, DROP_PSP_TRAILING);
	bench_close(bench);
}

/*
 * A packet that ends after every one of its bytes, where readable memory ends, too. With a length in
 * IP that says so it is as long as it is.
 */
static void every_truncation(void **state) {
	uint8_t whole[BENCH_PACKET_MAX], f[BENCH_PACKET_MAX];
	size_t n;

	(void)state;
	bench_open(bench);
	n = bad(whole);
	for (size_t size = 0; size < n; size++) {
		enum drop_reason reason = size < PSP ? DROP_L2TP_TRUNCATED : DROP_PSP_TRUNCATED;

		memcpy(f, whole, size);
		if (size >= SESSION) {
			store_be16(f + IP + 2, (uint16_t)(size - IP));
			checksum(f);
		} else {
			reason = size < IP ? DROP_OUTER_RUNT : DROP_OUTER_IP_HEADER;
		}
		bench_expect(bench, reason, 1);
		bench_inject_guarded(bench, f, size);
		bench_settle(bench);
		assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
	}
	bench_inject_guarded(bench, f, good(f));
	bench_settle(bench);
	bench_complete(bench, STREAM);
	bench_close(bench);
}

/* A packet of one of our numbers. */
static void numbered(uint8_t flow, uint16_t number) {
	uint8_t frame[BENCH_FRAME_MAX];
	struct bench_psp p;
	size_t size = bench_mac(bench, STREAM, PACKET, frame);

	psp_open(&p, BENCH_SC_QAM);
	p.numbered = true;
	p.flow = flow;
	p.sequence = number;
	psp_add_header(bench, &p, bench_streams[STREAM].sid);
	psp_add(&p, false, false, frame, size);
	psp_add_trailer(bench, &p);
	psp_send(bench, &p);
	bench_settle(bench);
}

static void expect_gaps(uint64_t gaps, uint64_t missing, uint64_t reordered) {
	assert_int_equal(bench_count(bench, COUNTER_PSP_GAPS), gaps);
	assert_int_equal(bench_count(bench, COUNTER_PSP_MISSING), missing);
	assert_int_equal(bench_count(bench, COUNTER_PSP_REORDERED), reordered);
}

/* What is ahead waits, in whatever order it comes; the serials follow the numbers. */
static void put_into_order(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 65534);
	bench->serial[STREAM] = 4;
	numbered(0, 2);
	bench->serial[STREAM] = 2;
	numbered(0, 0);
	assert_int_equal(upstream_held(bench->u, UNIT_PACKET), 2);
	assert_int_equal(bench->came[STREAM], 1);
	bench->serial[STREAM] = 1;
	numbered(0, 65535);
	bench->serial[STREAM] = 3;
	numbered(0, 1);
	bench->serial[STREAM] = 5;
	bench_complete(bench, STREAM);
	expect_gaps(0, 0, 3);
	bench_close(bench);
}

static void given_up_after_their_time(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 10);
	bench->clock.now += 7;
	numbered(0, 12); /* 11 is missing */
	numbered(0, 15); /* 13 and 14 */
	assert_true(upstream_deadline(bench->u) == 7 + 5 * BENCH_MS);
	bench_after(bench, 5 * BENCH_MS - 1);
	expect_gaps(0, 0, 0);
	bench_after(bench, 1);
	assert_int_equal(bench->came[STREAM], 2);
	expect_gaps(1, 1, 0);
	/* the second gap is the first now: its time begins */
	assert_true(upstream_deadline(bench->u) == 7 + 10 * BENCH_MS);
	bench_after(bench, 5 * BENCH_MS);
	bench_complete(bench, STREAM);
	expect_gaps(2, 3, 0);
	assert_int_equal(bench->u->holds.bytes, 0);
	bench->serial[STREAM]++; /* this one does not come */
	numbered(0, 14);
	bench_expect(bench, DROP_PSP_LATE, 1);
	numbered(0, 15);
	bench_expect(bench, DROP_PSP_DUPLICATE, 1);
	bench_close(bench);
}

/* No time to wait: what is ahead goes on in the same round. */
static void no_time_at_all(void **state) {
	(void)state;
	bench_prepare(bench);
	bench->sg.upstream.reorder_timeout_ns = 0;
	bench_start(bench);
	numbered(0, 10);
	numbered(0, 12);
	numbered(0, 14);
	bench_complete(bench, STREAM);
	expect_gaps(2, 2, 0);
	bench_close(bench);
}

/* 32 ahead of the first missing one waits, 33 ahead does not. */
static void too_far_ahead(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 100);
	numbered(0, 101 + 32);
	expect_gaps(0, 0, 0);
	numbered(0, 101 + 33);
	expect_gaps(1, 32, 0);
	bench_complete(bench, STREAM);
	numbered(0, 135 + 33); /* nothing waits: up to what has just come */
	expect_gaps(2, 65, 0);
	bench_complete(bench, STREAM);
	bench_close(bench);
}

static void device_begins_anew(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 40000);
	numbered(0, 40002);
	for (uint16_t i = 0; i < 64; i++)
		numbered(0, 20000 + i);
	bench_expect(bench, DROP_PSP_LATE, 64);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 0);
	numbered(0, 20064);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 1);
	assert_int_equal(bench->came[STREAM], 3);
	expect_gaps(1, 1, 0);
	numbered(0, 20065);
	assert_int_equal(bench->came[STREAM], 4);
	bench_close(bench);
}

/* Each flow of a session counts for itself, and so does each session. */
static void numbers_of_flows(void **state) {
	(void)state;
	bench_open(bench);
	for (uint8_t flow = 0; flow <= PSP_FLOW_MAX; flow++) {
		numbered(flow, flow * 1000);
		numbered(flow, flow * 1000 + 1);
	}
	bench_complete(bench, STREAM);
	numbered(3, 3003);
	numbered(4, 4002);
	assert_int_equal(upstream_held(bench->u, UNIT_PACKET), 1);
	expect_gaps(0, 0, 0);
	bench->any_drops = true; /* the one that is held */
	bench_close(bench);
}

static void numbers_of_sessions(void **state) {
	(void)state;
	bench_prepare(bench);
	bench->sg.upstream.psp_numbering = PSP_NUMBERING_SESSION;
	bench_start(bench);
	for (uint16_t i = 0; i < 20; i++)
		numbered(i % 8, i);
	bench_complete(bench, STREAM);
	numbered(3, 21);
	numbered(4, 22);
	assert_int_equal(upstream_held(bench->u, UNIT_PACKET), 2);
	bench_after(bench, 5 * BENCH_MS);
	bench_complete(bench, STREAM);
	expect_gaps(1, 1, 0);
	bench_close(bench);
}

/* S = 0: as they come, and the count does not notice. */
static void without_numbers(void **state) {
	uint8_t f[BENCH_PACKET_MAX];

	(void)state;
	bench_open(bench);
	for (int i = 0; i < 100; i++) {
		size_t n = good(f);

		if (i % 3 == 0) {
			f[PSP] &= (uint8_t)~PSP_SEQUENCE_VALID;
			store_be16(f + PSP + 2, (uint16_t)random_next(&bench->random));
			bench->psp[0][0]--;
		}
		bench_inject(bench, f, n);
		bench_settle(bench);
	}
	bench_complete(bench, STREAM);
	expect_gaps(0, 0, 0);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_the_outside),
		cmocka_unit_test(version_of_l2tp),
		cmocka_unit_test(only_from_the_device_to_us),
		cmocka_unit_test(stands_in_one_buffer),
		cmocka_unit_test(padding_of_ethernet),
		cmocka_unit_test(over_ipv6),
		cmocka_unit_test(psp_that_is_none),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(put_into_order),
		cmocka_unit_test(given_up_after_their_time),
		cmocka_unit_test(no_time_at_all),
		cmocka_unit_test(too_far_ahead),
		cmocka_unit_test(device_begins_anew),
		cmocka_unit_test(numbers_of_flows),
		cmocka_unit_test(numbers_of_sessions),
		cmocka_unit_test(without_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}

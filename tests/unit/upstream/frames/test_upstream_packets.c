/* SPDX-License-Identifier: BSD-3-Clause */
/* L2TPv3 packets: each reason to drop one, and nothing read behind their end. */
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
	/* IPv6 addresses that begin like ours */
	bench->sg.rphy.core_ip.family = bench->sg.rphy.rpd_ip.family = 6;
	n = bad(f);
	bench->sg.rphy.core_ip.family = bench->sg.rphy.rpd_ip.family = 4;
	refused(f, n, DROP_OUTER_ADDRESS);
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
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modem lookup: each reason to drop a packet, what it writes into those that it keeps, sizes at the
 * limits, checksums that the port has seen or not, packets in several buffers.
 */
#include "test.h"

#include "pipeline/packet.h"
#include "wire/bytes.h"
#include "wire/ip.h"

#include "fixture.h"
#include "lookup_bench.h"
#include "packets.h"
#include "random.h"

#define MAX_FRAME 1996 /* without CRC */

static const uint8_t known[4] = {10, 0, 0, 1};
static const uint8_t unknown[4] = {10, 0, 0, 99};
static const uint8_t known6[16] = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, [15] = 1};

/* Passes one frame through the stage; it must be dropped for `reason`, or kept at DROP_REASONS. */
static void expect(struct rte_mbuf *m, enum drop_reason reason, const char *what) {
	struct counters *c = &lookup_bench.upper.counters;
	uint16_t n;

	*c = (struct counters){0};
	n = lookup_run(&m, 1);
	if (n != (reason == DROP_REASONS))
		fail_msg("%s: kept %u", what, n);
	if (reason != DROP_REASONS && c->drops[reason] != 1)
		fail_msg("%s: not dropped as %s", what, drop_name(reason));
	assert_int_equal(counters_dropped(c), reason != DROP_REASONS);
	if (n == 1)
		rte_pktmbuf_free(m);
	assert_int_equal(rte_mempool_in_use_count(lookup_bench.packets), 0);
}

static void expect_bytes(const uint8_t *frame, size_t size, enum drop_reason reason,
			 const char *what) {
	expect(fixture_packet(lookup_bench.packets, frame, size), reason, what);
}

/* A good IPv4 frame with one byte changed. */
static void expect_changed(size_t at, uint8_t value, bool checksum, enum drop_reason reason,
			   const char *what) {
	uint8_t frame[100];

	packet_ipv4(frame, sizeof(frame), 1, known);
	frame[at] = value;
	if (checksum)
		packet_ipv4_checksum(frame);
	expect_bytes(frame, sizeof(frame), reason, what);
}

static void ipv4_reasons(void **state) {
	uint8_t frame[100];

	(void)state;
	expect_changed(0, 2, true, DROP_REASONS, "good");
	expect_changed(14, 0x55, true, DROP_IPV4_HEADER, "version 5");
	expect_changed(14, 0x44, true, DROP_IPV4_HEADER, "header of 16 bytes");
	expect_changed(17, 19, true, DROP_IPV4_LENGTH, "shorter than its header");
	expect_changed(17, 87, true, DROP_IPV4_LENGTH, "one byte longer than the frame");
	expect_changed(17, 86, true, DROP_REASONS, "as long as the frame");
	expect_changed(17, 60, true, DROP_REASONS, "padded");
	expect_changed(24, 0x55, false, DROP_IPV4_CHECKSUM, "checksum");
	expect_changed(22, 63, false, DROP_IPV4_CHECKSUM, "another byte than it was made for");
	expect_changed(12, 0x81, true, DROP_VLAN, "802.1Q");
	packet_ipv4(frame, sizeof(frame), 1, known);
	store_be16(frame + 12, ETHERTYPE_SERVICE_VLAN);
	expect_bytes(frame, sizeof(frame), DROP_VLAN, "802.1ad");
	packet_ipv4(frame, sizeof(frame), 1, unknown);
	expect_bytes(frame, sizeof(frame), DROP_UNKNOWN_DESTINATION, "unknown");
	packet_ipv4(frame, sizeof(frame), 1, (const uint8_t[]){224, 0, 0, 1});
	expect_bytes(frame, sizeof(frame), DROP_MULTICAST, "first multicast");
	packet_ipv4(frame, sizeof(frame), 1, (const uint8_t[]){239, 255, 255, 255});
	expect_bytes(frame, sizeof(frame), DROP_MULTICAST, "last multicast");
	packet_ipv4(frame, sizeof(frame), 1, (const uint8_t[]){255, 255, 255, 255});
	expect_bytes(frame, sizeof(frame), DROP_MULTICAST, "broadcast");
	packet_ipv4(frame, sizeof(frame), 1, (const uint8_t[]){223, 255, 255, 255});
	expect_bytes(frame, sizeof(frame), DROP_UNKNOWN_DESTINATION, "last unicast");
	packet_ipv4(frame, sizeof(frame), 1, (const uint8_t[]){240, 0, 0, 0});
	expect_bytes(frame, sizeof(frame), DROP_UNKNOWN_DESTINATION, "reserved");
	for (size_t size = 14; size < 34; size++) {
		packet_ipv4(frame, sizeof(frame), 1, known);
		expect_bytes(frame, size, DROP_IPV4_HEADER, "cut off in the header");
	}
}

static void ipv6_reasons(void **state) {
	uint8_t frame[100], destination[16];

	(void)state;
	packet_ipv6(frame, sizeof(frame), 1, known6);
	expect_bytes(frame, sizeof(frame), DROP_REASONS, "good");
	expect_bytes(frame, sizeof(frame) - 1, DROP_IPV6_LENGTH, "one byte short");
	expect_bytes(frame, 53, DROP_IPV6_HEADER, "cut off in the header");
	frame[14] = 0x40;
	expect_bytes(frame, sizeof(frame), DROP_IPV6_HEADER, "version 4");
	packet_ipv6(frame, sizeof(frame), 1, known6);
	frame[20] = 0; /* hop-by-hop options that claim more than is there */
	frame[55] = 200;
	expect_bytes(frame, sizeof(frame), DROP_IPV6_HEADER, "extension header");
	memcpy(destination, known6, 16);
	destination[15] = 2;
	packet_ipv6(frame, sizeof(frame), 1, destination);
	expect_bytes(frame, sizeof(frame), DROP_UNKNOWN_DESTINATION, "unknown");
	destination[0] = 0xff;
	packet_ipv6(frame, sizeof(frame), 1, destination);
	expect_bytes(frame, sizeof(frame), DROP_MULTICAST, "multicast");
}

static void llc_reasons(void **state) {
	const struct modem *m = &lookup_bench.sg.modems[1];
	uint8_t frame[100], mac[6];

	(void)state;
	packet_arp(frame, 60, 1, known);
	expect_bytes(frame, 60, DROP_REASONS, "ARP for a known address");
	expect_bytes(frame, 42, DROP_REASONS, "ARP without padding");
	expect_bytes(frame, 41, DROP_ARP_MALFORMED, "ARP cut off");
	frame[15] = 6;
	expect_bytes(frame, 60, DROP_ARP_MALFORMED, "ARP of another hardware");
	packet_arp(frame, 60, 1, unknown);
	expect_bytes(frame, 60, DROP_UNKNOWN_DESTINATION, "ARP for an unknown address");
	packet_llc(frame, 14, 1, m->mac);
	expect_bytes(frame, 14, DROP_REASONS, "the smallest frame");
	for (size_t size = 1; size < 14; size++)
		expect_bytes(frame, size, DROP_RUNT, "runt");
	memcpy(mac, m->mac, 6);
	mac[5] ^= 0x40;
	packet_llc(frame, 60, 1, mac);
	expect_bytes(frame, 60, DROP_UNKNOWN_DESTINATION, "unknown MAC address");
	mac[0] |= 1;
	packet_llc(frame, 60, 1, mac);
	expect_bytes(frame, 60, DROP_MULTICAST, "group MAC address");
}

static void sizes_at_the_limits(void **state) {
	uint8_t frame[PACKET_MAX];

	(void)state;
	packet_ipv4(frame, MAX_FRAME, 1, known);
	expect_bytes(frame, MAX_FRAME, DROP_REASONS, "the largest frame");
	packet_ipv4(frame, MAX_FRAME + 1, 1, known);
	expect_bytes(frame, MAX_FRAME + 1, DROP_FRAME_TOO_LONG, "one byte more");
	expect(rte_pktmbuf_alloc(lookup_bench.packets), DROP_RUNT, "an empty buffer");
}

/* What the port says of the checksum counts; where it says nothing it is computed. */
static void checksum_of_the_port(void **state) {
	static const struct {
		uint64_t flags;
		enum drop_reason good, bad;
	} cases[] = {
		{RTE_MBUF_F_RX_IP_CKSUM_GOOD, DROP_REASONS, DROP_REASONS},
		{RTE_MBUF_F_RX_IP_CKSUM_BAD, DROP_IPV4_CHECKSUM, DROP_IPV4_CHECKSUM},
		/* verified, and the field is yet to be filled in */
		{RTE_MBUF_F_RX_IP_CKSUM_NONE, DROP_REASONS, DROP_REASONS},
		{RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN, DROP_REASONS, DROP_IPV4_CHECKSUM},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint8_t frame[100];
		struct rte_mbuf *m;

		packet_ipv4(frame, sizeof(frame), 1, known);
		m = fixture_packet(lookup_bench.packets, frame, sizeof(frame));
		m->ol_flags = cases[i].flags;
		expect(m, cases[i].good, "right checksum");
		frame[24] ^= 0x10;
		m = fixture_packet(lookup_bench.packets, frame, sizeof(frame));
		m->ol_flags = cases[i].flags;
		expect(m, cases[i].bad, "wrong checksum");
	}
}

/* The same frame in buffers of `first`, `second` and the remaining bytes. */
static struct rte_mbuf *chain(const uint8_t *frame, size_t size, size_t first, size_t second) {
	const size_t sizes[] = {first, second, size - first - second};
	struct rte_mbuf *m = NULL;

	for (size_t i = 0; i < 3; frame += sizes[i++]) {
		struct rte_mbuf *part = fixture_packet(lookup_bench.packets, frame, sizes[i]);

		if (m == NULL)
			m = part;
		else
			assert_int_equal(rte_pktmbuf_chain(m, part), 0);
	}
	return m;
}

static void packets_in_several_buffers(void **state) {
	static const size_t cuts[][2] = {{1, 1},  {13, 1},   {14, 20},
					 {20, 0}, {33, 500}, {1000, 995}};
	uint8_t frame[PACKET_MAX];

	(void)state;
	packet_ipv4(frame, MAX_FRAME, 1, known);
	for (size_t i = 0; i < ARRAY_COUNT(cuts); i++) {
		struct rte_mbuf *m = chain(frame, MAX_FRAME, cuts[i][0], cuts[i][1]);

		assert_int_equal(lookup_run(&m, 1), 1);
		fixture_check(m);
		assert_int_equal(m->nb_segs, 1);
		assert_int_equal(rte_pktmbuf_data_len(m), MAX_FRAME);
		assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 6), frame + 6,
				    MAX_FRAME - 6);
		rte_pktmbuf_free(m);
	}
	/* the first buffer has no room for the rest */
	struct rte_mbuf *m = chain(frame, MAX_FRAME, 20, 20);

	rte_pktmbuf_reset_headroom(m);
	m->data_off = (uint16_t)(m->buf_len - m->data_len - 100);
	expect(m, DROP_NO_ROOM, "no room in the first buffer");
}

/* Each frame that could be read counts for its kind, each that found a modem as found. */
static void kinds_are_counted(void **state) {
	const struct counters *c = &lookup_bench.upper.counters;
	uint8_t frame[100];

	(void)state;
	packet_ipv4(frame, sizeof(frame), 1, known);
	expect_bytes(frame, sizeof(frame), DROP_REASONS, "IPv4");
	assert_int_equal(c->values[COUNTER_IPV4], 1);
	assert_int_equal(c->values[COUNTER_LOOKUP_MATCHED], 1);
	packet_ipv4(frame, sizeof(frame), 1, unknown);
	expect_bytes(frame, sizeof(frame), DROP_UNKNOWN_DESTINATION, "IPv4 to nobody");
	assert_int_equal(c->values[COUNTER_IPV4], 1);
	assert_int_equal(c->values[COUNTER_LOOKUP_MATCHED], 0);
	packet_ipv6(frame, sizeof(frame), 1, known6);
	expect_bytes(frame, sizeof(frame), DROP_REASONS, "IPv6");
	assert_int_equal(c->values[COUNTER_IPV6], 1);
	packet_arp(frame, 60, 1, known);
	expect_bytes(frame, 60, DROP_REASONS, "ARP");
	assert_int_equal(c->values[COUNTER_LLC], 1);
	packet_llc(frame, 60, 1, lookup_bench.sg.modems[1].mac);
	expect_bytes(frame, 60, DROP_REASONS, "LLC");
	assert_int_equal(c->values[COUNTER_LLC], 1);
}

/* What rules ask for, of frames that parse has to look at for longer. */
static void rows_of_rare_frames(void **state) {
	const struct ds_row *row = lookup_bench.upper.rows;
	uint8_t frame[100];

	(void)state;
	packet_ipv4(frame, sizeof(frame), 1, known);
	frame[15] = 0xb8;
	frame[23] = 1; /* ICMP */
	packet_ipv4_checksum(frame);
	expect_bytes(frame, sizeof(frame), DROP_REASONS, "ICMP");
	assert_int_equal(row->key.flow.family, RULE_IPV4);
	assert_int_equal(row->key.flow.protocol, 1);
	assert_int_equal(row->key.flow.tos, 0xb8);
	assert_int_equal(row->key.flow.source_port | row->key.flow.destination_port, 0);
	assert_memory_equal(row->key.flow.ipv4.source, frame + 26, 8);
	packet_ipv6(frame, sizeof(frame), 1, known6);
	frame[14] = 0x6a;
	frame[15] = 0x50;
	frame[20] = 58; /* ICMPv6 */
	expect_bytes(frame, sizeof(frame), DROP_REASONS, "ICMPv6");
	assert_int_equal(row->key.flow.family, RULE_IPV6);
	assert_int_equal(row->key.flow.protocol, 58);
	assert_int_equal(row->key.flow.tos, 0xa5);
	assert_memory_equal(row->key.flow.ipv6.source, frame + 22, 32);
	packet_llc(frame, 60, 1, lookup_bench.sg.modems[1].mac);
	expect_bytes(frame, 60, DROP_REASONS, "LLC");
	assert_int_equal(row->key.flow.family, RULE_LLC);
	assert_int_equal(row->key.flow.llc.ethertype, rte_cpu_to_be_32(0x88b5));
}

/* Modem, row, address: what later stages rely on. */
static void kept_packets_are_marked(void **state) {
	const struct service_group *sg = &lookup_bench.sg;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint8_t frame[200];
	uint16_t n = 0;

	(void)state;
	for (uint32_t modem = 0; modem < sg->modem_count; modem++) {
		const struct modem *m = &sg->modems[modem];

		packet_ipv4(frame, 100, 0, unknown); /* dropped between the kept ones */
		pkts[n++] = fixture_packet(lookup_bench.packets, frame, 100);
		packet_for(m, 0, frame, 100, modem);
		pkts[n++] = fixture_packet(lookup_bench.packets, frame, 100);
		packet_llc(frame, 100, modem, m->mac);
		pkts[n++] = fixture_packet(lookup_bench.packets, frame, 100);
	}
	n = lookup_run(pkts, n);
	assert_int_equal(n, 2 * sg->modem_count);
	for (uint16_t i = 0; i < n; i++) {
		const uint8_t *bytes = rte_pktmbuf_mtod(pkts[i], uint8_t *);
		uint32_t modem = packet_serial(bytes);
		const struct ds_row *row = ds_row_of(&lookup_bench.upper, pkts[i]);

		assert_int_equal(modem, i / 2);
		assert_int_equal(packet_meta(pkts[i])->modem, modem);
		assert_memory_equal(bytes, sg->modems[modem].mac, 6);
		assert_ptr_equal(row->modem, &lookup_bench.tables.modems[modem]);
		assert_int_equal(row->key.flow.family, i % 2 ? RULE_LLC
						       : sg->modems[modem].addresses[0].family == 4
							       ? RULE_IPV4
							       : RULE_IPV6);
		rte_pktmbuf_free(pkts[i]);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_reasons),
		cmocka_unit_test(ipv6_reasons),
		cmocka_unit_test(llc_reasons),
		cmocka_unit_test(sizes_at_the_limits),
		cmocka_unit_test(checksum_of_the_port),
		cmocka_unit_test(packets_in_several_buffers),
		cmocka_unit_test(kinds_are_counted),
		cmocka_unit_test(rows_of_rare_frames),
		cmocka_unit_test(kept_packets_are_marked),
		cmocka_unit_test(lookup_bench_end),
	};

	return cmocka_run_group_tests(tests, lookup_bench_open, fixture_stop);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of a modem with this or that source, and what becomes of them. */
#pragma once

#include "wire/bytes.h"
#include "wire/ip.h"

#include "upstream_cases.h"

/* Frames of FRAMED, whose modem has 10.0.2.1 and 2001:db8::3. */
#define SIZE 90
#define IP ETHERNET_HEADER
#define UDP6 (IP + IPV6_HEADER)
#define ICMPV6 58
#define IGMP 2
#define LEAST 60 /* bytes of an Ethernet frame without its CRC */

static uint8_t f[SIZE];

/* Sends it as it is. `reason` DROP_REASONS: it must come as it is. */
static inline void check_raw(size_t size, enum drop_reason reason) {
	static const struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	uint8_t bytes[BENCH_FRAME_MAX];
	uint32_t others = bench->others;

	bench_handle(FRAMED, bytes, bench_frame(bench, 2, &h, f, size, bytes));
	if (reason == DROP_REASONS) {
		assert_int_equal(bench->others, others + 1);
		assert_int_equal(bench->other_size, size < LEAST ? LEAST : size);
		assert_memory_equal(bench->other, f, size);
		for (size_t i = size; i < LEAST; i++)
			assert_int_equal(bench->other[i], 0);
		return;
	}
	bench_dropped(reason, 1);
	assert_int_equal(bench->others, others);
}

/* Sends it with the right checksum, if it is IPv4. */
static inline void check(size_t size, enum drop_reason reason) {
	if (load_be16(f + 12) == ETHERTYPE_IPV4)
		store_be16(f + IP + 10, ipv4_checksum(f + IP, IPV4_HEADER));
	check_raw(size, reason);
}

static inline void start(uint16_t ethertype) {
	memset(f, 0, sizeof(f));
	memcpy(f, bench->sg.rphy.core_mac, 6);
	memcpy(f + 6, bench->modems[2].mac, 6);
	store_be16(f + 12, ethertype);
}

static inline void udp(uint8_t *at, uint16_t from, uint16_t to) {
	store_be16(at, from);
	store_be16(at + 2, to);
}

static inline void ipv4(uint32_t source, uint8_t protocol) {
	start(ETHERTYPE_IPV4);
	f[IP] = 0x45;
	store_be16(f + IP + 2, SIZE - IP);
	f[IP + 9] = protocol;
	store_be32(f + IP + 12, source);
	store_be32(f + IP + 16, 0xc6336401);
	udp(f + IP + IPV4_HEADER, 1000, 2000);
}

static inline void ipv6(const char *source, uint8_t protocol) {
	start(ETHERTYPE_IPV6);
	f[IP] = 0x60;
	store_be16(f + IP + 4, SIZE - UDP6);
	f[IP + 6] = protocol;
	memcpy(f + IP + 8, source, 16);
	memset(f + IP + 24, 0x20, 16);
	udp(f + UDP6, 1000, 2000);
}

static inline void arp(uint32_t sender) {
	start(ETHERTYPE_ARP);
	memcpy(f + IP, "\x00\x01\x08\x00\x06\x04\x00\x01", 8);
	store_be32(f + IP + 14, sender);
}

__rte_unused static const char own[16] = {0x20, 0x01, 0x0d, (char)0xb8, [15] = 3};
__rte_unused static const char unspecified[16];
__rte_unused static const char link_local[16] = {(char)0xfe, (char)0x80, [15] = 9};

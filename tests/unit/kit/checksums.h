/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow reference for the checksums of IPv4, UDP, TCP and ICMP (RFC 1071, RFC 8200 8.1). */
#pragma once

#include "test.h"
#include "wire/bytes.h"
#include "wire/ip.h"

/* `sum` plus the one's complement sum of 16-bit words; 0xffff over data with a valid checksum. */
static inline uint16_t ones_complement_sum(const uint8_t *p, size_t size, uint32_t sum) {
	for (size_t i = 0; i < size; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Asserts valid checksums of a frame without Ethernet padding. UDP over IPv4 may have none. */
static inline void assert_checksums_valid(const uint8_t *frame, const struct frame_fields *f) {
	size_t addresses = f->family == 4 ? 8 : 32;
	uint32_t pseudo = f->protocol + (uint32_t)f->upper_size;

	if (f->family == 4)
		assert_true(ipv4_checksum_good(frame + 14));
	if (f->protocol == 17)
		assert_int_equal(load_be16(f->upper + 4), f->upper_size);
	if (f->protocol == 17 && f->family == 4 && load_be16(f->upper + 6) == 0)
		return;
	pseudo += ones_complement_sum(f->source, addresses, 0);
	if (f->protocol == 6 || f->protocol == 17)
		assert_int_equal(ones_complement_sum(f->upper, f->upper_size, pseudo), 0xffff);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IP TOS overwrite (MULPI, annex C.2.2.7.9): new = (old AND and_mask) OR or_mask, on all eight bits
 * of the IPv4 TOS or the IPv6 traffic class.
 *
 *     45B8 0020 0000 4000 4011 05E0 ..    IPv4, before
 *     4528 0020 0000 4000 4011 0670 ..    after and_mask 0x03, or_mask 0x28
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Rewrites the TOS of the IP packet in an Ethernet frame of `length` bytes, with or without its
 * CRC. The frame may have up to two VLAN tags. The IPv4 header checksum is updated (RFC 1624), so
 * that a wrong one stays wrong. A frame without a whole fixed IP header is not modified.
 */
void tos_overwrite(uint8_t *frame, size_t length, uint8_t and_mask, uint8_t or_mask);

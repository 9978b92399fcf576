/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC headers of upstream PDUs, and requests of modems (MULPI, MAC frame formats; SEC, privacy
 * extended headers). docsis_mac_parse() parses all of them.
 *
 *     0x73  key sequence(4) version(4) | EN(1) toggle(1) SID(14)                     BP_UP2
 *     0x34  the same | minislots requested(8)                                        BP_UP
 *     0x35  the same | minislots(8) | 0(2) first(1) last(1) fragment sequence(4)     in a fragment
 *     0x13  minislots(8) | SID(16)                                                   REQUEST
 *
 *     01 04 0060  73 21 8456  7936            92-byte PDU, encrypted with key 2 of SID 0x456
 *     C7 06 0062  35 11 C001 07 29  BC9F      fragment 9, the first of its frame, 7 minislots
 *     C4 04 0123  CBDC                        request frame: 4 minislots for SID 0x123
 *     C8 0102 0345  E248                      queue-depth request frame: 0x102 units for SID 0x345
 *     F8 02 005C  7C43                        concatenation of two frames, 92 bytes together
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/docsis_mac.h"

#define DOCSIS_UP_HEADER_MAX 15 /* MAC header, BP_UP of 5 and REQUEST */

struct docsis_up_header {
	enum docsis_kind kind; /* PACKET, ISOLATION, MANAGEMENT or FRAGMENT */
	enum docsis_privacy privacy; /* NONE, BP_UP or BP_UP2; a fragment always has BP_UP */
	bool encrypted; /* EN; may be 0 with the element present */
	uint8_t key_sequence; /* 4 bits; the lowest is also sent as the toggle */
	uint16_t sid; /* 14 bits, of the privacy and of the REQUEST element */
	uint8_t piggyback; /* BP_UP: minislots requested, 0 = none */
	bool fragment_first; /* FRAGMENT: contains the first, the last byte of its frame */
	bool fragment_last;
	uint8_t fragment_sequence; /* FRAGMENT: 4 bits */
	bool request; /* REQUEST element, behind the privacy element; not in a fragment */
	uint8_t request_minislots;
};

/* Bytes of the MAC header, HCS included: 6..15. */
size_t docsis_up_header_size(const struct docsis_up_header *h);

/*
 * Writes the MAC header of `pdu_length` bytes (with their CRC, which a fragment also has) and
 * returns its size. Values are truncated to the width of their fields. Returns 0 and writes nothing
 * if LEN cannot hold the frame, or for other kinds and privacy elements than those above.
 */
size_t docsis_up_header_write(const struct docsis_up_header *h, size_t pdu_length, uint8_t *out);

/* Writes a request frame of DOCSIS_MAC_HEADER bytes and returns its size. */
size_t docsis_request_write(uint8_t minislots, uint16_t sid, uint8_t *out);

/* Writes a queue-depth request frame of DOCSIS_QUEUE_REQUEST_SIZE bytes and returns its size.
 * `units` counts the N-byte units of the service flow. */
size_t docsis_queue_request_write(uint16_t units, uint16_t sid, uint8_t *out);

/* Writes the concatenation header of DOCSIS_MAC_HEADER bytes for `count` whole frames with a total
 * of `length` bytes, and returns its size. Returns 0 and writes nothing if LEN cannot hold them. */
size_t docsis_concatenation_write(uint8_t count, size_t length, uint8_t *out);

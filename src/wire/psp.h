/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet streaming protocol, the L2TPv3 sublayer of DEPI and UEPI (R-DEPI, PSP sublayer).
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+---+-----+-+---------------+-------------------------------+
 *     |V|S| H |flow |0| segment count |        sequence number        |
 *     +-+-+---+-----+-+---------------+-+-+---------------------------+
 *     |B|E|         length 1          |B|E|         length 2          |
 *     +-+-+---------------------------+-+-+---------------------------+
 *     | .. extra bytes of the session | segment 1, segment 2, ..      |
 *     +-------------------------------+-------------------------------+
 *
 * With DEPI, B marks a segment that begins a DOCSIS frame, E one that ends it. With UEPI, B marks
 * the header of a burst, E its trailer, and both mark a request (uepi.h). The session determines
 * how many extra bytes follow the table: 0, or 2 on pseudowires of subtype 4.
 *
 *     40 03 0001  C068 C068 81F4 ..    S, 3 segments, sequence 1: two whole frames of 104 bytes,
 *                                      then the first 500 bytes of a third
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"

#define PSP_HEADER_FIXED 4
#define PSP_ENTRY_SIZE 2
#define PSP_SEGMENT_MAX 16383 /* most bytes of one table entry */
#define PSP_COUNT_MAX 255
#define PSP_FLOW_MAX 7

#define PSP_VCCV 0x80
#define PSP_SEQUENCE_VALID 0x40
#define PSP_EXTENDED_HEADER 0x30
#define PSP_FLOW 0x0e
#define PSP_BEGIN 0x8000
#define PSP_END 0x4000
#define PSP_LENGTH 0x3fff

enum psp_verdict {
	PSP_OK,
	PSP_TRUNCATED, /* the fixed header is incomplete */
	PSP_CONTROL, /* V: carries VCCV, not segments */
	PSP_EXTENDED, /* H: an extended header of unknown format */
	PSP_TABLE_TRUNCATED, /* the segment table or the extra bytes exceed the packet */
	PSP_SEGMENT_TRUNCATED, /* the segments exceed the packet */
	PSP_TRAILING, /* bytes follow the last segment */
};

struct psp {
	bool sequence_valid;
	uint8_t flow;
	uint8_t count; /* segments; 0 is legal and carries nothing */
	uint16_t sequence;
	const uint8_t *table;
	const uint8_t *extra; /* NULL if the session has none */
	const uint8_t *data; /* the first segment */
	size_t data_size; /* of all segments together */
};

struct psp_segment {
	bool begin; /* B */
	bool end; /* E */
	uint16_t length;
	const uint8_t *data;
};

/* A position in the segment table; zeroed: the first segment. */
struct psp_cursor {
	unsigned index;
	size_t offset;
};

/*
 * Parses the `length` bytes behind the session ID (and cookie).
 *
 * On PSP_OK and PSP_TRAILING `out` is complete, points into `p`, and every segment is inside the
 * packet. Otherwise `out` is invalid. The caller must first remove the padding of short Ethernet
 * frames by the IP length.
 */
enum psp_verdict psp_parse(const uint8_t *p, size_t length, unsigned extra_bytes, struct psp *out);

/* Returns the next segment in table order; false behind the last one. */
bool psp_next(const struct psp *p, struct psp_cursor *cursor, struct psp_segment *out);

/* Bytes before the first segment. */
static inline size_t psp_header_size(unsigned count, unsigned extra_bytes) {
	return PSP_HEADER_FIXED + PSP_ENTRY_SIZE * (size_t)count + extra_bytes;
}

/* Writes the four fixed bytes, S set. `flow` is 0..7. */
static inline void psp_header_write(uint8_t *out, uint8_t flow, uint8_t count, uint16_t sequence) {
	out[0] = (uint8_t)(PSP_SEQUENCE_VALID | ((flow << 1) & PSP_FLOW));
	out[1] = count;
	store_be16(out + 2, sequence);
}

/* For headers of psp_header_write() with at least one entry. */
static inline unsigned psp_count(const uint8_t *psp) {
	return psp[1];
}

static inline bool psp_begins(const uint8_t *psp) {
	return (load_be16(psp + PSP_HEADER_FIXED) & PSP_BEGIN) != 0;
}

/* Subtracts `n` from the sequence number, modulo 65,536. */
static inline void psp_sequence_lower(uint8_t *psp, uint16_t n) {
	store_be16(psp + 2, (uint16_t)(load_be16(psp + 2) - n));
}

/* Writes one entry of the segment table. `length` is at most PSP_SEGMENT_MAX. */
static inline void psp_entry_write(uint8_t *entry, bool begin, bool end, uint16_t length) {
	unsigned bits = (begin ? PSP_BEGIN : 0u) | (end ? PSP_END : 0u);

	store_be16(entry, (uint16_t)(bits | (length & PSP_LENGTH)));
}

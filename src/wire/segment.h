/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream segment header of continuous concatenation and fragmentation (MULPI, segment header
 * format). A segment is a slice of a service flow's stream of MAC frames, cut to fill a grant.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +-+-+---------------------------+-------------------------+-----+
 *     |P|0|          pointer          |     sequence number     | SID |
 *     |F| |                           |                         | clu |
 *     +-+-+---------------------------+-------------------------+-----+
 *     |            request            |        HCS, low first         |
 *     +-------------------------------+-------------------------------+
 *
 *     80 00  00 2A  00 10  ED 92     PFI, a MAC header at once, sequence 5, cluster 2, 16 units
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_HEADER_SIZE 8
#define SEGMENT_POINTER_MAX 0x3fff
#define SEGMENT_SEQUENCE_MASK 0x1fff
#define SEGMENT_CLUSTER_MAX 7

enum segment_verdict {
	SEGMENT_OK,
	SEGMENT_TRUNCATED, /* fewer than eight bytes */
	SEGMENT_BAD_HCS,
};

struct segment_header {
	bool pointer_valid; /* PFI: a MAC header begins in this segment */
	uint16_t pointer; /* bytes between this header and the first MAC header; 0 without PFI */
	uint16_t sequence; /* 13 bits, of the SID cluster */
	uint8_t sid_cluster; /* 3 bits */
	uint16_t request; /* N-byte units; 0: no request */
};

/* Parses the header of a segment of `length` bytes; `out` is valid with SEGMENT_OK only. The
 * caller checks whether the pointer is inside the segment. */
enum segment_verdict segment_header_parse(const uint8_t *p, size_t length,
					  struct segment_header *out);

/* Writes SEGMENT_HEADER_SIZE bytes with the HCS. Values are truncated to the width of their
 * fields; without PFI the pointer is sent as 0. */
void segment_header_write(const struct segment_header *h, uint8_t *out);

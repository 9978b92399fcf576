/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth allocation maps (MULPI 3.1, 6.4.4): which modem may transmit in which minislots of a
 * channel. Version 1 is for SC-QAM channels, version 5 for OFDMA. Pure data: the body behind the
 * header of a MAC management message (management.h).
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +---------------+---------------+---------------+---------------+
 *     |   channel     |   UCD count   |   elements    |    0          |   version 1
 *     |               |               |   elements      | 0   |  CAT  |   version 5
 *     +---------------+---------------+---------------+---------------+
 *     |              alloc start time, minislots                      |
 *     +---------------------------------------------------------------+
 *     |              acknowledgement time, minislots                  |
 *     +---------------+---------------+---------------+---------------+
 *     | ranging start |  ranging end  |  data start   |   data end    |   back-off windows
 *     +---------------+-----------+---+---+-----------+---------------+
 *     |            SID            |  IUC  |          offset           |   an element, more of them
 *     +---------------------------+-------+---------------------------+
 *
 *     01 00 04 00  01556601  01556471  00 04 00 0A  FFFCC000 FFFC4028 FFFC4127 0001C140
 *         40 minislots for initial maintenance, two regions for requests, 320 minislots together
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"

#define MAP_SID_MAX 0x3fff
#define MAP_OFFSET_MAX 0x3fff
#define MAP_BACK_OFF_MAX 15
#define MAP_SID_BROADCAST 0x3fff
#define MAP_HEADER 16 /* bytes of a body before its elements */
#define MAP_ELEMENT 4
#define MAP_ELEMENTS_1 240 /* most in one message of version 1, including the null element */
#define MAP_ELEMENTS_5 490 /* most of version 5 */
#define MAP_MINISLOTS_1 4096 /* most in one message of version 1 */
#define MAP_MINISLOTS_5 16383 /* the largest offset */
#define MAP_BODY_MAX (MAP_HEADER + MAP_ELEMENTS_5 * MAP_ELEMENT)

/* Interval usage codes: the use of minislots. */
enum map_iuc {
	MAP_REQUEST = 1,
	MAP_REQUEST_DATA = 2,
	MAP_INITIAL = 3, /* initial maintenance */
	MAP_STATION = 4, /* station maintenance */
	MAP_SHORT = 5, /* data; with OFDMA 5, 6, 9 to 13 are data profiles */
	MAP_LONG = 6,
	MAP_NULL = 7, /* ends the list; its offset is the number of minislots */
	MAP_ACK = 8,
	MAP_ADVANCED_SHORT = 9,
	MAP_ADVANCED_LONG = 10,
	MAP_ADVANCED_UGS = 11,
	MAP_PROFILE_12 = 12,
	MAP_PROFILE_13 = 13,
	MAP_EXPANDED = 15,
};

struct map_element {
	uint16_t sid; /* 14 bits */
	/* minislots from `alloc_start`, 14 bits; the element ends where the next begins */
	uint16_t offset;
	uint8_t iuc; /* enum map_iuc, 4 bits */
};

/*
 * Elements up to the null one describe minislots, in ascending order. Later elements have the
 * offset of the null one. They are pending data grants (a data IUC without minislots) or
 * acknowledgements.
 */
struct map {
	uint8_t version; /* 1, 5 */
	uint8_t channel; /* upstream channel ID */
	uint8_t ucd_count; /* configuration change count of the channel's UCD */
	uint8_t ranging_start, ranging_end; /* back-off windows as exponents of 2, 0..15 */
	uint8_t data_start, data_end;
	uint16_t count; /* elements, including the null one */
	uint32_t alloc_start; /* minislot */
	uint32_t ack_time; /* minislot: requests from before it have been processed */
	struct map_element elements[MAP_ELEMENTS_5];
};

enum map_verdict {
	MAP_OK,
	/* of map_read(): not the body of a MAP, or one that struct map cannot hold */
	MAP_BAD_VERSION, /* neither 1 nor 5 */
	MAP_TRUNCATED, /* the body ends before its last element */
	MAP_TRAILING, /* bytes follow the last element */
	MAP_RESERVED, /* a reserved bit is set */
	MAP_PROBE, /* category 1: symbols for probes, with another element format */
	MAP_BAD_CATEGORY, /* version 5: neither 0 nor 1 */
	MAP_TOO_MANY, /* more elements than allowed */
	MAP_BAD_BACK_OFF, /* an exponent above 15 */
	/* of map_check(): the MAP breaks a rule */
	MAP_NO_NULL, /* no null element */
	MAP_BAD_NULL, /* the null element has a SID, or there is a second one */
	MAP_BAD_START, /* the first element does not begin at minislot 0 */
	MAP_BAD_ORDER, /* an element does not begin behind the one before it */
	MAP_BAD_IUC, /* 0, 14, expansion; or an acknowledgement before the null element */
	/* behind the null element: a wrong offset, or an IUC that cannot be pending */
	MAP_BAD_BEHIND,
	MAP_TOO_LONG, /* more minislots than allowed */
	MAP_BAD_WINDOW, /* a back-off window whose end is before its start */
	MAP_VERDICTS,
};

/*
 * Writes the body into the `size` bytes at `body` and returns its size, at most MAP_BODY_MAX.
 * Returns 0 if `size` is too small, or if a value exceeds its field (elements, SID, offset, IUC,
 * back-off, version). It does not check the rules of map_check().
 */
size_t map_write(uint8_t *body, size_t size, const struct map *map);

/*
 * Parses a body of `size` bytes; `version` is that of the message header.
 *
 * On MAP_OK `out` is complete, and map_write() writes the same bytes. On MAP_PROBE channel, count
 * and start are set. Otherwise `out` is invalid. Elements behind `count` are not written.
 */
enum map_verdict map_read(struct map *out, uint8_t version, const uint8_t *body, size_t size);

/* Checks the rules of a MAP (MULPI 3.1, 6.4.4). Returns MAP_OK, or the first broken rule. */
enum map_verdict map_check(const struct map *map);

/* The number of minislots, the offset of its null element; 0 if it has none. */
uint32_t map_minislots(const struct map *map);

/* Whether a grant of this IUC carries data: MAP_SHORT, MAP_LONG, 9 to 13. */
static inline bool map_iuc_is_data(uint8_t iuc) {
	return iuc == MAP_SHORT || iuc == MAP_LONG ||
	       (iuc >= MAP_ADVANCED_SHORT && iuc <= MAP_PROFILE_13);
}

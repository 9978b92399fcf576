/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bandwidth allocation maps (MULPI 3.1, 6.4.4): who may send upstream, in which minislots of a channel.
 * Version 1 is for SC-QAM channels, version 5 for OFDMA. Pure data: the body behind the header of a MAC
 * management message (management.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_SID_BROADCAST 0x3fff
#define MAP_HEADER 16 /* bytes of a body before its elements */
#define MAP_ELEMENT 4
#define MAP_ELEMENTS_1 240 /* in one message of version 1, the null element included, */
#define MAP_ELEMENTS_5 490 /* and of version 5 */
#define MAP_MINISLOTS_1 4096 /* described by one message, */
#define MAP_MINISLOTS_5 16383 /* as far as an offset counts */
#define MAP_BODY_MAX (MAP_HEADER + MAP_ELEMENTS_5 * MAP_ELEMENT)

/* Interval usage codes: what minislots are for. */
enum map_iuc {
	MAP_REQUEST = 1,
	MAP_REQUEST_DATA = 2,
	MAP_INITIAL = 3, /* initial maintenance */
	MAP_STATION = 4, /* station maintenance */
	MAP_SHORT = 5, /* data; with OFDMA 5, 6, 9 to 13 are data profiles */
	MAP_LONG = 6,
	MAP_NULL = 7, /* ends the minislots: its offset is their number */
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
	uint16_t offset; /* minislots from `alloc_start` on, 14 bits; it ends where the next one begins */
	uint8_t iuc; /* enum map_iuc, 4 bits */
};

/*
 * Elements up to the null one describe minislots, in ascending order. What follows it has its offset and is a
 * data grant pending (a data IUC without minislots) or an acknowledgement.
 */
struct map {
	uint8_t version; /* 1, 5 */
	uint8_t channel; /* upstream channel ID */
	uint8_t ucd_count; /* configuration change count of the channel's UCD */
	uint8_t ranging_start, ranging_end; /* back-off windows as exponents of 2, 0..15 */
	uint8_t data_start, data_end;
	uint16_t count; /* of elements, the null one included */
	uint32_t alloc_start; /* minislot */
	uint32_t ack_time; /* minislot: requests that came before it have been looked at */
	struct map_element elements[MAP_ELEMENTS_5];
};

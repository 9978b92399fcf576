/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control thread knows of the tables: which places in them are free, and what each modem has. No
 * stage reads it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/group/modems.h"

#define US_NONE UINT32_MAX /* no place */

/* Of a SID on a channel. */
static inline uint32_t us_sid_key(uint32_t channel, uint16_t sid) {
	return channel << 16 | sid;
}

/* Places of a table that nothing has. */
struct us_free {
	uint32_t *places;
	uint32_t count;
};

/* A service flow of a modem. */
struct us_own_flow {
	uint32_t id; /* SFID */
	uint32_t flow; /* place; US_NONE: it comes, and has none yet */
	uint32_t first_sid; /* in `sids` of its modem */
	uint16_t sid_count;
	uint16_t former_sids; /* behind these: what it had before and has no more */
	bool segment_header;
};

/*
 * What a modem has, in one piece of memory. Its record and its flows' point here. Addresses and SIDs that it had
 * before the change stand behind its own, for as long as packets from before are on their way.
 */
struct us_own {
	uint32_t flow_count;
	uint16_t ipv4_count, former_ipv4;
	uint16_t ipv6_count, former_ipv6;
	uint32_t *ipv4;
	uint32_t *sids;
	uint8_t (*ipv6)[16];
	void *schedules[2]; /* of the keys, by generation */
	struct us_own_flow flows[];
};

struct us_change;

struct us_places {
	struct us_free flows, streams, sessions;
	struct us_own **own; /* by modem; NULL: nobody is there */
	bool *taken; /* by modem: it is in a change that was begun, or leaves */
	uint32_t sids, sid_room; /* keys that are in use, and that fit */
	struct us_change *begun; /* not known to be taken over yet */
	uint32_t changes; /* so far */
	uint32_t held_packets, held_frames; /* buffers that may wait at most: pools are so large */
	uint32_t frames_in_work; /* that may always be incomplete */
};

/* All of `count` places are free, the first one first. Returns 0, or -1 without memory. */
int us_free_create(struct us_free *f, uint32_t count);

/* US_NONE where none is. */
uint32_t us_free_take(struct us_free *f);

/* It must come from there. */
void us_free_give(struct us_free *f, uint32_t place);

/*
 * What the modem is to have, and behind it what it had `before`, or NULL. Flows that were there and remain have
 * their places; those with another framing are others. NULL without memory. To be freed by free().
 */
struct us_own *us_own_create(const struct modem *m, const struct us_own *before);

/* Returns 0, or -1 without memory. To be freed by us_places_free() in either case. */
int us_places_create(struct us_places *p, uint32_t modems);

void us_places_free(struct us_places *p, uint32_t modems);

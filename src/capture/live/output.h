/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture as a file: what its places' rings hold, in the order of time, becomes blocks of pcapng. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/captures.h"
#include "capture/live/end.h"
#include "capture/pcapng.h"

#define TAP_COMMENT 512 /* bytes */
#define TAP_OUTPUT_ROOM (UINT32_C(1) << 20) /* bytes that may wait for the client */

/* Why a file ends; NULL in what follows: it goes on. */
#define TAP_END_COUNT "the number of packets asked for"
#define TAP_END_SIZE "the size asked for"
#define TAP_END_TIME "the time asked for"
#define TAP_END_GONE "what it looked at is not in service any more"
#define TAP_END_CLIENT "ended by its client"
#define TAP_END_SERVER "vcmtsd ends"

struct tap_output {
	struct pcapng blocks; /* that wait for the client */
	size_t sent; /* bytes of them that are with the client */
	uint64_t total; /* bytes of the file so far */
	uint64_t most; /* that it may have */
	uint64_t left; /* packets that it may still have */
	uint64_t packets;
	uint64_t limited; /* packets beyond the rate of all places together */
	uint64_t missed; /* packets for which rings had no room, as it was last told */
	struct tap_bucket bucket;
	bool full; /* the rings hold more than there was room for */
	uint32_t interface_count;
	uint32_t left_interfaces; /* of these, those of places that are gone */
	struct tap_tally left_tally; /* what those places came to */
	uint64_t base_tsc, base_time; /* the same moment */
	double ns_a_tick;
	char told[TAP_COMMENT]; /* of it so far */
};

/* Begins the file. Returns 0, or -1 without memory; to be freed in either case. */
int tap_output_open(struct tap_output *o, const struct tap_wish *w);
void tap_output_free(struct tap_output *o);

/*
 * Takes out of the places' rings what is older than `until` (TSC), as far as there is room; where there was too little
 * `full` says so. Returns why the file ends here, or NULL.
 */
const char *tap_output_fill(struct tap_output *o, struct tap_place *const *places, unsigned count,
			    uint64_t until);

/* What each interface of a place counted that is gone, and empty: it is not needed any more. Returns false where there
 * is no room yet. */
bool tap_output_leave(struct tap_output *o, const struct tap_place *place);

/* What all of it came to so far, for who watches, if that is something new. */
void tap_output_tell(struct tap_output *o, struct tap_place *const *places, unsigned count);

/* What each interface counted, and why the file ends. Returns false where there is no room yet. */
bool tap_output_finish(struct tap_output *o, struct tap_place *const *places, unsigned count,
		       const char *why);

/* Bytes that wait, and those of them that the client has taken. */
static inline size_t tap_output_waits(const struct tap_output *o) {
	return o->blocks.size - o->sent;
}
void tap_output_sent(struct tap_output *o, size_t size);

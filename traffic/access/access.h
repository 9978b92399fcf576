/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cable modems that wait for their grants: for each SID cluster of a service flow how many bytes wait, what
 * was asked for, in contention or otherwise, and what was granted. MAPs go in, bursts and requests come out.
 * Bytes only: whoever calls keeps the packets, as a queue in order a flow, and takes of it what a burst has.
 *
 *     access_queue() ─► bytes that wait ─► ACCESS_REQUEST ─► (scheduler) ─► access_map() ─► ACCESS_BURST
 *
 * Pure C, one thread, with the time given by the caller; no search over all modems; the same seed and calls
 * give the same events. Times are samples of 204.8 MHz by the CMTS' clock, as in scheduler/maps/maps.h. A
 * minislot's time is when it arrives at the CMTS: a modem transmits earlier by its propagation delay.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/map.h"

#define ACCESS_MAX_CHANNELS 64
#define ACCESS_NONE UINT32_MAX
#define ACCESS_TRIES 16 /* of a request in contention (MULPI 3.1, 7.2.2.1) */
#define ACCESS_OUTSTANDING 16 /* requests of a flow that can be in doubt at a time, at most */

struct access;

/* An upstream channel as its UCD and the modems' settings describe it. */
struct access_channel {
	uint8_t id; /* as MAPs have it */
	uint8_t ucd_count; /* MAPs with another one are ignored */
	uint32_t frame; /* samples: OFDMA frame; SC-QAM minislot; not 0 */
	uint16_t frame_minislots; /* in an OFDMA frame; 1 for SC-QAM */
	uint16_t minislot_bytes; /* of data in one, not 0 */
	uint16_t burst_minislots; /* of each grant that hold no data: preamble and guard */
	uint16_t request_minislots; /* of one request opportunity, not 0 */
};

struct access_config {
	const struct access_channel *channels; /* copied */
	size_t channel_count; /* 1..ACCESS_MAX_CHANNELS */
	uint32_t modems, flows; /* room for as many */
	uint64_t start; /* time of minislot 0 of all channels */
	uint64_t seed;
};

/* What a modem does that it must not, as an impairment. */
enum access_conduct {
	ACCESS_HONEST,
	ACCESS_SILENT, /* sends nothing whatever it is granted */
	ACCESS_BEYOND, /* sends longer than it was granted */
	ACCESS_ENDLESS, /* requests in each opportunity, whether something waits or not */
};

struct access_modem {
	uint32_t propagation; /* samples, one way */
	uint32_t map_processing; /* samples from a MAP's end at the modem until it can be used */
	uint32_t burst_processing; /* samples that a burst is filled before it is transmitted */
	int32_t skew; /* samples that its bursts come too late (below 0: too early) */
	uint32_t map_loss; /* of a million MAPs, that it does not hear */
	enum access_conduct conduct;
	uint32_t excess; /* ACCESS_BEYOND: minislots; ACCESS_ENDLESS: bytes of each request */
};

struct access_sid {
	uint16_t channel; /* index */
	uint16_t sid; /* 14 bits, not broadcast, unique on the channel */
};

/* One SID cluster of a service flow: this is what requests and is granted, "flow" in all of this header. */
struct access_flow {
	uint32_t modem;
	const struct access_sid *sids; /* copied; a channel each once */
	size_t sid_count; /* 0: there is no such flow */
	uint16_t header_bytes; /* of each grant, no bytes of the queue: the segment header */
	uint32_t request_unit; /* N: bytes that requests count by; 0: 1 */
	uint32_t patience; /* samples that it rather waits for a known grant than to contend */
	uint8_t outstanding; /* requests in doubt at a time, 1..ACCESS_OUTSTANDING; 0: 1 */
	bool no_contention,
		no_piggyback; /* request/transmission policy (MULPI 3.1, annex C.2.2.6.3) */
};

enum access_kind {
	ACCESS_BURST, /* a data grant is used; also with 0 bytes, when the flow has nothing */
	ACCESS_REQUEST, /* a request frame alone, heard by the CMTS if it is not lost on its way */
	ACCESS_COLLISION, /* an opportunity that several modems used: the CMTS hears none of them */
	ACCESS_STATION, /* a station maintenance opportunity for one of the flow's SIDs */
	ACCESS_GIVEN_UP, /* ACCESS_TRIES requests without an answer: the first packet is to be discarded */
};

/*
 * What a modem sends. Bytes beyond `granted` of a burst come of ACCESS_BEYOND only. To ack times a request counts as
 * made in the last minislot of its burst: the CMTS does not know it before.
 */
struct access_event {
	enum access_kind kind;
	uint32_t flow; /* ACCESS_COLLISION: one of them */
	uint16_t channel; /* index */
	uint16_t sid;
	uint8_t iuc;
	uint32_t minislot; /* first one, as MAPs count, */
	uint32_t minislots; /* and how many; ACCESS_BEYOND: more than it was granted */
	uint32_t granted; /* bytes of the queue that fit in what was granted */
	uint32_t bytes; /* of the queue, in the burst */
	uint32_t request; /* bytes asked for, a multiple of N; 0: none. ACCESS_COLLISION: flows */
	uint64_t time; /* when this was decided: what is queued later is not in it */
	uint64_t at; /* when its first minislot begins at the CMTS, by its skew wrong, */
	uint64_t end; /* and when its last one ends */
	int32_t skew; /* of the modem */
	bool contended; /* in a region for all */
};

/* What has been done since creation, and what is; sums over all modems. */
struct access_counts {
	uint64_t queued; /* bytes: = sent + discarded + waiting */
	uint64_t sent, discarded, waiting;
	uint64_t granted; /* bytes that fit in grants: = the sum of the next line */
	uint64_t used, unused, silent_bytes, late_bytes, lost_bytes,
		coming; /* coming: not sent yet */
	uint64_t beyond; /* bytes sent beyond grants: sent = used + beyond */
	uint64_t bursts, empty_bursts; /* the second part of the first */
	uint64_t contention, polls, piggybacks; /* requests sent, by their way */
	uint64_t asked; /* bytes, in all requests */
	uint64_t collisions, collided; /* opportunities, requests in them */
	uint64_t
		unanswered; /* requests that were neither granted, or not all of it, nor pending, */
	uint64_t unanswered_contended; /* and of these, those made in contention */
	uint64_t excessive; /* grants with a minislot and more beyond all that was asked for */
	uint64_t partial; /* grants that end in the middle of what a request asked for */
	uint64_t given_up;
	uint64_t maps, late_maps, late_grants, lost_grants; /* late_maps: too late for all modems */
	uint64_t wrong_ucd,
		wrong_maps; /* ignored: not the present UCD; not in order, or far ahead */
	uint64_t unknown_grants; /* for SIDs that no flow has */
	uint64_t too_many; /* grants beyond the memory for them */
	uint64_t stations;
};

/* Returns NULL when memory is short or something in the configuration is none; `why` then tells in one line (static;
 * may be NULL). To be freed by access_free(). */
struct access *access_create(const struct access_config *config, const char **why);
void access_free(struct access *a);

/* Sets or changes a modem, before any of its flows. Returns false where it is beyond what there is room for. */
bool access_set_modem(struct access *a, uint32_t modem, const struct access_modem *settings);

/* Sets, changes or removes a flow; what was queued, asked for and granted is forgotten (discarded). Returns
 * NULL, or what is wrong (a static line): then nothing has changed. */
const char *access_set_flow(struct access *a, uint32_t flow, const struct access_flow *settings,
			    uint64_t now);

/* The channel has another UCD from now on. */
void access_set_ucd(struct access *a, uint16_t channel, uint8_t count);

/* Bytes that come to wait at the end of the flow's queue: whole DOCSIS frames. Take the events before `now` first. */
void access_queue(struct access *a, uint32_t flow, uint32_t bytes, uint64_t now);

/* Bytes that are given up at the head of the queue, such as for ACCESS_GIVEN_UP; at most what waits. */
void access_discard(struct access *a, uint32_t flow, uint32_t bytes);

/* Bytes of a flow that wait, those included whose grants are known. */
uint64_t access_waiting(const struct access *a, uint32_t flow);

/* A MAP leaves the CMTS' downstream: `heard` is when a modem without any propagation delay has it whole, not
 * before now. MAPs of a channel in their order. O(elements). */
void access_map(struct access *a, uint16_t channel, const struct map *map, uint64_t heard);

/* A time before which access_next() gives nothing; UINT64_MAX where modems wait for MAPs or packets. */
uint64_t access_due(const struct access *a);

/* Takes the next event whose `time` is not after `now`; false where there is none. Time does not go back. */
bool access_next(struct access *a, uint64_t now, struct access_event *out);

void access_counts(const struct access *a, struct access_counts *out);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cable modems that request bandwidth. For each SID cluster of a service flow it tracks the queued bytes,
 * the bytes requested (in contention, by poll or piggyback) and the bytes granted. Input: MAPs and queued
 * bytes. Output: bursts and requests. It counts bytes only: the caller keeps the packets of each flow in a
 * queue and removes the bytes of each burst from it.
 *
 *     access_queue() ─► queued bytes ─► ACCESS_REQUEST ─► (scheduler) ─► access_map() ─► ACCESS_BURST
 *
 * Pure C, one thread, and the caller gives the time. No search over all modems. The same seed and calls
 * give the same events. Times are samples of 204.8 MHz by the CMTS' clock, as in scheduler/maps/maps.h. The
 * time of a minislot is that of its arrival at the CMTS; a modem transmits earlier by its propagation
 * delay.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/map.h"

#define ACCESS_MAX_CHANNELS 64
#define ACCESS_NONE UINT32_MAX
#define ACCESS_TRIES 16 /* for a request in contention (MULPI 3.1, 7.2.2.1) */
#define ACCESS_OUTSTANDING 16 /* maximum number of unanswered requests of a flow */

struct access;

/* An upstream channel with the parameters of its UCD and of the modems. */
struct access_channel {
	uint8_t id; /* upstream channel ID of its MAPs */
	uint8_t ucd_count; /* MAPs with another count are ignored */
	uint32_t frame; /* samples: OFDMA frame; SC-QAM minislot; not 0 */
	uint16_t frame_minislots; /* per OFDMA frame; 1 for SC-QAM */
	uint16_t minislot_bytes; /* data bytes per minislot, not 0 */
	/* minislots of each grant that carry no data: preamble and guard time */
	uint16_t burst_minislots;
	uint16_t request_minislots; /* of one request opportunity, not 0 */
};

struct access_config {
	const struct access_channel *channels; /* copied */
	size_t channel_count; /* 1..ACCESS_MAX_CHANNELS */
	uint32_t modems, flows; /* capacity */
	uint64_t start; /* time of minislot 0 of all channels */
	uint64_t seed;
};

/* Misbehaviour of a modem, as an impairment. */
enum access_conduct {
	ACCESS_HONEST,
	ACCESS_SILENT, /* never transmits, whatever is granted */
	ACCESS_BEYOND, /* transmits longer than granted */
	ACCESS_ENDLESS, /* requests in each opportunity, even with an empty queue */
};

struct access_modem {
	uint32_t propagation; /* samples, one way */
	/* samples from a MAP's end at the modem until the modem can use the MAP */
	uint32_t map_processing;
	/* samples between the time a burst is filled and its transmission */
	uint32_t burst_processing;
	int32_t skew; /* samples by which its bursts arrive too late (below 0: too early) */
	uint32_t map_loss; /* MAPs of a million that the modem does not receive */
	enum access_conduct conduct;
	uint32_t excess; /* ACCESS_BEYOND: minislots; ACCESS_ENDLESS: bytes of each request */
};

struct access_sid {
	uint16_t channel; /* channel index */
	uint16_t sid; /* 14 bits, not broadcast, unique on the channel */
};

/* One SID cluster of a service flow, which requests and receives grants. This header calls it a flow. */
struct access_flow {
	uint32_t modem;
	const struct access_sid *sids; /* copied; at most one per channel */
	size_t sid_count; /* 0: the flow is unused */
	/* bytes of each grant that the queue does not fill: the segment header */
	uint16_t header_bytes;
	uint32_t request_unit; /* N: requests are multiples of so many bytes; 0: 1 */
	uint32_t patience; /* samples that it waits for a known grant instead of contending */
	uint8_t outstanding; /* limit of unanswered requests, 1..ACCESS_OUTSTANDING; 0: 1 */
	bool no_contention,
		no_piggyback; /* request/transmission policy (MULPI 3.1, annex C.2.2.6.3) */
};

enum access_kind {
	ACCESS_BURST, /* a data grant is used; with 0 bytes if the queue is empty */
	/* a request frame alone, which reaches the CMTS unless an impairment loses it */
	ACCESS_REQUEST,
	ACCESS_COLLISION, /* several modems used one opportunity; the CMTS receives no request */
	ACCESS_STATION, /* a station maintenance opportunity for one of the flow's SIDs */
	/* ACCESS_TRIES requests without answer: the caller discards the first packet */
	ACCESS_GIVEN_UP,
};

/*
 * A transmission of a modem. Only modems of ACCESS_BEYOND send more bytes than `granted`. For ack times, a
 * request counts as made in the last minislot of its burst, as the CMTS receives it no earlier.
 */
struct access_event {
	enum access_kind kind;
	uint32_t flow; /* ACCESS_COLLISION: one of the flows */
	uint16_t channel; /* channel index */
	uint16_t sid;
	uint8_t iuc;
	uint32_t minislot; /* first minislot, as MAPs count */
	uint32_t minislots; /* number of minislots; ACCESS_BEYOND: more than granted */
	uint32_t granted; /* queue bytes that fit in the grant */
	uint32_t bytes; /* queue bytes in the burst */
	/* bytes requested, a multiple of N; 0: none. ACCESS_COLLISION: number of flows */
	uint32_t request;
	uint64_t time; /* when the modem decided; bytes queued later are not included */
	uint64_t at; /* when its first minislot begins at the CMTS, including the skew */
	uint64_t end; /* when its last minislot ends */
	int32_t skew; /* of the modem */
	bool contended; /* in a contention region */
};

/* Counts since creation and current values, summed over all modems. */
struct access_counts {
	uint64_t queued; /* bytes: = sent + discarded + waiting */
	uint64_t sent, discarded, waiting;
	/* bytes that fit in grants: = sum of the members up to `pending_grants` */
	uint64_t granted;
	uint64_t used, unused, silent_bytes, late_bytes, lost_bytes;
	uint64_t pending_grants; /* the time of the grant has not come */
	uint64_t beyond; /* bytes sent in excess of grants: sent = used + beyond */
	uint64_t bursts, empty_bursts; /* all bursts; those without bytes */
	/* requests sent in contention, in polls, piggybacked */
	uint64_t contention, polls, piggybacks;
	uint64_t requested; /* bytes of all requests */
	uint64_t collisions, collided; /* opportunities; requests in them */
	uint64_t unanswered; /* requests neither granted in full nor reported pending */
	uint64_t unanswered_contended; /* those of `unanswered` made in contention */
	uint64_t excessive; /* grants that exceed all requests by a minislot or more */
	uint64_t partial; /* grants that end within a request */
	uint64_t given_up;
	/* late_maps: too late for every modem */
	uint64_t maps, late_maps, late_grants, lost_grants;
	uint64_t wrong_ucd,
		wrong_maps; /* ignored: other UCD count; out of order or too far ahead */
	uint64_t unknown_grants; /* for SIDs without a flow */
	uint64_t too_many; /* grants ignored because memory for them is full */
	uint64_t stations;
};

/* Returns NULL if memory is short or the configuration is invalid; `why` (may be NULL) then gets a
 * static line with the reason. The caller frees it with access_free(). */
struct access *access_create(const struct access_config *config, const char **why);
void access_free(struct access *a);

/* Sets or changes a modem; must precede its flows. Returns false if `modem` exceeds the capacity. */
bool access_set_modem(struct access *a, uint32_t modem, const struct access_modem *settings);

/* Sets, changes or removes a flow; discards its queue, requests and grants. Returns NULL, or a
 * static line with the error; then nothing has changed, unless memory is short: the flow is then removed. */
const char *access_set_flow(struct access *a, uint32_t flow, const struct access_flow *settings,
			    uint64_t now);

/* Sets the current UCD change count of a channel. */
void access_set_ucd(struct access *a, uint16_t channel, uint8_t count);

/* Adds bytes of whole DOCSIS frames to the flow's queue. The caller must first take all events
 * before `now`. */
void access_queue(struct access *a, uint32_t flow, uint32_t bytes, uint64_t now);

/* Removes up to `bytes` from the head of the queue, e.g. after ACCESS_GIVEN_UP. */
void access_discard(struct access *a, uint32_t flow, uint32_t bytes);

/* Queued bytes of a flow, including those with a known grant. */
uint64_t access_waiting(const struct access *a, uint32_t flow);

/* Processes a MAP that the CMTS has sent. `received`, not before now, is when a modem without
 * propagation delay has received all of it. MAPs of a channel must come in order. O(elements). */
void access_map(struct access *a, uint16_t channel, const struct map *map, uint64_t received);

/* Time before which access_next() returns no event; UINT64_MAX if modems wait for MAPs or packets. */
uint64_t access_due(const struct access *a);

/* Gets the next event whose `time` is not after `now`. Returns false if there is none. `now` must
 * not decrease. */
bool access_next(struct access *a, uint64_t now, struct access_event *out);

void access_counts(const struct access *a, struct access_counts *out);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream scheduler: bandwidth requests become grants in MAPs, for all upstream channels of a service
 * group. Pure C, one thread, with the time given by the caller; docs/upstream-scheduler.md has the rules.
 *
 * Units: sizes in bytes, rates in bits per second, times in samples of 204.8 MHz, of which a clock of
 * 10.24 MHz (the DOCSIS timestamp) counts one in 20 and an OFDMA symbol has a whole number. 64 bits of
 * them do not wrap. 6.25 us are 1,280 samples.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/map.h"

#define MAPS_HZ 204800000
#define MAPS_MAX_CHANNELS 64
#define MAPS_MAX_CLUSTERS 8 /* of a flow */
#define MAPS_PRIORITIES 8
#define MAPS_SETS 256 /* of channels that clusters have, different ones */
#define MAPS_RATE_MAX 100000000000 /* bits per second */
#define MAPS_BURST_MAX (1u << 30) /* bytes of any burst, and that a flow can be owed */
#define MAPS_HEADER_MAX 64 /* bytes before the data of a grant */
#define MAPS_INITIAL_MOST (2u * MAPS_HZ)
#define MAPS_LEAST_GRANT 128 /* bytes of a new grant with its header: each MAP has room for them */
#define MAPS_BYTES_MOST (1u << 23) /* that a MAP may describe, so that reciprocals are exact */
#define MAPS_PROACTIVE_MOST (MAPS_HZ / 10) /* between proactive grants */
#define MAPS_SID_NOBODY 0 /* of minislots too few for a request, which nobody is to use */
#define MAPS_NONE UINT32_MAX

struct maps;

enum maps_kind { MAPS_SC_QAM, MAPS_OFDMA };

struct maps_channel {
	enum maps_kind kind;
	uint8_t id; /* of the upstream channel, as MAPs have it */
	uint8_t ucd_count;
	uint8_t data_iuc; /* of long data grants: MAP_ADVANCED_LONG, or a profile's */
	uint8_t short_iuc; /* of grants of at most short_minislots; 0: all are long */
	uint16_t short_minislots;
	uint32_t frame; /* samples: OFDMA frame; SC-QAM minislot */
	uint16_t frame_minislots; /* in an OFDMA frame; 1 for SC-QAM */
	uint16_t minislot_bytes; /* of data in one; by modulation and code */
	uint16_t burst_minislots; /* beside data, of each grant: preamble and guard; 0 with OFDMA */
	uint16_t max_burst_minislots; /* of one grant; 0: as many as a MAP has */
	uint32_t
		interval; /* samples that one MAP describes; rounded to whole frames, at least one */
	uint32_t lead; /* samples from when a MAP is due until its first minislot */
	uint32_t
		slack; /* of the lead: samples that a MAP may be made later than due; one that would be later
	                 * still is not made but counted. 0: it is made at its time or not at all */
	uint32_t
		ack_delay; /* samples before a MAP's first minislot from which on requests cannot be answered in
	                     * it: how long one takes from its minislot until it is here, and the lead */
	uint16_t request_minislots; /* of one request opportunity */
	uint16_t request_opportunities; /* at least, in each MAP */
	uint16_t initial_minislots; /* of an initial maintenance region */
	uint32_t
		initial_interval; /* samples between two, at most 2 s (MAPS_INITIAL_MOST); 0: none */
	uint16_t station_minislots; /* of one station maintenance opportunity */
	uint8_t ranging_start, ranging_end; /* back-off windows, exponents of 2 */
	uint8_t data_start, data_end;
};

/* How a flow gets its grants (MULPI 3.1, 7.2.3). */
enum maps_type {
	MAPS_BEST_EFFORT,
	MAPS_NON_REAL_TIME_POLLING,
	MAPS_REAL_TIME_POLLING,
	MAPS_UNSOLICITED, /* UGS */
	MAPS_UNSOLICITED_ACTIVITY, /* UGS-AD: polled when silent */
	MAPS_PROACTIVE, /* PGS: grants of a guaranteed rate without request, and on request */
};

struct maps_sid {
	uint16_t channel; /* index */
	uint16_t sid; /* 14 bits, not broadcast, unique on the channel */
};

struct maps_cluster {
	const struct maps_sid *sids; /* a channel each once */
	size_t count;
};

struct maps_flow {
	enum maps_type type;
	uint8_t priority; /* 0..7; 7 goes first */
	uint64_t sustained; /* maximum sustained traffic rate; 0: no limit */
	uint32_t sustained_burst; /* maximum traffic burst, bytes */
	uint64_t peak; /* at least the sustained; 0: none */
	uint64_t reserved; /* minimum reserved traffic rate, at most the sustained; 0: none */
	uint32_t
		max_burst; /* bytes of one grant, its header among them (maximum concatenated burst); 0: no
	                     * limit */
	uint16_t
		header_bytes; /* of a segment, which each grant carries beside what was asked for; 0: none, at
	                        * most MAPS_HEADER_MAX */
	uint32_t poll_interval; /* samples; polling, UGS-AD when silent */
	uint32_t grant_interval; /* samples; unsolicited and proactive */
	uint32_t grant_jitter; /* samples that a grant may be late; none is early */
	uint32_t grant_bytes; /* of an unsolicited grant */
	uint8_t grants; /* in an interval */
	uint32_t active_timeout; /* samples without use until UGS-AD is silent */
	uint64_t guaranteed_rate; /* proactive: bytes >= rate x interval in every grant_interval */
	const struct maps_cluster *clusters;
	size_t cluster_count; /* 0: there is no such flow */
};

/* Copied; the arrays need not live on. */
struct maps_config {
	const struct maps_channel *channels;
	size_t channel_count; /* 1..MAPS_MAX_CHANNELS */
	uint32_t flows; /* room for as many */
	uint32_t flow_bytes; /* that a flow can be owed, at most; 0: 16 MiB */
	uint64_t start; /* time of minislot 0 of all channels */
};

/* What became of a request; all but the first two leave things as they were. */
enum maps_verdict {
	MAPS_TAKEN,
	MAPS_CUT, /* taken, cut to what a flow can be owed */
	MAPS_NO_FLOW, /* the flow or the cluster is not there */
	MAPS_NOTHING, /* 0 bytes: nothing more than was asked for before */
	MAPS_VERDICTS,
};

struct maps_request {
	uint32_t flow;
	uint8_t cluster; /* index in the flow's */
	uint16_t channel; /* index, where it was heard */
	uint32_t bytes; /* for which grants are asked, beside all before */
	uint64_t
		minislot_at; /* when it was sent, by the CMTS' clock (samples); 0: not known, then now */
	bool contended; /* it came in a region for all, and not behind data or in a poll */
};

/*
 * What has been done since creation, and what is. Of one channel: requests by where they were heard. What is
 * asked, forgotten and owed belongs to flows and stands in the sum of all only, as do requests heard nowhere.
 * owed = asked - (granted - unsolicited) - forgotten.
 */
struct maps_counts {
	uint64_t verdicts[MAPS_VERDICTS];
	uint64_t maps;
	uint64_t late; /* MAPs that could not be in time, not made: their minislots stay unused */
	uint64_t
		late_requests; /* came when a MAP's ack time had passed them: ack_delay is too short */
	uint64_t collisions; /* told by maps_collisions() */
	uint64_t grants; /* elements with data minislots */
	uint64_t
		granted_bytes; /* of those that were asked for or are unsolicited, without headers */
	uint64_t unsolicited_bytes; /* of these, what nobody had asked for */
	uint64_t asked_bytes; /* as far as taken */
	uint64_t pendings;
	uint64_t polls;
	uint64_t
		missed; /* unsolicited grants and polls that had no room in their MAP, or whose MAP was late */
	uint64_t belated; /* unsolicited grants beyond their jitter */
	uint64_t minislots; /* described */
	uint64_t data_minislots; /* granted, */
	uint64_t request_minislots; /* for requests, polls among them, */
	uint64_t initial_minislots, station_minislots; /* for ranging; what is left was idle */
	uint64_t forgotten_bytes; /* owed to flows that were removed or changed */
	uint64_t owed_bytes; /* now */
};

/* Returns NULL when memory is short or something in the configuration is none; `why` then tells in one line
 * (static; may be NULL). To be freed by maps_free(), which takes NULL. */
struct maps *maps_create(const struct maps_config *config, const char **why);
void maps_free(struct maps *m);

/* Sets, changes or (cluster_count 0) removes a flow, by the time `now`. Returns NULL, or what is wrong or cannot
 * be met (a static line; unsolicited grants beyond the channel): then nothing has changed. What the flow was owed
 * is forgotten. Takes as long as its channels and MAPS_SETS are many. */
const char *maps_set_flow(struct maps *m, uint32_t flow, const struct maps_flow *settings,
			  uint64_t now);

/* Takes a request. O(1). */
enum maps_verdict maps_request(struct maps *m, const struct maps_request *request, uint64_t now);

/* Data came in a grant of the flow: one with activity detection stays active, or is again. O(log n). */
void maps_used(struct maps *m, uint32_t flow, uint64_t now);

/* So many requests were lost in a region for all, as far as is known: back-off windows follow. O(1). */
void maps_collisions(struct maps *m, uint32_t channel, uint32_t count);

/* A station maintenance opportunity for a SID, in one of the next MAPs. Returns false where too many wait. */
bool maps_station(struct maps *m, uint32_t channel, uint16_t sid);

/* When the next MAP is to be made; never UINT64_MAX. Before the first call of maps_make() it is the time of the
 * first MAPs from the configured start on. */
uint64_t maps_due(const struct maps *m);

/* Makes the next MAP that is due at `now` into `out`: call until it returns MAPS_NONE. Returns the channel's
 * index. The first call begins with the first MAPs that can be in time; later a channel whose time has jumped past
 * a MAP counts it as late and goes on with the next that can be in time. With a clock that has gone back it waits for
 * two of the longest MAPs; where that is too short it begins anew with the first MAPs that can be in time, keeps what
 * flows are owed, and looks at all flows once. Such a clock has to be told of: maps_due() is another then. */
uint32_t maps_make(struct maps *m, uint64_t now, struct map *out);

/* When the MAP that was made last was due. */
uint64_t maps_made(const struct maps *m);

/* Of a channel, or (MAPS_NONE) of all together. */
void maps_counts(const struct maps *m, uint32_t channel, struct maps_counts *out);

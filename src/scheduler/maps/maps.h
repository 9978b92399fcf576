/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream scheduler: turns bandwidth requests into grants in MAPs, for all upstream channels
 * of a service group. Pure C, one thread; the caller gives the time. See docs/upstream-scheduler.md
 * for the rules.
 *
 * Units: sizes in bytes, rates in bits per second, times in samples of 204.8 MHz. A tick of 10.24
 * MHz, the DOCSIS timestamp, has 20 samples, and an OFDMA symbol a whole number. 64 bits do not
 * wrap. 6.25 us are 1,280 samples.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/map.h"

#define MAPS_HZ 204800000
#define MAPS_MAX_CHANNELS 64
#define MAPS_MAX_CLUSTERS 8 /* per flow */
#define MAPS_PRIORITIES 8
#define MAPS_SETS 256 /* different sets of channels of SID clusters */
#define MAPS_RATE_MAX 100000000000 /* bits per second */
#define MAPS_BURST_MAX (1u << 30) /* bytes of any burst, and of requests owed to a flow */
#define MAPS_HEADER_MAX 64 /* bytes before the data of a grant */
#define MAPS_INITIAL_MAX (2u * MAPS_HZ)
#define MAPS_MIN_GRANT 128 /* bytes of a new grant with its header; each MAP can have one */
#define MAPS_BYTES_MAX (1u << 23) /* per MAP, so that reciprocals are exact */
#define MAPS_PROACTIVE_MAX (MAPS_HZ / 10) /* between proactive grants */
#define MAPS_SID_UNUSED 0 /* of minislots that no modem may use: too few for a request */
#define MAPS_NONE UINT32_MAX

struct maps;

enum maps_kind { MAPS_SC_QAM, MAPS_OFDMA };

struct maps_channel {
	enum maps_kind kind;
	uint8_t id; /* of the upstream channel, in MAPs */
	uint8_t ucd_count;
	uint8_t data_iuc; /* of long data grants: MAP_ADVANCED_LONG, or that of a profile */
	uint8_t short_iuc; /* of grants of at most short_minislots; 0: all are long */
	uint16_t short_minislots;
	uint32_t frame; /* samples of an OFDMA frame or SC-QAM minislot */
	uint16_t frame_minislots; /* per OFDMA frame; 1 for SC-QAM */
	uint16_t minislot_bytes; /* data bytes per minislot, by modulation and code */
	uint16_t burst_minislots; /* overhead per grant: preamble and guard; 0 with OFDMA */
	uint16_t max_burst_minislots; /* per grant; 0: no limit but the MAP */
	uint32_t interval; /* samples per MAP; rounded to whole frames, at least one */
	uint32_t lead; /* samples from the time when a MAP is due to its first minislot */
	/* Samples, as part of the lead, by which a MAP may be late. A later one is not made but
	 * counted. */
	uint32_t slack;
	/* Samples before a MAP's first minislot from which its requests are not answered in it:
	 * the delay of a request from its minislot to the CMTS, and the lead. */
	uint32_t ack_delay;
	uint16_t request_minislots; /* per request opportunity */
	uint16_t request_opportunities; /* per MAP, at least */
	uint16_t initial_minislots; /* per initial maintenance region */
	uint32_t initial_interval; /* samples between two, at most MAPS_INITIAL_MAX; 0: none */
	uint16_t station_minislots; /* per station maintenance opportunity */
	uint8_t ranging_start, ranging_end; /* back-off windows, exponents of 2 */
	uint8_t data_start, data_end;
};

/* Upstream scheduling service of a flow (MULPI 3.1, 7.2.3). */
enum maps_type {
	MAPS_BEST_EFFORT,
	MAPS_NON_REAL_TIME_POLLING,
	MAPS_REAL_TIME_POLLING,
	MAPS_UNSOLICITED, /* UGS */
	MAPS_UNSOLICITED_ACTIVITY, /* UGS-AD: polled while silent */
	MAPS_PROACTIVE, /* PGS: unsolicited grants of a guaranteed rate, and grants on request */
};

struct maps_sid {
	uint16_t channel; /* index */
	uint16_t sid; /* 14 bits, not broadcast, unique on the channel */
};

struct maps_cluster {
	const struct maps_sid *sids; /* each channel once */
	size_t count;
};

struct maps_flow {
	enum maps_type type;
	uint8_t priority; /* 0..7; 7 is served first */
	uint64_t sustained; /* maximum sustained traffic rate; 0: no limit */
	uint32_t sustained_burst; /* maximum traffic burst, bytes */
	uint64_t peak; /* at least the sustained; 0: none */
	uint64_t reserved; /* minimum reserved traffic rate, at most the sustained; 0: none */
	/* Bytes of one grant with its header (maximum concatenated burst). 0: no limit. */
	uint32_t max_burst;
	/* Segment header in each grant, beside the requested bytes, at most MAPS_HEADER_MAX. 0:
	 * none. */
	uint16_t header_bytes;
	uint32_t poll_interval; /* samples; for polling, and UGS-AD while silent */
	uint32_t grant_interval; /* samples; unsolicited and proactive */
	/* samples by which a grant may be late; it is early only if it would cross the end of its MAP */
	uint32_t grant_jitter;
	uint32_t grant_bytes; /* per unsolicited grant */
	uint8_t grants; /* per interval */
	uint32_t active_timeout; /* samples without data after which UGS-AD is silent */
	uint64_t guaranteed_rate; /* proactive: bytes >= rate x interval in every grant_interval */
	const struct maps_cluster *clusters;
	size_t cluster_count; /* 0: the flow does not exist */
};

/* maps_create() copies it and its arrays. */
struct maps_config {
	const struct maps_channel *channels;
	size_t channel_count; /* 1..MAPS_MAX_CHANNELS */
	uint32_t flows; /* capacity */
	uint32_t flow_bytes; /* limit of the bytes owed to a flow; 0: 16 MiB */
	uint64_t start; /* time of minislot 0 of all channels */
};

/* Result of a request. All but the first two leave the flow as it is. Counters and the estimate of contention include
 * every request. */
enum maps_verdict {
	MAPS_ACCEPTED,
	MAPS_CAPPED, /* accepted up to the limit of bytes owed to a flow */
	MAPS_NO_FLOW, /* the flow or its cluster does not exist */
	MAPS_NOTHING, /* 0 bytes */
	MAPS_VERDICTS,
};

struct maps_request {
	uint32_t flow;
	uint8_t cluster; /* index in the flow's list */
	uint16_t channel; /* index, on which it was received */
	uint32_t bytes; /* in addition to earlier requests */
	uint64_t minislot_at; /* when it was sent, samples of the CMTS clock; 0: now */
	bool contended; /* received in a contention region, not behind data or in a poll */
};

/*
 * Counters since creation, and current values. Requests count for the channel on which they were
 * received. Bytes requested, forgotten and owed belong to flows and are in the sum only, as
 * are requests without a channel. owed = requested - (granted - unsolicited) - forgotten.
 */
struct maps_counts {
	uint64_t verdicts[MAPS_VERDICTS];
	uint64_t maps;
	uint64_t late; /* MAPs that were not made as they were late: their minislots stay unused */
	uint64_t late_requests; /* received after a MAP had passed them: ack_delay is too short */
	uint64_t collisions; /* from maps_report_collisions() */
	uint64_t grants; /* elements with data minislots */
	uint64_t granted_bytes; /* requested or unsolicited, without headers */
	uint64_t unsolicited_bytes; /* of these, bytes that were not requested */
	uint64_t requested_bytes; /* requested, as far as accepted */
	uint64_t pendings;
	uint64_t polls;
	/* Unsolicited grants and polls that did not fit into their MAP, or whose MAP was late. */
	uint64_t missed;
	uint64_t belated; /* unsolicited grants beyond their jitter */
	uint64_t minislots; /* in all MAPs */
	uint64_t data_minislots; /* granted for data */
	uint64_t request_minislots; /* for requests and polls */
	uint64_t initial_minislots, station_minislots; /* for ranging; all others were idle */
	uint64_t forgotten_bytes; /* owed to flows when they were removed or changed */
	uint64_t owed_bytes; /* at present */
};

/* Returns NULL if memory is short or the configuration is invalid, and then sets `why`, unless
 * that is NULL, to a line of static text. Free the result by maps_free(), which accepts NULL. */
struct maps *maps_create(const struct maps_config *config, const char **why);
void maps_free(struct maps *m);

/*
 * Sets, changes or (cluster_count 0) removes a flow at the time `now`. Returns NULL, or a line
 * of static text if the settings are invalid or exceed the capacity; then nothing changes. Bytes
 * owed to the flow are forgotten. Takes O(channels + MAPS_SETS).
 */
const char *maps_set_flow(struct maps *m, uint32_t flow, const struct maps_flow *settings,
			  uint64_t now);

/* Prefetches what maps_request() needs of a flow, any number. Call it some requests ahead. */
void maps_prefetch(const struct maps *m, uint32_t flow);

/* Accepts a request. O(1). */
enum maps_verdict maps_request(struct maps *m, const struct maps_request *request, uint64_t now);

/* Data were received in a grant of the flow. Keeps a UGS-AD flow active, or activates it. O(log
 * n). */
void maps_data_received(struct maps *m, uint32_t flow, uint64_t now);

/* An estimate of the requests lost in contention regions. Back-off windows follow it. O(1). */
void maps_report_collisions(struct maps *m, uint32_t channel, uint32_t count);

/* Queues a station maintenance opportunity for a SID. Returns false if too many are queued. */
bool maps_queue_station(struct maps *m, uint32_t channel, uint16_t sid);

/* When the next MAP is due; never UINT64_MAX. Before the first maps_make(), the time of the
 * first MAPs after the configured start. */
uint64_t maps_due(const struct maps *m);

/*
 * Makes the next MAP that is due at `now` into `out`. Call until it returns MAPS_NONE. Returns the
 * channel's index. The first call begins with the first MAPs that can be in time. Later, a channel
 * whose time has jumped past a MAP counts it as late and continues with the next one in time.
 *
 * If the clock was set back by up to two of the longest MAPs, calls wait for the due time. Beyond
 * that, the channels restart with the first MAPs that can be in time; this keeps the owed bytes and
 * looks at all flows once. The caller must report such a clock by a call, as maps_due() changes.
 */
uint32_t maps_make(struct maps *m, uint64_t now, struct map *out);

/* When the latest MAP was due. */
uint64_t maps_last_due(const struct maps *m);

/* Counters of a channel, or (MAPS_NONE) of all. */
void maps_counts(const struct maps *m, uint32_t channel, struct maps_counts *out);

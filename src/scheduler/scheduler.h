/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service flow and channel access scheduling on opaque packet handles, with the time given by
 * the caller. Pure C, one thread. docs/scheduler.md has the rules; what stands here is how to
 * call it.
 *
 * Units: rates in bits per second, sizes in bytes, times in nanoseconds. The bytes of a packet
 * are those that DOCSIS counts for rates: from after the HCS to the end of the CRC (MULPI, annex
 * C.2.2).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A channel is given work no further ahead of its rate than this. */
#define SCHEDULER_LEAD_NS 500000
/* A bonding group whose channels all have more work than the lead rests until one has no more
 * than this. */
#define SCHEDULER_REST_NS 375000
#define SCHEDULER_RATE_MIN 1000 /* bits per second */
#define SCHEDULER_RATE_MAX 1000000000000 /* bits per second */
#define SCHEDULER_PACKET_MAX 16383 /* bytes of one packet */
#define SCHEDULER_MAX_CHANNELS 256
#define SCHEDULER_PRIORITIES 8
/* Behind the peak rate stands a bucket of this many bytes, or of what passes in this time. */
#define SCHEDULER_PEAK_BURST 2000
#define SCHEDULER_PEAK_NS 200000
#define SCHEDULER_NONE UINT32_MAX /* a flow's group: the flow is not in use */

struct scheduler;

/* What stands around DOCSIS frames on their way to the R-PHY device; all 0: nothing. */
struct scheduler_depi {
	uint16_t frame_bytes; /* of a DEPI frame, whatever it carries */
	uint16_t
		room; /* of a DEPI frame for segments and their table entries: more than two entries and
			* min_fragment; 0: DEPI adds nothing */
	uint16_t entry_bytes; /* of the table, for each segment */
	uint16_t min_fragment; /* a segment that does not end its packet has at least as much */
	uint16_t max_segments; /* in one DEPI frame */
	uint64_t flush_ns; /* a DEPI frame takes no more segments after this time */
};

struct scheduler_channel {
	uint64_t rate; /* 0: there is no such channel, and no group has it */
	struct scheduler_depi depi;
};

/* The channels that a bonding group may use; groups may share channels. */
struct scheduler_group {
	const uint32_t *channels; /* indices, each once */
	size_t channel_count; /* with two or more the group's flows are bonded; 0: there is no such group,
			       * and no flow has it */
};

/* A rate and how much may pass at once. */
struct scheduler_limit {
	uint64_t rate; /* 0: no limit */
	uint64_t burst; /* bytes, at least the longest packet of its flows */
};

struct scheduler_modem {
	struct scheduler_limit aggregate; /* of all its flows */
};

enum scheduler_aqm {
	SCHEDULER_TAIL_DROP,
	SCHEDULER_WRED,
	SCHEDULER_DOCSIS_PIE,
};

struct scheduler_wred {
	uint32_t min_threshold; /* bytes of the average queue, from where on packets are dropped */
	uint32_t max_threshold; /* from where on all are, above min_threshold */
	uint32_t max_probability; /* just below max_threshold, in 1/65536; 1..65536 */
	uint8_t weight; /* the average moves by 1/2^weight of the difference; 1..15 */
};

struct scheduler_flow {
	uint32_t group; /* index, or SCHEDULER_NONE: no such flow */
	uint32_t modem; /* index */
	uint8_t priority; /* traffic priority 0..7; 7 goes first */
	uint8_t weight; /* 1..255, among the flows of its modem with its priority and group */
	uint16_t header_bytes; /* DOCSIS header that will stand before each packet, up to 255 */
	struct scheduler_limit
		sustained; /* maximum sustained traffic rate, maximum traffic burst */
	uint64_t peak; /* peak traffic rate, at least the sustained; 0: none */
	uint64_t reserved; /* minimum reserved traffic rate, at most the sustained; 0: none */
	uint16_t reserved_packet; /* assumed minimum reserved rate packet size */
	uint32_t min_buffer; /* kept for it when the scheduler is nearly full */
	uint32_t buffer; /* target: may wait in ordinary times */
	uint32_t max_buffer; /* may wait while the scheduler is less than half full */
	enum scheduler_aqm aqm;
	struct scheduler_wred wred; /* for SCHEDULER_WRED */
	uint64_t latency_target; /* for SCHEDULER_DOCSIS_PIE, 1 ms to 256 ms */
};

/* Copied by scheduler_create(); the arrays need not live on. */
struct scheduler_config {
	const struct scheduler_channel *channels;
	size_t channel_count; /* 1 to SCHEDULER_MAX_CHANNELS */
	const struct scheduler_group *groups;
	size_t group_count;
	const struct scheduler_modem *modems;
	size_t modem_count;
	const struct scheduler_flow *flows;
	size_t flow_count;
	uint64_t rate_limit; /* of the service group; 0: none */
	uint32_t packet_limit; /* packets that all queues may hold together */
	uint16_t first_number; /* with which the DSID sequence numbers of a flow begin */
	uint64_t seed; /* of the random numbers of WRED and DOCSIS-PIE */
};

/* What becomes of an arrival. All but the first leave the packet with the caller, to be dropped. */
enum scheduler_verdict {
	SCHEDULER_QUEUED,
	SCHEDULER_FLOW_FULL, /* the flow's buffer has no room */
	SCHEDULER_FULL, /* packet_limit is reached */
	SCHEDULER_WRED_DROP,
	SCHEDULER_PIE_DROP,
	SCHEDULER_TOO_LONG, /* longer than SCHEDULER_PACKET_MAX or a burst: could never go; or 0 bytes */
	SCHEDULER_NO_FLOW, /* the flow is not in use */
	SCHEDULER_VERDICTS,
};

struct scheduler_arrival {
	void *packet;
	uint32_t flow; /* below flow_count */
	uint32_t bytes;
};

struct scheduler_grant {
	void *packet;
	uint32_t flow;
	uint16_t channel;
	uint16_t
		sequence; /* counts the flow's grants from first_number, modulo 65,536: the DSID's sequence number */
};

/*
 * Returns NULL when memory is short or something in the configuration is none; `why` then tells in
 * one line (a static string; NULL where nobody wants to know). To be freed by scheduler_free().
 */
struct scheduler *scheduler_create(const struct scheduler_config *config, const char **why);

/* Frees the scheduler. Packets still queued remain the caller's: drain first. */
void scheduler_free(struct scheduler *s);

/*
 * Takes `n` packets in, in their order, at time `now`, and tells of each what became of it. Returns
 * how many were queued. Time never goes back: an earlier `now` counts as the latest one seen.
 */
unsigned scheduler_enqueue(struct scheduler *s, uint64_t now, const struct scheduler_arrival *in,
			   unsigned n, enum scheduler_verdict *verdicts);

/*
 * Takes out up to `n` packets that a channel can send at time `now`, in the order of their numbers.
 * Returns how many. A call does a bounded amount of work, however much there is to look at: what it
 * leaves, the next call goes on with (scheduler_has_more()).
 */
unsigned scheduler_dequeue(struct scheduler *s, uint64_t now, struct scheduler_grant *grants,
			   unsigned n);

/* Whether the latest scheduler_dequeue() left work, so that another one at the same time may give
 * more although that one gave fewer than it was asked for. */
bool scheduler_has_more(const struct scheduler *s);

/* Takes out up to `n` packets without regard to rates and channels, to empty the queues at a
 * stop. */
unsigned scheduler_drain(struct scheduler *s, void **packets, unsigned n);

/* Takes out up to `n` packets of one flow, likewise. */
unsigned scheduler_drain_flow(struct scheduler *s, uint32_t flow, void **packets, unsigned n);

/* Takes what `bytes` need of a channel's rate, for what does not come from here and has been sent before all that
 * comes. DEPI adds a frame of its own to them. */
void scheduler_charge(struct scheduler *s, uint32_t channel, uint64_t bytes);

/* Packets in all queues. */
uint32_t scheduler_held(const struct scheduler *s);

/* When scheduler_dequeue() will have something to give without a further arrival: at the
 * earliest at this time; UINT64_MAX where nothing waits. May be too early, never too late. */
uint64_t scheduler_next(const struct scheduler *s);

/* When scheduler_dequeue() will do anything without a further arrival, be it that it gives nothing: at the
 * earliest at this time; UINT64_MAX where never. A caller that leaves out calls before it has the same
 * packets at the same times as one that does not. */
uint64_t scheduler_due(const struct scheduler *s);

/*
 * Changes while traffic runs, by the thread that calls enqueue and dequeue. What waits stays
 * queued, sequence numbers and counters go on; what was not there before begins with nothing of the one that
 * had its number. Each returns NULL when done, or says in one line what is wrong and changes nothing.
 */
const char *scheduler_set_flow(struct scheduler *s, uint32_t flow, const struct scheduler_flow *f);
const char *scheduler_set_modem(struct scheduler *s, uint32_t modem,
				const struct scheduler_modem *m);
const char *scheduler_set_group(struct scheduler *s, uint32_t group,
				const struct scheduler_group *g);
const char *scheduler_set_channel(struct scheduler *s, uint32_t channel,
				  const struct scheduler_channel *c);
const char *scheduler_set_rate_limit(struct scheduler *s, uint64_t rate_limit);

/*
 * Whether these settings would be taken, whatever else is there: whether what they refer to is there, or
 * something refers to what they take away, is judged when they are set. By any thread, at any time.
 */
const char *scheduler_check_flow(const struct scheduler *s, const struct scheduler_flow *f);
const char *scheduler_check_modem(const struct scheduler_modem *m);
const char *scheduler_check_group(const struct scheduler *s, const struct scheduler_group *g);
const char *scheduler_check_channel(const struct scheduler_channel *c);
const char *scheduler_check_rate_limit(uint64_t rate_limit);

/* Packets of one flow that wait. By another thread: perhaps those of a moment ago. */
uint32_t scheduler_flow_held(const struct scheduler *s, uint32_t flow);

/* Whether groups still compete as before a change of theirs, or of whether there is a rate limit:
 * each scheduler_dequeue() does some of the work that this takes. All else holds at once. */
bool scheduler_is_changing(const struct scheduler *s);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules service flows and channel access. Packets are opaque handles, and the caller gives the
 * time. Uses no DPDK. One thread calls all functions, unless they state otherwise. See
 * docs/scheduler.md for the rules.
 *
 * Units: rates in bits per second, sizes in bytes, times in nanoseconds. The bytes of a packet are
 * those that DOCSIS counts for rates: from after the HCS to the end of the CRC (MULPI, annex
 * C.2.2).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A channel gets work at most this far ahead of its rate. */
#define SCHEDULER_LEAD_NS 500000
/* When all channels of a bonding group have more work than the lead, the group sleeps until one
 * has at most this much. */
#define SCHEDULER_WAKE_NS 375000
#define SCHEDULER_RATE_MIN 1000 /* bits per second */
#define SCHEDULER_RATE_MAX 1000000000000 /* bits per second */
#define SCHEDULER_PACKET_MAX 16383 /* bytes of one packet */
#define SCHEDULER_MAX_CHANNELS 256
#define SCHEDULER_PRIORITIES 8
/* The burst of a peak rate: this many bytes, or the bytes that the rate admits in this time if that
 * is more. */
#define SCHEDULER_PEAK_BURST 2000
#define SCHEDULER_PEAK_NS 200000
#define SCHEDULER_NONE UINT32_MAX /* a flow's group: the flow is not in use */

struct scheduler;

/* DEPI encapsulation of DOCSIS frames. All 0: none. */
struct scheduler_depi {
	uint16_t frame_bytes; /* overhead per DEPI frame */
	/* Bytes per DEPI frame for segments and their table entries. Must exceed
	 * 2 * entry_bytes + min_fragment. 0: DEPI adds no bytes. */
	uint16_t capacity;
	uint16_t entry_bytes; /* table entry per segment */
	uint16_t min_fragment; /* least bytes of a segment that does not end its packet */
	uint16_t max_segments; /* per DEPI frame */
	uint64_t flush_ns; /* time after its first segment from which a DEPI frame takes no more */
};

struct scheduler_channel {
	uint64_t rate; /* 0: the channel does not exist, and no group may use it */
	struct scheduler_depi depi;
};

/* The channels that a bonding group may use. Groups may share channels. */
struct scheduler_group {
	const uint32_t *channels; /* indices, each once */
	/* 2 or more: the group's flows are bonded. 0: the group does not exist, and no flow may
	 * use it. */
	size_t channel_count;
};

/* A rate and the burst that it admits. */
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
	uint32_t min_threshold; /* average queue size in bytes, from which packets are dropped */
	uint32_t max_threshold; /* from which all packets are dropped; above min_threshold */
	uint32_t max_probability; /* at max_threshold, in 1/65536; 1..65536 */
	uint8_t weight; /* the average moves by 1/2^weight of the difference; 1..15 */
};

struct scheduler_flow {
	uint32_t group; /* index, or SCHEDULER_NONE: no such flow */
	uint32_t modem; /* index */
	uint8_t priority; /* traffic priority 0..7; 7 is served first */
	uint8_t weight; /* 1..255, among the modem's flows of the same priority and group */
	uint16_t header_bytes; /* DOCSIS header before each packet, up to 255 */
	struct scheduler_limit sustained; /* maximum sustained traffic rate and burst */
	uint64_t peak; /* peak traffic rate, at least the sustained; 0: none */
	uint64_t reserved; /* minimum reserved traffic rate, at most the sustained; 0: none */
	uint16_t reserved_packet; /* assumed minimum reserved rate packet size */
	uint32_t min_buffer; /* bytes; limit while the scheduler is nearly full */
	uint32_t buffer; /* bytes; target, and limit if neither of the other two applies */
	uint32_t max_buffer; /* bytes; limit while the scheduler is less than half full */
	enum scheduler_aqm aqm;
	struct scheduler_wred wred; /* for SCHEDULER_WRED */
	uint64_t latency_target; /* for SCHEDULER_DOCSIS_PIE, 1 ms to 256 ms */
};

/* scheduler_create() copies it and its arrays. */
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
	uint32_t packet_limit; /* packets in all queues together */
	uint16_t first_number; /* first DSID sequence number of a flow */
	uint64_t seed; /* of the random numbers of WRED and DOCSIS-PIE */
};

/* Result of an arrival. Unless it is SCHEDULER_QUEUED, the caller still owns the packet and must
 * drop it. */
enum scheduler_verdict {
	SCHEDULER_QUEUED,
	SCHEDULER_FLOW_FULL, /* the flow's buffer limit is reached */
	SCHEDULER_FULL, /* packet_limit is reached */
	SCHEDULER_WRED_DROP,
	SCHEDULER_PIE_DROP,
	SCHEDULER_TOO_LONG, /* longer than SCHEDULER_PACKET_MAX or a burst, or 0 bytes */
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
	/* DSID sequence number: counts the flow's grants from first_number, modulo 65,536. */
	uint16_t sequence;
};

/* Returns NULL if memory is short or the configuration is invalid, and then sets `why`, unless that
 * is NULL, to a line of static text. Free the result by scheduler_free(). */
struct scheduler *scheduler_create(const struct scheduler_config *config, const char **why);

/* Frees the scheduler, but not the queued packets, which the caller owns: drain first. */
void scheduler_free(struct scheduler *s);

/* Enqueues `n` packets in order at time `now` and stores a verdict for each. Returns how many were
 * queued. A `now` before that of an earlier call counts as that one. */
unsigned scheduler_enqueue(struct scheduler *s, uint64_t now, const struct scheduler_arrival *in,
			   unsigned n, enum scheduler_verdict *verdicts);

/*
 * Dequeues up to `n` packets that channels can send at time `now`; those of a flow are in the order
 * of their sequence numbers. Returns how many. The work of a call is bounded, and the next call
 * continues it; see scheduler_has_more().
 */
unsigned scheduler_dequeue(struct scheduler *s, uint64_t now, struct scheduler_grant *grants,
			   unsigned n);

/* Whether the latest scheduler_dequeue() left work, so that another call at the same time may
 * return more packets. */
bool scheduler_has_more(const struct scheduler *s);

/* Dequeues up to `n` packets regardless of rates and channels, to empty the queues at a stop. */
unsigned scheduler_drain(struct scheduler *s, void **packets, unsigned n);

/* The same for up to `n` packets of one flow. */
unsigned scheduler_drain_flow(struct scheduler *s, uint32_t flow, void **packets, unsigned n);

/* Charges `bytes` to a channel's rate, for traffic that bypasses this scheduler and is sent
 * before its packets. If the channel has DEPI, adds the overhead of a frame with one segment. */
void scheduler_charge(struct scheduler *s, uint32_t channel, uint64_t bytes);

/* Packets in all queues. */
uint32_t scheduler_queued(const struct scheduler *s);

/* The earliest time at which scheduler_dequeue() may return packets without a further arrival.
 * May be too early, never too late. UINT64_MAX if no packet is queued. */
uint64_t scheduler_next(const struct scheduler *s);

/*
 * The earliest time at which scheduler_dequeue() may do anything without a further arrival, even
 * if it returns no packet. UINT64_MAX: never. Earlier calls of scheduler_dequeue() have no
 * effect on packets and times, so the caller may omit them.
 */
uint64_t scheduler_due(const struct scheduler *s);

/*
 * Change settings in service, on the thread that calls enqueue and dequeue. Packets stay queued;
 * sequence numbers and counters go on. A new object inherits nothing from the previous one with its
 * index. Each returns NULL, or a line that says what is wrong, and then changes nothing.
 */
const char *scheduler_set_flow(struct scheduler *s, uint32_t flow, const struct scheduler_flow *f);
const char *scheduler_set_modem(struct scheduler *s, uint32_t modem,
				const struct scheduler_modem *m);
const char *scheduler_set_group(struct scheduler *s, uint32_t group,
				const struct scheduler_group *g);
const char *scheduler_set_channel(struct scheduler *s, uint32_t channel,
				  const struct scheduler_channel *c);
const char *scheduler_set_rate_limit(struct scheduler *s, uint64_t rate_limit);

/* Validate settings by themselves. References to and from other objects are checked only when the
 * settings are applied. May be called by any thread at any time. */
const char *scheduler_check_flow(const struct scheduler *s, const struct scheduler_flow *f);
const char *scheduler_check_modem(const struct scheduler_modem *m);
const char *scheduler_check_group(const struct scheduler *s, const struct scheduler_group *g);
const char *scheduler_check_channel(const struct scheduler_channel *c);
const char *scheduler_check_rate_limit(uint64_t rate_limit);

/* Packets queued for one flow. May be called by any thread, which may get a slightly old value. */
uint32_t scheduler_flow_queued(const struct scheduler *s, uint32_t flow);

/*
 * Whether a change of a group's channels, or the addition or removal of the rate limit, is still in
 * progress. Until then, groups compete as before. Each scheduler_dequeue() does a part of the work.
 * All other settings apply at once.
 */
bool scheduler_is_changing(const struct scheduler *s);

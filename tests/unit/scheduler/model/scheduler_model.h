/* SPDX-License-Identifier: BSD-3-Clause */
/* A slow model of the downstream scheduler after docs/scheduler.md: plain lists, a full search per
 * call, exact sums, no random drops. It follows the grants of a scheduler, which
 * scheduler_lockstep.h checks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/scheduler.h"

#define MODEL_CHANNELS 8
#define MODEL_GROUPS 6
#define MODEL_MODEMS 6
#define MODEL_FLOWS 20
#define MODEL_QUEUED 256 /* packets per flow; packet_limit must not exceed it */
#define MODEL_RESERVED SCHEDULER_PRIORITIES /* the reserved queue, above all priorities */
#define MODEL_CLASS_QUEUES (SCHEDULER_PRIORITIES + 1)
#define MODEL_QUANTUM 2048 /* bytes per round */
#define MODEL_LOWER_SHARE \
	262144 /* bytes that a cluster sends before a lower class queue is served */
/* bytes of MODEL_LOWER_SHARE that a byte of the lower class queue uses up */
#define MODEL_LOWER_COST 192
#define MODEL_DELAY_WRAP (UINT64_C(256) << 32) /* ns, 18 minutes: longer delays wrap */
#define MODEL_METER_NS 10000000 /* most that a meter is behind or ahead */
#define MODEL_LONGEST_JUMP UINT64_C(3600000000000) /* ns; longer jumps count as this one */

/* Work: rate in bit/s times ns, so that all sums are exact. A byte is 8,000,000,000. */
__extension__ typedef __int128 model_work;
#define MODEL_BYTE ((model_work)8000000000)
/* Work of 1/64 ns, to which the scheduler rounds, or slightly more. */
#define MODEL_TICK(rate) ((model_work)(rate) / 64 + 1)

/* A token bucket: `level` may pass at `since`; a negative level is a debt. A meter of a reserved rate is behind by
 * `level`; below 0, ahead. */
struct model_bucket {
	uint64_t rate; /* 0: no limit */
	model_work cap, level;
	model_work tolerance; /* how much the scheduler's value may differ, as it rounds */
	uint64_t since;
	/* ns: latest change of its settings or of the packet that waits for it. The lockstep does not check the bucket
	 * for LOCKSTEP_SLOP_NS from then on. */
	uint64_t changed;
};

/* What a channel, or the service group, has still to send at `since`. */
struct model_line {
	uint64_t rate; /* 0: no limit */
	model_work work;
	uint64_t since;
	model_work tolerance; /* as in a bucket */
};

/* The DEPI frame that a channel fills. */
struct model_depi {
	bool open;
	uint32_t space, segments;
	uint64_t begun;
};

struct model_packet {
	void *packet;
	uint32_t bytes;
	uint64_t at;
};

struct model_flow {
	struct scheduler_flow set;
	struct model_packet list[MODEL_QUEUED]; /* the oldest first */
	unsigned count;
	struct model_bucket sustained, peak, reserved;
	uint16_t sequence;
	uint64_t last_sent; /* ns: latest end of transmission of its bonded packets */
	uint64_t last_tolerance; /* ns: how much the scheduler's value may differ */
	uint64_t packets, bytes; /* granted */
};

struct model_channel {
	struct scheduler_channel set;
	struct model_line line;
	struct model_depi depi;
	uint64_t packets, bytes; /* granted; bytes with DEPI */
};

struct model_group {
	uint32_t list[MODEL_CHANNELS];
	size_t count;
	uint64_t packets, early, skew_ns, max_skew_ns; /* as in struct scheduler_group_report */
	/* packets that the scheduler may count as early or not, within the tolerance */
	uint64_t ties;
	uint64_t tolerance, max_tolerance; /* ns: how much the scheduler's skews may differ */
};

struct model {
	struct model_channel channels[MODEL_CHANNELS];
	struct model_group groups[MODEL_GROUPS];
	struct model_bucket modems[MODEL_MODEMS];
	struct model_flow flows[MODEL_FLOWS];
	size_t channel_count, group_count, modem_count, flow_count;
	uint32_t packet_limit;
	uint16_t first_number; /* sequence number of each flow's first packet */
	struct model_line limit;
	bool started;
	uint64_t now;
	uint64_t skipped; /* of the caller's time, in long jumps */
	/* packets granted, and the sum of their delays */
	uint64_t delayed_packets[SCHEDULER_PRIORITIES], delay_ns[SCHEDULER_PRIORITIES];
};

/* `config` must be valid for scheduler_create(), and within the sizes above. */
void model_init(struct model *m, const struct scheduler_config *config);

/* Sets the clock. A time before the latest one counts as that. */
void model_clock(struct model *m, uint64_t now);

/* The verdict on a packet, without random drops. Changes nothing. */
enum scheduler_verdict model_verdict(const struct model *m, const struct scheduler_arrival *in);

/* Appends a packet to its queue. */
void model_enqueue(struct model *m, const struct scheduler_arrival *in);

/* Packets in all queues, bytes in one. */
uint32_t model_queued(const struct model *m);
uint64_t model_queued_bytes(const struct model *m, uint32_t flow);

/* The level of a bucket, and what a line has still to send, at time `t`. */
model_work model_level(const struct model_bucket *b, uint64_t t);
model_work model_ahead(const struct model_line *l, uint64_t t);

/* Tolerance of the end of a line's work, ns. */
uint64_t model_tolerance(const struct model_line *l, uint64_t t);

/* Whether two groups share channels, directly or through others, or the service group's rate limit. */
bool model_same_cluster(const struct model *m, uint32_t a, uint32_t b);

/* Sends the first packet of a flow, which must have one, over a channel. Checks no rule: the lockstep has checked the
 * grant. */
void model_dequeue(struct model *m, uint32_t flow, uint32_t channel);

/* Removes a packet, as a drain does. Returns false unless it is the first of its flow. */
bool model_remove(struct model *m, uint32_t flow, const void *packet);

/* Change settings, which must be valid. */
void model_set_flow(struct model *m, uint32_t flow, const struct scheduler_flow *f);
void model_set_modem(struct model *m, uint32_t modem, const struct scheduler_modem *c);
void model_set_group(struct model *m, uint32_t group, const struct scheduler_group *g);
void model_set_channel(struct model *m, uint32_t channel, const struct scheduler_channel *c);
void model_set_rate_limit(struct model *m, uint64_t rate);

/* Charges traffic that bypasses the scheduler. DEPI adds a frame of its own. */
void model_charge(struct model *m, uint32_t channel, uint32_t bytes);

/* The bytes that a packet costs a channel now. Fills the DEPI frame. */
uint32_t model_depi_bytes(struct model_depi *d, const struct scheduler_depi *set, uint32_t bytes,
			  uint64_t now);

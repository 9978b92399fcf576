/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slow model of the downstream scheduler, written from docs/scheduler.md: plain lists that are
 * searched, everything examined at each call, and exact sums. It has no random drops. It follows another
 * scheduler's grants (model_take), which are judged by what it knows (scheduler_lockstep.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/scheduler.h"

#define MODEL_CHANNELS 8
#define MODEL_GROUPS 6
#define MODEL_MODEMS 6
#define MODEL_FLOWS 20
#define MODEL_WAITING 256 /* packets of a flow; no packet_limit may be above */
#define MODEL_RESERVED SCHEDULER_PRIORITIES /* the column before all priorities */
#define MODEL_COLUMNS (SCHEDULER_PRIORITIES + 1)
#define MODEL_TURN 2048 /* bytes */
#define MODEL_GUARD 262144 /* bytes of higher columns before something lower goes, */
#define MODEL_GUARD_COST 192 /* of which each byte takes so many off */
#define MODEL_DELAY_TURN \
	(UINT64_C(1024) << 32) /* ns, 73 minutes: longer delays count what is beyond */
#define MODEL_METER_NS 10000000 /* what a meter may be behind or ahead */
#define MODEL_LONGEST_JUMP UINT64_C(3600000000000) /* ns; longer ones count as one of this */

/* What passes in one nanosecond at one bit per second: one byte is 8,000,000,000 of it. */
__extension__ typedef __int128 model_work;
#define MODEL_BYTE ((model_work)8000000000)
/* What passes in a 64th of a nanosecond, or a little more. */
#define MODEL_TICK(rate) ((model_work)(rate) / 64 + 1)

/* What may pass now (token bucket), or by how much a meter is behind; as of `since`. */
struct model_bucket {
	uint64_t rate; /* 0: no limit */
	model_work cap, level;
	model_work beside; /* how far another's count may be off that cuts off fractions of time */
	uint64_t since;
	uint64_t changed; /* when it, or what waits for it, was */
};

/* What a channel, or the service group, has still to send; as of `since`. */
struct model_line {
	uint64_t rate; /* 0: no limit */
	model_work work;
	uint64_t since;
	model_work beside; /* as of a bucket */
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
	struct scheduler_flow is;
	struct model_packet list[MODEL_WAITING]; /* the first waits longest */
	unsigned count;
	struct model_bucket sustained, peak, reserved;
	uint16_t sequence;
	uint64_t last_sent; /* when the last of its bonded packets will have been sent; ns */
	uint64_t last_beside; /* how far another's count of that may be off */
	uint64_t packets, bytes; /* granted */
};

struct model_channel {
	struct scheduler_channel is;
	struct model_line line;
	struct model_depi depi;
	uint64_t packets, bytes; /* granted; bytes with all that stands around */
};

struct model_group {
	uint32_t list[MODEL_CHANNELS];
	size_t count;
	uint64_t packets, early, skew_ns, max_skew_ns;
	uint64_t ties; /* packets that were there at nearly the same time as an earlier one */
	uint64_t beside, max_beside; /* how far another's count of its skews may be off; ns */
};

struct model {
	struct model_channel channels[MODEL_CHANNELS];
	struct model_group groups[MODEL_GROUPS];
	struct model_bucket modems[MODEL_MODEMS];
	struct model_flow flows[MODEL_FLOWS];
	size_t channel_count, group_count, modem_count, flow_count;
	uint32_t packet_limit;
	uint16_t first_number;
	struct model_line limit;
	bool started;
	uint64_t now;
	uint64_t skipped; /* of the caller's time, by long jumps */
	uint64_t delays[SCHEDULER_PRIORITIES], delay_ns[SCHEDULER_PRIORITIES];
};

/* `config` must be one that scheduler_create() takes, within the sizes above. */
void model_init(struct model *m, const struct scheduler_config *config);

/* The clock: an earlier time than the latest seen counts as that. */
void model_clock(struct model *m, uint64_t now);

/* What becomes of a packet, random drops left out. Changes nothing. */
enum scheduler_verdict model_verdict(const struct model *m, const struct scheduler_arrival *in);

/* Puts a packet behind its queue. */
void model_queue(struct model *m, const struct scheduler_arrival *in);

/* Packets in all queues, bytes in one. */
uint32_t model_held(const struct model *m);
uint64_t model_waiting_bytes(const struct model *m, uint32_t flow);

/* What is in a bucket, what a line has still to send, at time `t`. */
model_work model_level(const struct model_bucket *b, uint64_t t);
model_work model_ahead(const struct model_line *l, uint64_t t);

/* How far the end of a line's work may be beside another's count of it; ns. */
uint64_t model_beside(const struct model_line *l, uint64_t t);

/* Whether two groups share channels, directly or through others. */
bool model_same_cluster(const struct model *m, uint32_t a, uint32_t b);

/* Sends the first packet of a flow over a channel: buckets, channel, numbers and counts. */
void model_take(struct model *m, uint32_t flow, uint32_t channel);

/* Takes a packet out of its place, as a drain does. False where the flow does not have it first. */
bool model_remove(struct model *m, uint32_t flow, const void *packet);

/* Changes, of which the caller knows that they are none to refuse. */
void model_set_flow(struct model *m, uint32_t flow, const struct scheduler_flow *f);
void model_set_modem(struct model *m, uint32_t modem, const struct scheduler_modem *c);
void model_set_group(struct model *m, uint32_t group, const struct scheduler_group *g);
void model_set_channel(struct model *m, uint32_t channel, const struct scheduler_channel *c);
void model_set_rate_limit(struct model *m, uint64_t rate);

/* What a channel carries beside packets of flows; DEPI adds a frame of its own. */
void model_charge(struct model *m, uint32_t channel, uint32_t bytes);

/* Bytes that a packet costs a channel now, the DEPI frame's filling moves on. */
uint32_t model_depi_bytes(struct model_depi *d, const struct scheduler_depi *is, uint32_t bytes,
			  uint64_t now);

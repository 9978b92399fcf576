/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks over the shoulder of a scheduler: knows what it was told and given, and what it may do by
 * the rules of docs/scheduler.md. Whatever is against them stops the run.
 */
#pragma once

#include "scheduler/report.h"
#include "scheduler/scheduler.h"
#include "scheduler_watch_rates.h"

#define WATCH_GROUPS 4
#define WATCH_MODEMS 4
#define WATCH_FLOWS 12

/* What the scheduler holds: a small block of its own, freed as soon as it comes out. */
struct watch_packet {
	struct watch_packet *next;
	uint32_t flow, bytes;
};

struct watch_flow {
	struct scheduler_flow set;
	struct watch_packet *first, **last; /* waiting */
	struct scheduler_flow_report counts;
	uint16_t sequence;
	struct watch_bucket sustained, peak;
	struct watch_meter reserved;
};

struct watch_channel {
	struct scheduler_channel set;
	struct watch_line line;
	bool vague; /* was given a frame of no bytes: no rule says what DEPI adds to that */
	uint32_t space, segments; /* of the DEPI frame that is being filled; space 0: none is */
	uint64_t opened;
	uint64_t packets, bytes;
};

struct watch_group {
	struct scheduler_group set;
	uint32_t channels[SCHEDULER_MAX_CHANNELS];
	uint64_t packets;
};

struct watch {
	struct scheduler *s;
	uint32_t channel_count, group_count, modem_count, flow_count;
	uint32_t packet_limit;
	struct watch_channel channels[SCHEDULER_MAX_CHANNELS];
	struct watch_group groups[WATCH_GROUPS];
	struct watch_bucket modems[WATCH_MODEMS];
	struct watch_flow flows[WATCH_FLOWS];
	struct watch_line limit;
	uint64_t delays[SCHEDULER_PRIORITIES];
	uint32_t held;
	bool started;
	/* The latest time that the scheduler was given, and the first, but so much later as jumps were
	 * longer than an hour: those count as one of an hour. */
	uint64_t epoch, now;
};

/* Time goes on, if it does. To be told before each enqueue and dequeue. */
void watch_time(struct watch *w, uint64_t now);

/* What was set and has been taken. */
void watch_set_channel(struct watch *w, uint32_t i, const struct scheduler_channel *set);
void watch_set_group(struct watch *w, uint32_t i, const struct scheduler_group *set);
void watch_set_modem(struct watch *w, uint32_t i, const struct scheduler_modem *set);
void watch_set_flow(struct watch *w, uint32_t i, const struct scheduler_flow *set);
void watch_set_limit(struct watch *w, uint64_t rate);

/* Judges what became of an arrival; the packet is freed unless it was queued. */
void watch_verdict(struct watch *w, const struct scheduler_arrival *a, enum scheduler_verdict v);

/* Judges a grant, and frees its packet. */
void watch_grant(struct watch *w, const struct scheduler_grant *g);

/* Judges what was drained, of any flow, and frees it. */
void watch_drained(struct watch *w, struct watch_packet *p);

/* Compares all reports but those of delays with what was counted. */
void watch_reports(const struct watch *w);
void watch_delays(const struct watch *w);

/* By this time all that waits must have gone when nothing more arrives, in nanoseconds from now. */
fine_time watch_patience(const struct watch *w);

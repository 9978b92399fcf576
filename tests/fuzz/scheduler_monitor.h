/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitors a scheduler: follows its settings and packets, and checks by the rules of
 * docs/scheduler.md what it does. A violation stops the run. */
#pragma once

#include "scheduler/report.h"
#include "scheduler/scheduler.h"
#include "scheduler_monitor_rates.h"

#define MONITOR_GROUPS 4
#define MONITOR_MODEMS 4
#define MONITOR_FLOWS 12

/* A queued packet, in memory of its own that is freed when it leaves. */
struct monitor_packet {
	struct monitor_packet *next;
	uint32_t flow, bytes;
};

struct monitor_flow {
	struct scheduler_flow set;
	struct monitor_packet *first, **last; /* queued */
	struct scheduler_flow_report counts;
	uint16_t sequence;
	struct monitor_bucket sustained, peak;
	struct monitor_meter reserved;
};

struct monitor_channel {
	struct scheduler_channel set;
	struct monitor_line line;
	bool unknown_bytes; /* it had a frame of 0 bytes, for which DEPI has no rule */
	uint32_t space, segments; /* of the DEPI frame that is being filled; space 0: none */
	uint64_t opened;
	uint64_t packets, bytes;
};

struct monitor_group {
	struct scheduler_group set;
	uint32_t channels[SCHEDULER_MAX_CHANNELS];
	uint64_t packets;
};

struct monitor {
	struct scheduler *s;
	uint32_t channel_count, group_count, modem_count, flow_count;
	uint32_t packet_limit;
	struct monitor_channel channels[SCHEDULER_MAX_CHANNELS];
	struct monitor_group groups[MONITOR_GROUPS];
	struct monitor_bucket modems[MONITOR_MODEMS];
	struct monitor_flow flows[MONITOR_FLOWS];
	struct monitor_line limit;
	uint64_t delays[SCHEDULER_PRIORITIES]; /* granted packets, whose delays are reported */
	uint32_t queued; /* packets */
	bool started;
	/* The first and the latest time of a call, ns. A jump of more than an hour moves the first one
	 * by the excess. */
	uint64_t epoch, now;
};

/* The time of the next call. To be called before each enqueue and dequeue. */
void monitor_time(struct monitor *w, uint64_t now);

/* Settings that were accepted. */
void monitor_set_channel(struct monitor *w, uint32_t i, const struct scheduler_channel *set);
void monitor_set_group(struct monitor *w, uint32_t i, const struct scheduler_group *set);
void monitor_set_modem(struct monitor *w, uint32_t i, const struct scheduler_modem *set);
void monitor_set_flow(struct monitor *w, uint32_t i, const struct scheduler_flow *set);
void monitor_set_limit(struct monitor *w, uint64_t rate);

/* Checks the verdict of an arrival. Frees the packet unless it was queued. */
void monitor_verdict(struct monitor *w, const struct scheduler_arrival *a,
		     enum scheduler_verdict v);

/* Checks a grant and frees its packet. */
void monitor_grant(struct monitor *w, const struct scheduler_grant *g);

/* Checks a drained packet and frees it. */
void monitor_drained(struct monitor *w, struct monitor_packet *p);

/* Compare all reports with the counts; the second function compares those of delays. */
void monitor_reports(const struct monitor *w);
void monitor_delays(const struct monitor *w);

/* Nanoseconds from now in which all queued packets must have left, if no more arrive. */
fine_time monitor_deadline(const struct monitor *w);

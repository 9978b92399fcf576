/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario, read from a JSON file; docs/scheduler.md has its keys. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "scheduler/scheduler.h"

#define SCENARIO_MAX_CHANNELS 32
#define SCENARIO_MAX_FLOWS 64
#define SCENARIO_MAX_CHANGES 64
#define SCENARIO_MAX_GROUPS 64 /* of senders */
#define SCENARIO_MAX_SENDERS 1000 /* per group */
#define SCENARIO_LABEL 32

enum sender_kind {
	SENDER_RENO,
	SENDER_CUBIC,
	SENDER_CBR, /* constant bit rate, does not respond to losses */
};

/* Senders of one kind on one service flow. Times in ns. */
struct sender_group {
	char label[SCENARIO_LABEL];
	enum sender_kind kind;
	uint32_t flow; /* index */
	unsigned count;
	/* round-trip time without queueing delay; those of the senders are spread evenly from rtt to rtt_max */
	uint64_t rtt, rtt_max;
	uint64_t start, spread; /* each starts at a random time in [start, start + spread] */
	uint64_t stop; /* sends nothing from this time on */
	uint32_t bytes; /* of a packet with CRC */
	uint64_t rate; /* SENDER_CBR: bits per second, per sender */
};

/* Sets another sustained rate of a service flow at the time `at`. */
struct rate_change {
	uint64_t at; /* ns */
	uint32_t flow;
	uint64_t rate; /* sustained rate, bits per second; not 0 */
};

struct scenario {
	uint64_t seed;
	/* ns; the warm-up is the first part of the duration. Of all results only the samples include it. */
	uint64_t duration, warmup;
	uint64_t sample; /* ns: interval of the samples */
	uint64_t channel_rates[SCENARIO_MAX_CHANNELS]; /* bits per second */
	uint32_t channel_count;
	struct scheduler_flow flows[SCENARIO_MAX_FLOWS];
	uint32_t flow_count;
	struct rate_change changes[SCENARIO_MAX_CHANGES];
	uint32_t change_count;
	struct sender_group groups[SCENARIO_MAX_GROUPS];
	uint32_t group_count;
};

#define SCENARIO_ERROR 200

/* Returns false with one line in `error` that says what is wrong, and where; `out` is then undefined. */
bool scenario_read(const json_t *json, struct scenario *out, char error[SCENARIO_ERROR]);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that share channels, one flow each, for the programs that test who of them is ahead. */
#pragma once

#include "test.h"

#include "scheduler/columns.h"

#define GBPS UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define BYTES 1500
#define TRIAL_GROUPS 600
#define COLUMN 3 /* in which all of them wait */

/* One flow a group, each of a modem of its own; groups by their lists of channels. */
struct trial {
	struct scheduler *s;
	uint64_t now;
	uint32_t groups;
	uint64_t had[TRIAL_GROUPS]; /* packets */
};

static inline void trial_open(struct trial *t, const struct scheduler_group *groups, uint32_t count,
			      const struct scheduler_channel *channels, uint32_t channel_count) {
	static struct scheduler_modem modems[TRIAL_GROUPS];
	struct scheduler_flow flows[TRIAL_GROUPS];
	const struct scheduler_config c = {
		.channels = channels,
		.channel_count = channel_count,
		.groups = groups,
		.group_count = count,
		.modems = modems,
		.modem_count = count,
		.flows = flows,
		.flow_count = count,
		.packet_limit = 100 * count,
	};

	for (uint32_t i = 0; i < count; i++)
		flows[i] = (struct scheduler_flow){
			.group = i,
			.modem = i,
			.priority = COLUMN,
			.weight = 1,
			.min_buffer = 20 * BYTES,
			.buffer = 20 * BYTES,
			.max_buffer = 20 * BYTES,
		};
	*t = (struct trial){.s = scheduler_create(&c, NULL), .groups = count};
	assert_non_null(t->s);
}

static inline void trial_close(struct trial *t) {
	while (scheduler_drain(t->s, (void *[1]){0}, 1) > 0)
		;
	scheduler_free(t->s);
}

static inline void arrive(struct trial *t, uint32_t flow) {
	struct scheduler_arrival in = {NULL, flow, BYTES};
	enum scheduler_verdict verdict;

	scheduler_enqueue(t->s, t->now, &in, 1, &verdict);
}

static const uint32_t one_channel[] = {0};
static const uint32_t both_channels[] = {0, 1};

static inline struct column *column_of(const struct trial *t, uint32_t group) {
	return &t->s->groups[group].columns[COLUMN];
}

/* Of a trial whose groups all share channels. */
static inline struct cluster *crowd(const struct trial *t) {
	return &t->s->clusters[t->s->groups[0].cluster];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A small configuration that tests change: three slots per kind of object, one of them free. */
#pragma once

#include "test.h"

#include "scheduler/scheduler.h"

#define MBPS 1000000ull

/* Two channels. Group 0 has both, group 1 only the first one. Two modems with a flow each: modem i's is in group i. */
struct setup {
	struct scheduler_config config;
	struct scheduler_channel channels[3];
	struct scheduler_group groups[3];
	struct scheduler_modem modems[3];
	struct scheduler_flow flows[3];
};

static inline void setup_make(struct setup *c) {
	static const uint32_t both_channels[] = {0, 1};

	*c = (struct setup){
		.config = {.channels = c->channels,
			   .channel_count = 3,
			   .groups = c->groups,
			   .group_count = 3,
			   .modems = c->modems,
			   .modem_count = 3,
			   .flows = c->flows,
			   .flow_count = 3,
			   .packet_limit = 1000},
		.channels = {{1000 * MBPS, {0}}, {1000 * MBPS, {0}}},
		.groups = {{both_channels, 2}, {both_channels, 1}},
	};
	for (uint32_t i = 0; i < 3; i++)
		c->flows[i] = (struct scheduler_flow){
			.group = i < 2 ? i : SCHEDULER_NONE,
			.modem = i,
			.weight = 1,
			.min_buffer = 100000,
			.buffer = 100000,
			.max_buffer = 100000,
		};
}

/* The caller frees it by scheduler_free(). */
static inline struct scheduler *setup_create(const struct setup *c) {
	const char *why = NULL;
	struct scheduler *s = scheduler_create(&c->config, &why);

	assert_null(why);
	assert_non_null(s);
	return s;
}

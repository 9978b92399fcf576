/* SPDX-License-Identifier: BSD-3-Clause */
/* What a scheduler may be told, and what it may not, out of the bytes of a fuzzer's input. */
#pragma once

#include <stdint.h>

#include "scheduler/scheduler.h"

struct steer {
	const uint8_t *at, *end; /* what is left of the input */
	uint32_t channel_count, group_count, modem_count;
};

/* 0 behind the end of the input. */
static inline uint8_t steer_byte(struct steer *in) {
	return in->at < in->end ? *in->at++ : 0;
}

/* These follow the rules. */
uint64_t steer_rate(struct steer *in); /* or 0 */
uint32_t steer_size(struct steer *in); /* of a packet or a burst: any number */
struct scheduler_channel steer_channel(struct steer *in);
struct scheduler_limit steer_limit(struct steer *in);
struct scheduler_flow steer_flow(struct steer *in);

/* The channels are to be freed; they lie in memory of exactly their number. */
uint32_t *steer_group(struct steer *in, struct scheduler_group *out);

/* Make something of it that has to be refused. */
uint64_t steer_bad_rate(struct steer *in); /* not 0 */
/* But for a group without a channel where no flow has it. */
void steer_spoil_group(struct steer *in, struct scheduler_group *g, uint32_t *channels);
void steer_spoil_flow(struct steer *in, struct scheduler_flow *f);

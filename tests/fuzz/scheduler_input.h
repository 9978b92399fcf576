/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads valid and invalid settings of the downstream scheduler from the input of a fuzz target. */
#pragma once

#include <stdint.h>

#include "scheduler/scheduler.h"

struct scheduler_input {
	const uint8_t *at, *end; /* the remaining input */
	uint32_t channel_count, group_count, modem_count;
};

/* 0 behind the end of the input. */
static inline uint8_t input_byte(struct scheduler_input *in) {
	return in->at < in->end ? *in->at++ : 0;
}

/* Valid settings. Rates are in bits per second. */
uint64_t input_rate(struct scheduler_input *in); /* or 0: no limit */
uint32_t input_size(struct scheduler_input *in); /* of a packet or a burst: any number */
struct scheduler_channel input_channel(struct scheduler_input *in);
struct scheduler_limit input_limit(struct scheduler_input *in);
struct scheduler_flow input_flow(struct scheduler_input *in);

/* The caller frees the channels, which are in memory of exactly their number. */
uint32_t *input_group(struct scheduler_input *in, struct scheduler_group *out);

/* Make settings invalid. */
uint64_t input_bad_rate(struct scheduler_input *in); /* not 0 */
/* A group without channels stays valid if no flow uses it. */
void spoil_group(struct scheduler_input *in, struct scheduler_group *g, uint32_t *channels);
void spoil_flow(struct scheduler_input *in, struct scheduler_flow *f);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions and constants of a direction for its measurement. */
#pragma once

#include <stdint.h>

#include "crypto/crypto.h"
#include "pipeline.h"

struct bench_direction {
	const char *name;
	const char *const *mixes; /* measured by default */
	unsigned mix_count;
	unsigned list_count;
	/* The stage list `index`, in the order of the packet path. */
	struct pipeline *(*list)(struct bench *b, unsigned index);
	/* The rate that defines the pipeline's simulated time: bits per second, including the MAC layer's
	 * `overhead`. */
	double (*rate)(const struct service_group *sg);
	double overhead; /* bytes per packet */
	/* Prepares for the traffic of another run, whose sequence numbers restart. Returns 0, or -1 after a
	 * message. NULL: the direction keeps no state of earlier runs. */
	int (*begin)(struct bench *b);
	/* Sets the options; `o` is zeroed except ports, crypto provider and seed. */
	void (*options)(struct traffic_options *o, const struct mix *mix);
	/* The sum that traffic_send() must return for BENCH_BATCH packets of `mean_bytes`. */
	unsigned (*batch)(const struct bench *b, double mean_bytes);
	/* Runs rounds of `step_ns` until the pipeline has processed a batch, for which traffic_send()
	 * returned the sum `fed`. Returns the number of packets that count for it. */
	uint64_t (*carry)(struct bench *b, unsigned fed, uint64_t step_ns);
	/* Drains the pipeline after the traffic was stopped. */
	void (*settle)(struct bench *b, struct traffic *t);
	/* Turns the measurement of latencies on or off. Returns 0, or -1 if memory is short. */
	int (*latency)(struct bench *b, bool on);
	/* Sets `packets`, `bytes` and `proven`. */
	void (*result)(const struct traffic *t, struct bench_run *out);
	enum crypto_direction crypto; /* crypto direction of the bound */
};

extern const struct bench_direction bench_downstream;
extern const struct bench_direction bench_upstream;

/* Advances the pipeline's time by `step_ns` and runs the direction's lists once. */
void bench_round(struct bench *b, const struct bench_direction *d, uint64_t step_ns);

/* Receives and proves all output. */
void bench_receive(struct traffic *t);

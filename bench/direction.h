/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two directions do differently when they are measured. */
#pragma once

#include <stdint.h>

#include "crypto/crypto.h"
#include "pipeline.h"

struct bench_direction {
	const char *name;
	const char *const *mixes; /* measured where none is asked for */
	unsigned mix_count;
	unsigned list_count;
	/* Its lists of stages, in the order of travel. */
	struct pipeline *(*list)(struct bench *b, unsigned index);
	/* At which the pipeline's time goes on: bits per second, the MAC layer's `overhead` included. */
	double (*rate)(const struct service_group *sg);
	double overhead; /* bytes a packet */
	/*
	 * The traffic of another run: its numbers begin anew. Returns 0, or -1 after a message. NULL: the
	 * direction has no memory of what came before.
	 */
	int (*begin)(struct bench *b);
	/* `o` is zeroed but for ports, crypto provider and seed. */
	void (*options)(struct traffic_options *o, const struct mix *mix);
	/* What traffic_send() is to return in all for BENCH_BATCH packets of `mean_bytes`. */
	unsigned (*batch)(const struct bench *b, double mean_bytes);
	/* Rounds of `step_ns` in which the pipeline carries the `fed` that came. Returns packets. */
	uint64_t (*carry)(struct bench *b, unsigned fed, uint64_t step_ns);
	/* Gets out what is still under way, traffic having been stopped. */
	void (*settle)(struct bench *b, struct traffic *t);
	/* Whether its latencies are measured. Returns 0, or -1 when memory is short. */
	int (*latency)(struct bench *b, bool on);
	/* Sets `packets`, `bytes` and `proven`. */
	void (*result)(const struct traffic *t, struct bench_run *out);
	enum crypto_direction crypto; /* of its bound */
};

extern const struct bench_direction bench_downstream;
extern const struct bench_direction bench_upstream;

/* One round of the direction's lists, `step_ns` of the pipeline's time later. */
void bench_round(struct bench *b, const struct bench_direction *d, uint64_t step_ns);

/* Takes and proves all that has come out. */
void bench_receive(struct traffic *t);

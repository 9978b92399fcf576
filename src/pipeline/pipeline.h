/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stage contract and the one loop that runs a list of stages.
 *
 * A stage takes a burst, keeps the survivors in order at the front of the same array and returns
 * how many they are. A packet that is not kept was given to drop() with a named reason, or is held
 * by the stage (queue, crypto device, open DEPI frame) and comes out of a later call. A stage that
 * can put out packets without taking any in says so by `polls`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

/* Packets that a list takes in at once, and room in the burst for stages that put out more. */
#define PIPELINE_BURST 64
#define PIPELINE_CAPACITY 512

#define PIPELINE_MAX_STAGES 16

typedef uint16_t (*stage_fn)(void *ctx, struct rte_mbuf **pkts, uint16_t n);

struct stage {
	const char *name; /* key in counters, telemetry, benchmarks and the picture */
	const char *about; /* what it does, in one line */
	const char *dpdk; /* the library that does the work */
	stage_fn run;
	bool polls; /* is called with an empty burst too */
};

/* A table that is read from top to bottom. */
struct stage_list {
	const char *name;
	const struct stage *stages;
	unsigned count;
};

/* What a stage has cost: cycles of calls that handled packets, and those packets. */
struct stage_account {
	uint64_t cycles; /* TSC */
	uint64_t packets; /* the larger of packets in and packets out, summed over calls */
	uint64_t calls;
};

struct pipeline {
	const struct stage *stages;
	unsigned count;
	void *ctx;
	bool accounting; /* cycles are measured; counters are always kept */
	uint64_t idle_cycles; /* of calls that handled nothing */
	struct stage_account accounts[PIPELINE_MAX_STAGES];
};

/* Begins with the list's stages, all of which get `ctx`, and with accounting. */
void pipeline_init(struct pipeline *p, const struct stage_list *list, void *ctx);

/* Runs the list once, from its first stage to its last. Returns the packets that went into or came
 * out of any stage, so that 0 means that there was nothing to do. */
unsigned pipeline_run(struct pipeline *p);

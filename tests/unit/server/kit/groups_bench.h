/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of several groups, each with a network and an R-PHY port of its own, whose other ends are the
 * test's. The groups have the same modems, addresses, sessions and SIDs: only the port tells them apart.
 */
#pragma once

#include <stdint.h>

#include "server/server.h"

#define GROUPS_BENCH_MAX 4

/* `threads` of a group. */
struct groups_threads {
	unsigned upper, lower, upstream; /* cores; 1ds1t where the first two are the same */
};

struct groups_bench {
	struct service_group groups[GROUPS_BENCH_MAX];
	struct server_config config;
	struct server server;
	bool with_control; /* the groups have control ports, too */
	/* The test's ends. */
	uint16_t network[GROUPS_BENCH_MAX], rphy[GROUPS_BENCH_MAX], control[GROUPS_BENCH_MAX];
	uint16_t sequences[GROUPS_BENCH_MAX]; /* of the next burst */
	uint64_t now;
	/* Frames that left a group's ports, with a digest of their sizes, times and bytes. */
	struct groups_sent {
		uint64_t frames, digest;
	} sent[GROUPS_BENCH_MAX][2]; /* network, R-PHY */
};

/* The configuration of `count` groups, with the ids 1, 2, .. */
void groups_bench_config(struct groups_bench *b, unsigned count,
			 const struct groups_threads *threads);

/* Makes EAL (the first time, for as many groups as there will be), and the server on its ports. */
void groups_bench_open(struct groups_bench *b);
int groups_bench_try(struct groups_bench *b); /* returns what server_serve() does */

/* Frees server and configuration; groups_bench_close() fails where a buffer has not come back. */
void groups_bench_free(struct groups_bench *b);
void groups_bench_close(struct groups_bench *b);

/* A packet to modem 0 or 1 of the group; from modem 0 a burst, one whose end does not come, a management message. */
void groups_bench_down(struct groups_bench *b, unsigned group, unsigned modem, uint32_t serial,
		       size_t size);
void groups_bench_up(struct groups_bench *b, unsigned group, uint32_t serial, size_t size);
void groups_bench_up_open(struct groups_bench *b, unsigned group);
void groups_bench_message(struct groups_bench *b, unsigned group);

/* The workers have rounds at the present time until nothing moves; what leaves is kept. */
void groups_bench_settle(struct groups_bench *b);

/* Time goes on by `ns` in steps, as in a replay. */
void groups_bench_pass(struct groups_bench *b, uint64_t ns);

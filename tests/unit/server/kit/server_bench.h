/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server of one group between two pairs of ports in memory: the test sends packets to the network end and
 * is the R-PHY device at the other. Every packet that comes back is compared, byte by byte, with
 * what a plain implementation makes of the packet that was sent.
 */
#pragma once

#include "server/server.h"

#include "depi_reader.h"
#include "random.h"

#define BENCH_PACKETS 100000
#define BENCH_CHANNELS 3
#define BENCH_MODEMS 4

/* What was sent under a serial number. */
struct bench_sent {
	uint16_t size;
	uint8_t modem;
	uint8_t address; /* of the modem; BENCH_BAD: must not arrive */
	bool back;
	uint64_t back_at; /* ns: when it was read at the R-PHY end */
};

#define BENCH_BAD 255

struct server_bench {
	struct service_group sg;
	struct lone_group lone;
	struct server server;
	struct served_group *group; /* its only one */
	uint16_t network, rphy; /* the far ends, ours */
	bool linear; /* DEPI frames must be one buffer each */
	struct random random;
	struct bench_sent sent[BENCH_PACKETS];
	uint32_t serial; /* of the next packet */
	uint64_t injected; /* packets that the network port has */
	uint64_t expected_drops[DROP_REASONS];
	uint64_t back; /* packets that arrived */
	uint32_t last_serial[BENCH_CHANNELS][BENCH_MODEMS];
	bool sequences[BENCH_MODEMS][65536]; /* that arrived */
	uint32_t sequence_count[BENCH_MODEMS];
	uint16_t channel; /* whose frame is being read */
	struct depi_reader readers[BENCH_CHANNELS];
};

/* Makes EAL (the first time), the server and its ports; one frame less than `rphy_depth` waits for
 * the R-PHY end to take it. */
void server_bench_open(struct server_bench *b, const char *text, unsigned rphy_depth);

/* Fails where a buffer or operation has not come back, or a bad packet was not dropped for its reason. */
void server_bench_close(struct server_bench *b);

/* The configuration that the tests share; the map `rphy` is theirs to add. */
extern const char server_bench_text[];

/* A good packet to the modem; a bad one. Counted where the port had room. */
void server_bench_good(struct server_bench *b, uint8_t modem, uint8_t address, size_t size);
void server_bench_bad(struct server_bench *b);

/* One round of the worker; time stands still. Checks that all packets are accounted for. */
void server_bench_round(struct server_bench *b);

/* Takes what the R-PHY end has, at most `most` DEPI frames. Returns how many came. */
unsigned server_bench_take(struct server_bench *b, unsigned most);

/* Rounds with time passing and somebody taking until nothing is held. */
void server_bench_settle(struct server_bench *b);

struct counters server_bench_counters(const struct server_bench *b);

static inline struct clock *server_bench_clock(struct server_bench *b) {
	return &b->server.workers[0].clock;
}

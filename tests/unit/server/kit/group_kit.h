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

struct group_kit {
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
void group_kit_open(struct group_kit *b, const char *text, unsigned rphy_depth);

/* Fails where a buffer or operation has not come back, or a bad packet was not dropped for its reason. */
void group_kit_close(struct group_kit *b);

/* The configuration that the tests share; the map `rphy` is theirs to add. */
extern const char group_kit_text[];

/* A good packet to the modem; a bad one. Counted where the port had room. */
void group_kit_good(struct group_kit *b, uint8_t modem, uint8_t address, size_t size);
void group_kit_bad(struct group_kit *b);

/* One round of the worker; time stands still. Checks that all packets are accounted for. */
void group_kit_round(struct group_kit *b);

/* Takes what the R-PHY end has, at most `most` DEPI frames. Returns how many came. */
unsigned group_kit_take(struct group_kit *b, unsigned most);

/* Rounds with time passing and somebody taking until nothing is held. */
void group_kit_settle(struct group_kit *b);

struct counters group_kit_counters(const struct group_kit *b);

static inline struct clock *group_kit_clock(struct group_kit *b) {
	return &b->server.workers[0].clock;
}

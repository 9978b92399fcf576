/* SPDX-License-Identifier: BSD-3-Clause */
/* Test kit: a server with one group. The test sends packets to its network port, and compares the
 * frames of its R-PHY port byte by byte with those of a simple reference implementation. */
#pragma once

#include "server/server.h"

#include "depi_reader.h"
#include "random.h"

#define GROUP_KIT_PACKETS 100000
#define GROUP_KIT_CHANNELS 3
#define GROUP_KIT_MODEMS 4

/* A packet that was sent. */
struct group_kit_sent {
	uint16_t size; /* bytes */
	uint8_t modem;
	uint8_t address; /* index in the modem; GROUP_KIT_BAD: the packet must be dropped */
	bool received;
	uint64_t received_at; /* ns */
};

#define GROUP_KIT_BAD 255

struct group_kit {
	struct service_group sg;
	struct single_group lone;
	struct server server;
	struct served_group *group; /* of the server */
	uint16_t network, rphy; /* DPDK ports of the test, connected to those of the server */
	bool linear; /* check that each DEPI frame is a single mbuf */
	struct random random;
	struct group_kit_sent sent[GROUP_KIT_PACKETS];
	uint32_t serial; /* of the next packet */
	uint64_t injected; /* packets that the test sent to the network port */
	uint64_t expected_drops[DROP_REASONS];
	uint64_t received; /* frames received from the R-PHY port */
	uint32_t next_serial[GROUP_KIT_CHANNELS][GROUP_KIT_MODEMS];
	bool sequences[GROUP_KIT_MODEMS][65536]; /* received, by packet sequence number */
	uint32_t sequence_count[GROUP_KIT_MODEMS];
	uint16_t channel; /* of the DEPI frame that is being read */
	struct depi_reader readers[GROUP_KIT_CHANNELS];
};

/* Starts EAL once, and creates server and ports. `text` is the group's configuration. The R-PHY
 * port queues up to rphy_depth - 1 frames. */
void group_kit_open(struct group_kit *k, const char *text, unsigned rphy_depth);

/* Frees everything. Fails on leaked buffers, and if bad packets had other drop reasons. */
void group_kit_close(struct group_kit *k);

/* Configuration of the group. Tests may append the map `rphy`. */
extern const char group_kit_text[];

/* Sends a packet to the modem's address number `address`; sends a random invalid packet. */
void group_kit_send_good(struct group_kit *k, uint8_t modem, uint8_t address, size_t size);
void group_kit_send_bad(struct group_kit *k);

/* Runs one round of the worker without advancing its clock. Checks the packet counters. */
void group_kit_round(struct group_kit *k);

/* Receives and checks up to `limit` DEPI frames. Returns their number. */
unsigned group_kit_receive(struct group_kit *k, unsigned limit);

/* Runs rounds, advances the clock and receives frames until no packet is pending. */
void group_kit_settle(struct group_kit *k);

struct counters group_kit_counters(const struct group_kit *k);

static inline struct clock *group_kit_clock(struct group_kit *k) {
	return &k->server.workers[0].clock;
}

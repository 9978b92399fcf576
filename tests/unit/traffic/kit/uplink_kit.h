/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An R-PHY network in a few lines, for tests of the upstream's sender: takes its L2TPv3 packets, puts PSP and bursts
 * together again. Addresses and frames are read in tests/e2e/replay/test_replay_upstream_traffic.py.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/providers.h"
#include "directions/uplink.h"
#include "model/service_group.h"
#include "wire/uepi.h"

#define UPLINK_KIT_CHANNELS 3
#define UPLINK_KIT_STREAMS 7
#define UPLINK_KIT_KINDS 3 /* sessions of a channel: data, requests, ranging */
#define UPLINK_KIT_BURST_MAX 8192
#define UPLINK_KIT_SEED 7

enum rig_session {
	RIG_DATA,
	RIG_REQUESTS,
	RIG_RANGING,
	RIG_ASKING, /* a burst of a data session in a request opportunity */
	RIG_UNUSED, /* and one in which nothing was sent */
};

struct rig_burst {
	uint32_t channel;
	enum rig_session kind;
	struct uepi_header header;
	struct uepi_trailer trailer;
	uint32_t size;
	uint8_t payload[];
};

/* What has come in a test. */
struct rig_received {
	struct rig_burst **bursts;
	size_t burst_count;
	struct uepi_request *records;
	size_t record_count;
	struct {
		uint16_t psp; /* next sequence number */
		struct rig_burst *open;
	} sessions[UPLINK_KIT_CHANNELS][UPLINK_KIT_KINDS];
	uint32_t most_segments; /* of PSP in one packet */
	uint32_t most_ends; /* of bursts of data in one packet */
	uint32_t longest; /* packet */
};

struct uplink_kit {
	struct service_group sg;
	struct crypto_provider *crypto;
	struct rte_mempool *pool;
	uint16_t ports[2]; /* the sender's, ours */
	unsigned depth; /* packets that the wire holds; set before it is opened, 0: 1024 */
	struct uplink *uplink;
	/* Modems wait for grants of somebody: burst by burst another size, at minislots that they name. */
	bool scheduled;
	uint32_t room; /* for streams of a service group that changes; 0: it does not */

	struct rig_received came;
};

extern struct uplink_kit rig;

/* Once a program. */
int uplink_kit_open(void **state);
int uplink_kit_close(void **state);

/* For each test: the service group as it is; frees the sender, which must have given back all that it had, and what came. */
int uplink_kit_begin(void **state);
int uplink_kit_end(void **state);

/* A sender; the kit's service group may have been changed before. With grants of a size, 0: by the rate; NULL where that, or
 * the mix, is refused. */
void uplink_kit_start(const char *mix, uint64_t rate);
struct uplink *uplink_kit_create(const char *mix, uint64_t rate, uint32_t grant);

/* Takes what is on the wire. Returns packets. */
unsigned uplink_kit_receive(void);

/* Sends until `packets` are made, and then until nothing is left; receives all of it. */
void uplink_kit_run(uint64_t packets);

/* Packets made, over all streams. */
uint64_t uplink_kit_made(void);

/* Bursts fit grants of a size, which do not overlap, and each request record names one of them. */
void uplink_kit_check(uint32_t grant);

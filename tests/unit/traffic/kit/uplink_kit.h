/* SPDX-License-Identifier: BSD-3-Clause */
/* A minimal R-PHY core for tests of the traffic program's upstream. It receives L2TPv3 packets and
 * reassembles upstream bursts from PSP segments. The e2e test test_replay_upstream_traffic.py
 * checks the addresses and the frames in the bursts. */
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
#define UPLINK_KIT_KINDS 3 /* sessions per channel: data, requests, ranging */
#define UPLINK_KIT_BURST_MAX 8192
#define UPLINK_KIT_SEED 7

enum rig_session {
	RIG_DATA,
	RIG_REQUESTS,
	RIG_RANGING,
	RIG_REQUEST_BURST, /* a burst of a data session in a request opportunity */
	RIG_UNUSED, /* no burst in the grant */
};

struct rig_burst {
	uint32_t channel;
	enum rig_session kind;
	struct uepi_header header;
	struct uepi_trailer trailer;
	uint32_t size;
	uint8_t payload[];
};

/* All that the kit has received since uplink_kit_set_up(). */
struct rig_received {
	struct rig_burst **bursts;
	size_t burst_count;
	struct uepi_request *records;
	size_t record_count;
	struct {
		uint16_t psp; /* next sequence number */
		struct rig_burst *open; /* in reassembly */
	} sessions[UPLINK_KIT_CHANNELS][UPLINK_KIT_KINDS];
	uint32_t max_segments; /* PSP segments of one packet, maximum */
	uint32_t max_ends; /* ends of data bursts in one packet, maximum */
	uint32_t longest; /* packet, bytes */
};

struct uplink_kit {
	struct service_group sg;
	struct crypto_provider *crypto;
	struct rte_mempool *pool;
	uint16_t ports[2]; /* port of the uplink, port of the kit */
	unsigned ring_size; /* of the ports; set before uplink_kit_open(); 0: 1024 */
	struct uplink *uplink;
	bool scheduled; /* modems wait for grants in MAPs; bursts have various sizes */
	uint32_t stream_capacity; /* for a group that changes; 0: it does not change */
	uint32_t refuse_every, reorder_every; /* as in struct uplink_options */
	struct impair_shares impair; /* of scheduled modems */

	struct rig_received received;
};

extern struct uplink_kit rig;

/* Fixtures of a program. */
int uplink_kit_open(void **state);
int uplink_kit_close(void **state);

/* Fixtures of a test: load the service group; free the uplink and received bursts. */
int uplink_kit_set_up(void **state);
int uplink_kit_tear_down(void **state);

/* Create an uplink for the group, which the test may change before. `rate`: bits per second; 0: no
 * limit. `grant`: bytes; 0: by the rate. uplink_kit_create() returns NULL for invalid values. */
void uplink_kit_start(const char *mix, uint64_t rate);
struct uplink *uplink_kit_create(const char *mix, uint64_t rate, uint32_t grant);

/* Receives all packets from the port. Returns their number. */
unsigned uplink_kit_receive(void);

/* Sends until at least `packets` are made, stops, and receives until the uplink is empty. */
void uplink_kit_run(uint64_t packets);

/* Packets made in all streams. */
uint64_t uplink_kit_made(void);

/* Asserts that bursts fit disjoint grants of `grant` bytes, and that request records name these. */
void uplink_kit_check_bursts(uint32_t grant);

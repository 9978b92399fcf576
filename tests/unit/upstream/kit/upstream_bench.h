/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration of one upstream between ports in memory, and what a test knows of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/providers.h"
#include "random.h"
#include "upstream/upstream.h"
#include "wire/docsis_up.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"
#include "wire/segment.h"
#include "wire/uepi.h"

#define BENCH_STREAMS 9
#define BENCH_CHANNELS 3
#define BENCH_PACKET_MAX 9200 /* bytes of an L2TPv3 packet with its headers */
#define BENCH_FRAME_MAX 2100 /* bytes of a MAC frame that bench_mac() writes */
#define BENCH_SERIALS 65536
#define BENCH_SMALLEST 60 /* bytes of the smallest packet, without CRC: shorter ones are padded */
#define BENCH_MS 1000000ull
#define BENCH_MODEMS 6
#define BENCH_CROWD 600 /* modems besides, at most */
#define BENCH_MOST_MODEMS (BENCH_MODEMS + BENCH_CROWD)
#define BENCH_CROWD_SID 0x1000 /* of the first of them, on channel 0 */

/* Sessions, as they are configured. */
#define BENCH_SC_QAM 0x20001 /* channel 0, data */
#define BENCH_OFDMA 0x20002 /* channel 1, data; requests and ranging are here, too */
#define BENCH_REQUESTS 0x21002
#define BENCH_RANGING 0x22002
#define BENCH_OFDMA_ALONE 0x20003 /* channel 2 */

/*
 * The streams of the configuration: one a SID cluster, in the order of the upstream's tables.
 *
 *     0  modem 0, AES, two keys: channels 0 and 2        5  modem 2: channel 2
 *     1  the same flow, cluster 3: channel 2             6  modem 3, in the clear, no segment
 *     2  modem 0: channel 1                                 headers: channel 0
 *     3  modem 1, AES, no segment headers: channel 0     7  modem 4, in the clear: channels 0, 2
 *     4  modem 2, in the clear, cluster 5: channels 0, 2 8  modem 5, the same
 */
struct bench_stream {
	uint8_t modem;
	uint8_t flow;
	uint8_t cluster;
	bool segment_header;
	uint16_t sid; /* on all channels of the stream */
	uint8_t channels[2]; /* indices */
};
extern const struct bench_stream bench_streams[BENCH_STREAMS];

struct upstream_bench {
	struct service_group sg;
	struct modem modems[BENCH_MOST_MODEMS];
	/* what a test may set before bench_start() */
	unsigned network_depth; /* a power of two; one less fits */
	unsigned control_depth;
	bool no_control;
	unsigned packet_buffers, packet_room, frame_buffers, piece_buffers;
	bool copies; /* no frame stays in its packet */
	unsigned crowd; /* modems, by bench_crowd() */
	const struct group_room *room; /* for changes, or NULL */
	struct message_path *path; /* with an upstream scheduler, or NULL */

	struct upstream *u;
	struct clock clock;
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	void *schedules[2 * BENCH_MOST_MODEMS];
	struct rte_mempool *packets, *frames, *pieces, *guarded;
	uint16_t rphy, network, control; /* the far ends, ours */
	uint16_t near[3];
	struct random random;

	uint16_t psp[4 * BENCH_CHANNELS][PSP_FLOW_MAX + 1]; /* next sequence numbers */
	uint16_t segment[BENCH_STREAMS]; /* the same */
	uint32_t burst_id;
	uint64_t injected; /* packets that the R-PHY port has */
	uint32_t serial[BENCH_STREAMS]; /* of the next packet */
	uint16_t size[BENCH_STREAMS][BENCH_SERIALS]; /* of the packets that were made */
	uint32_t came[BENCH_STREAMS]; /* packets */
	uint32_t next[BENCH_STREAMS]; /* the serial that may come next, or a later one */
	uint32_t others; /* frames at the network port that are none of these, see `other` */
	uint8_t other[BENCH_FRAME_MAX]; /* the last of them */
	uint32_t other_size;
	uint32_t messages; /* at the control port */
	uint8_t message[BENCH_FRAME_MAX]; /* the last of them */
	uint32_t message_size;
	uint64_t expected[DROP_REASONS];
	bool any_drops; /* they are not compared at the end, nor are packets */
	bool lossy; /* not all packets come that are made */
};

/* Sets the configuration and the sizes, for the test to change. */
void bench_prepare(struct upstream_bench *b);

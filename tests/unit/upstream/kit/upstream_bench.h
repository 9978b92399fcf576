/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One upstream between ports in memory. The test is the R-PHY device with its modems at one end, and
 * the network and the control plane at the others. Every packet that comes out is made again from its
 * number and compared byte by byte.
 */
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
	struct modem modems[BENCH_MODEMS + BENCH_CROWD];
	/* what a test may set before bench_start() */
	unsigned network_depth; /* a power of two; one less fits */
	unsigned control_depth;
	bool no_control;
	unsigned packet_buffers, packet_room, frame_buffers, piece_buffers;
	bool copies; /* no frame stays in its packet */
	unsigned crowd; /* by bench_crowd() */
	const struct group_room *room; /* for changes, or NULL */
	struct message_path *path; /* with an upstream scheduler, or NULL */

	struct upstream *u;
	struct clock clock;
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	void *schedules[2 * (BENCH_MODEMS + BENCH_CROWD)];
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

/* Adds `count` modems in the clear, each with one flow with segment headers and one SID cluster. Their
 * streams come behind the others. To be called before bench_start(). */
void bench_crowd(struct upstream_bench *b, unsigned count);

/* Makes EAL (the first time), ports, pools and the upstream. */
void bench_start(struct upstream_bench *b);

/* Both in one. */
void bench_open(struct upstream_bench *b);

/* What happens further on is not compared with what the test expected. Fails where a drop was not
 * expected, a packet did not come, a unit does not add up, or a buffer, operation or hold has not come back after a stop. */
void bench_close(struct upstream_bench *b);

/* What the test has made happen. */
void bench_expect(struct upstream_bench *b, enum drop_reason reason, uint64_t n);
uint64_t bench_count(const struct upstream_bench *b, enum counter counter);

/* PSP packets. */
struct bench_psp {
	uint32_t session;
	uint8_t flow;
	bool unnumbered; /* S = 0 */
	bool numbered; /* by `sequence`; otherwise by the next number of the flow */
	uint16_t sequence;
	uint8_t count;
	uint8_t table[PSP_COUNT_MAX * PSP_ENTRY_SIZE];
	uint8_t data[BENCH_PACKET_MAX];
	size_t size;
};

void psp_open(struct bench_psp *p, uint32_t session);
void psp_add(struct bench_psp *p, bool begin, bool end, const void *bytes, size_t size);

/* The parts of a burst on the session of the packet; the format is that of the channel. */
void psp_add_header(struct upstream_bench *b, struct bench_psp *p, uint16_t sid);
void psp_add_trailer(struct upstream_bench *b, struct bench_psp *p);

/* Writes the whole L2TPv3 packet. Returns its size. */
size_t psp_write(struct upstream_bench *b, const struct bench_psp *p, uint8_t *out);

/* Sends it; a round may be needed when the port is full. */
void psp_send(struct upstream_bench *b, const struct bench_psp *p);

/* Sends bytes as they are; guarded: they end where readable memory ends. */
void bench_inject(struct upstream_bench *b, const void *frame, size_t size);
void bench_inject_guarded(struct upstream_bench *b, const void *frame, size_t size);

/* Sends a burst in one PSP packet of flow 0. */
void bench_burst(struct upstream_bench *b, uint32_t session, uint16_t sid, const void *payload,
		 size_t size);

/* Sends a burst of a stream on its first channel. With `pointer` < 0 the segment has none; the number
 * is the stream's next one. */
#define BENCH_NO_POINTER (-1)
void bench_segment(struct upstream_bench *b, unsigned stream, int pointer, const void *bytes,
		   size_t size);
void bench_segment_as(struct upstream_bench *b, unsigned stream, const struct segment_header *h,
		      const void *bytes, size_t size);

/* A burst without a segment header on the stream's first channel. */
void bench_plain(struct upstream_bench *b, unsigned stream, const void *bytes, size_t size);

uint32_t bench_session(unsigned channel);

/* The Ethernet frame of a packet, without CRC: IPv4, UDP, from the modem's address. */
void bench_ethernet(const struct upstream_bench *b, unsigned stream, uint32_t serial, size_t size,
		    uint8_t *out);

/* Writes the stream's next packet of `size` bytes as a MAC frame, as its modem sends it: encrypted
 * with its keys by turns, or in the clear. Returns the size of the frame. */
size_t bench_mac(struct upstream_bench *b, unsigned stream, size_t size, uint8_t *out);

/* A frame of any kind around the `size` bytes of a PDU without CRC: adds CRC and, with h->encrypted,
 * encrypts with the generation 0 or 1 of the modem's key that h->key_sequence names. */
size_t bench_frame(const struct upstream_bench *b, unsigned modem, const struct docsis_up_header *h,
		   const void *pdu, size_t size, uint8_t *out);

/* Runs the lists once; checks that all units add up. Time stands still. */
void bench_round(struct upstream_bench *b);

/* The same so many times. */
void bench_rounds(struct upstream_bench *b, unsigned n);

/* Rounds without time, until nothing moves; takes what comes out. */
void bench_settle(struct upstream_bench *b);

/* The same after `ns`. */
void bench_after(struct upstream_bench *b, uint64_t ns);

/* Takes at most `most` frames from the network port and checks them. Returns how many came. */
unsigned bench_take(struct upstream_bench *b, unsigned most);

/* All packets of the stream that were made have come. */
void bench_complete(const struct upstream_bench *b, unsigned stream);

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

struct upstream_kit {
	struct service_group sg;
	struct modem modems[BENCH_MOST_MODEMS];
	/* what a test may set before bench_start() */
	unsigned network_depth; /* a power of two; one less fits */
	unsigned control_depth;
	bool no_control;
	unsigned packet_buffers, packet_slot, frame_buffers, piece_buffers;
	bool copies; /* no frame stays in its packet */
	unsigned crowd; /* modems, by bench_crowd() */
	const struct group_capacity *capacity; /* for changes, or NULL */
	struct message_path *path; /* with an upstream scheduler, or NULL */

	struct upstream *u;
	struct clock clock;
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	void *schedules[2 * BENCH_MOST_MODEMS];
	struct rte_mempool *packets, *frames, *pieces;
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
void bench_prepare(struct upstream_kit *b);

/* The upstream of the case. */
extern struct upstream_kit *const bench;

/* For a case's `prepare`: `count` modems more, in the clear, each with one flow with segment headers and one SID cluster,
 * whose streams come behind the others. */
void bench_crowd(unsigned count);

/* Makes EAL (the first time), ports, pools and the upstream; the other prepares it, too. */
void bench_start(void);
void bench_open(void);

/* Fails where a drop was not expected, a packet did not come, a unit does not add up, or a buffer, operation or hold has
 * not come back after a stop. */
void bench_close(void);

/* A provider, a queue and the schedules of all keys of the configuration. */
void bench_crypto_start(void);
void bench_crypto_end(struct crypto_provider *crypto, struct crypto_queue *queue,
		      void *schedules[2 * BENCH_MOST_MODEMS]);

/* `n` more will be dropped. */
void bench_expect(enum drop_reason reason, uint64_t n);

uint64_t bench_count(enum counter counter);

/* Nothing waits anywhere. */
void bench_nothing_held(void);

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
void psp_add_header(struct bench_psp *p, uint16_t sid);
void psp_add_trailer(struct bench_psp *p);

/* Writes the whole L2TPv3 packet. Returns its size. */
size_t psp_write(const struct bench_psp *p, uint8_t *out);

/* Sends it; a round may be needed when the port is full. */
void psp_send(const struct bench_psp *p);

/* Sends bytes as they are. */
void bench_inject(const void *frame, size_t size);

/* Sends a burst in one PSP packet of flow 0; without a segment header on the first channel of a stream. */
void bench_burst(uint32_t session, uint16_t sid, const void *payload, size_t size);
void bench_plain(unsigned stream, const void *bytes, size_t size);

/* Sends a burst of a stream on its first channel. With `pointer` < 0 the segment has none; the number is the stream's
 * next one. */
#define BENCH_NO_POINTER (-1)
void bench_segment(unsigned stream, int pointer, const void *bytes, size_t size);
void bench_segment_as(unsigned stream, const struct segment_header *h, const void *bytes,
		      size_t size);

uint32_t bench_session(unsigned channel);

/* The Ethernet frame of a packet, without CRC: IPv4, UDP, from the modem's address. */
void bench_ethernet(unsigned stream, uint32_t serial, size_t size, uint8_t *out);

/* Writes the stream's next packet of `size` bytes as a MAC frame, as its modem sends it: encrypted with its keys by
 * turns, or in the clear, also where it has a key. Returns the size of the frame. */
size_t bench_mac(unsigned stream, size_t size, uint8_t *out);
size_t bench_mac_clear(unsigned stream, size_t size, uint8_t *out);

/* A frame of any kind around the `size` bytes of a PDU without CRC: adds CRC and, with h->encrypted, encrypts with the
 * generation 0 or 1 of the modem's key that h->key_sequence names. Returns its size. */
size_t bench_frame(unsigned modem, const struct docsis_up_header *h, const void *pdu, size_t size,
		   uint8_t *out);

/* Runs the lists so many times; checks that all units add up. Time stands still. */
void bench_round(void);
void bench_rounds(unsigned n);

/* Rounds without time, until nothing moves; takes what comes out. The other does so after `ns`. */
void bench_settle(void);
void bench_after(uint64_t ns);

/* Takes at most `most` frames from the network port and checks them. Returns how many came. */
unsigned bench_take(unsigned most);

/* All packets of the stream that were made have come. */
void bench_complete(unsigned stream);

/* SPDX-License-Identifier: BSD-3-Clause */
/* A kit for tests of the upstream of one service group: configuration, in-memory ports, sent and
 * received packets. The test plays the R-PHY device, the network and the control plane. upstream_cases.h runs the
 * cases of a test and has further helpers. */
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

#define KIT_STREAMS 9
#define KIT_CHANNELS 3
#define KIT_PACKET_MAX 9200 /* most payload bytes of a PSP packet */
#define KIT_HEADERS_MAX 600 /* bytes of L2TPv3 and PSP headers and of the PSP table */
#define KIT_FRAME_MAX 2100 /* size of a buffer for a MAC frame; its packet has 32 bytes less */
#define KIT_SERIALS 65536 /* most packets of a stream */
#define KIT_FRAME_MIN 60 /* bytes without CRC; the upstream pads shorter frames */
#define KIT_MS 1000000ull /* ns */
#define KIT_MODEMS 6
#define KIT_ADDED_MODEMS 600 /* most modems that kit_add_modems() adds */
#define KIT_MAX_MODEMS (KIT_MODEMS + KIT_ADDED_MODEMS)
#define KIT_ADDED_SID 0x1000 /* SID of the first added modem, on channel 0 */

/* Session IDs of the upstream channels. */
#define KIT_SC_QAM 0x20001 /* channel 0: data */
#define KIT_OFDMA 0x20002 /* channel 1: data; requests and ranging follow */
#define KIT_REQUESTS 0x21002
#define KIT_RANGING 0x22002
#define KIT_OFDMA_2 0x20003 /* channel 2: data */
#define KIT_SESSIONS 5

/* The streams: one per SID cluster, in the order of the upstream's tables. Index:
 * 0, 1  modem 0, two key generations: cluster 0 on channels 0 and 2, cluster 3 on channel 2
 * 2     modem 0, another flow: channel 1
 * 3     modem 1, one key generation, no segment headers: channel 0
 * 4, 5  modem 2, no key: cluster 5 on channels 0 and 2; another flow on channel 2
 * 6     modem 3, no key, no segment headers: channel 0
 * 7, 8  modems 4 and 5, no key: channels 0 and 2 */
struct kit_stream {
	uint8_t modem;
	uint8_t flow;
	uint8_t cluster;
	bool segment_header;
	uint16_t sid; /* on all channels of the stream */
	uint8_t channels[2]; /* indices */
};
extern const struct kit_stream kit_streams[KIT_STREAMS];

struct upstream_kit {
	struct service_group sg;
	struct modem modems[KIT_MAX_MODEMS];
	/* A test may change these and `sg` before kit_start(). */
	unsigned network_depth; /* a power of two; the port can have one packet less */
	unsigned control_depth; /* as network_depth, of the control port */
	bool no_control; /* the group has no control port */
	unsigned packet_buffers, frame_buffers, piece_buffers; /* of the pools below */
	unsigned packet_buffer_size; /* bytes, with headroom */
	bool copy_frames; /* copy each frame instead of attaching it to its packet */
	const struct group_capacity *capacity; /* capacity for live changes, or NULL */
	struct message_path *path; /* of an upstream scheduler, or NULL */

	unsigned added_modems; /* modems that kit_add_modems() added */
	struct upstream *u; /* under test */
	struct clock clock;
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	/* of the keys of modem m: [2 * m], and [2 * m + 1] for its next key; or NULL */
	void *schedules[2 * KIT_MAX_MODEMS];
	/* R-PHY packets, copied frames, attached frames */
	struct rte_mempool *packets, *frames, *pieces;
	uint16_t rphy, network, control; /* the test's ends of the ports */
	uint16_t near[3]; /* the upstream's ends: R-PHY, network, control */
	struct random random;

	/* next sequence numbers by session and flow; the last element: unknown sessions */
	uint16_t psp[KIT_SESSIONS + 1][PSP_FLOW_MAX + 1];
	uint16_t segment[KIT_STREAMS]; /* next segment sequence number per stream */
	uint32_t burst_id;
	uint64_t injected; /* packets sent to the R-PHY port */
	uint32_t serial[KIT_STREAMS]; /* number of the stream's next packet */
	uint16_t size[KIT_STREAMS][KIT_SERIALS]; /* bytes of each packet that was made */
	uint32_t received[KIT_STREAMS]; /* packets that arrived with the right bytes */
	uint32_t next[KIT_STREAMS]; /* the lowest serial that may arrive next */
	uint32_t other_frames; /* frames at the network port that are not packets of a stream */
	uint8_t other[KIT_FRAME_MAX]; /* the latest of them */
	uint32_t other_size;
	uint32_t messages; /* frames at the control port */
	uint8_t message[KIT_FRAME_MAX]; /* the latest of them */
	uint32_t message_size;
	uint64_t expected[DROP_REASONS]; /* drops */
	bool ignore_drops; /* kit_close() compares neither drops nor received packets */
	bool lossy; /* kit_close() does not require that all packets were received */
};

/* Sets the default configuration and sizes. */
void kit_set_defaults(struct upstream_kit *k);

/* The kit of the running case. */
extern struct upstream_kit *const kit;

/* Adds modems without keys before kit_start(), as in a case's `prepare`. Each has a flow of one SID cluster on channel
 * 0; modem KIT_MODEMS + i has the SID KIT_ADDED_SID + i. They have no stream of `kit_streams`. */
void kit_add_modems(unsigned count);

/* Creates ports, pools, crypto and the upstream as `kit` configures them. kit_open() sets the defaults first. A
 * case that is not self-started calls neither, nor kit_close(). */
void kit_start(void);
void kit_open(void);

/* Stops and frees the upstream. Fails if drops differ from those expected, a packet is missing, a unit (enum unit) does
 * not balance: in = out + drops + pending, or a buffer, crypto operation or pending buffer is left after the stop. */
void kit_close(void);

/* Creates a provider, a queue and the key schedules of the configuration in `kit`. kit_crypto_close() frees its
 * arguments: those of `kit`, or former ones that the test has replaced. */
void kit_crypto_open(void);
void kit_crypto_close(struct crypto_provider *crypto, struct crypto_queue *queue,
		      void *schedules[2 * KIT_MAX_MODEMS]);

/* Expects `n` more drops. */
void kit_expect_drops(enum drop_reason reason, uint64_t n);

/* The upstream's counter. */
uint64_t kit_counter(enum counter counter);

/* Fails if anything is pending. */
void kit_check_nothing_pending(void);

/* A PSP packet that is being built. */
struct psp_packet {
	uint32_t session;
	uint8_t flow;
	bool unnumbered; /* S = 0: no sequence number */
	bool numbered; /* `sequence` is set; else the packet gets the flow's next number */
	uint16_t sequence;
	uint8_t count; /* segments */
	uint8_t table[PSP_COUNT_MAX * PSP_ENTRY_SIZE];
	uint8_t data[KIT_PACKET_MAX];
	size_t size; /* bytes of `data` */
};

/* Begins an empty packet, and adds a PSP segment to it. */
void psp_begin(struct psp_packet *p, uint32_t session);
void psp_add_segment(struct psp_packet *p, bool begin, bool end, const void *bytes, size_t size);

/* Adds the UEPI header of a new burst, or the trailer of the latest one, in the format of the session's channel. */
void psp_add_header(struct psp_packet *p, uint16_t sid);
void psp_add_trailer(struct psp_packet *p);

/* Writes the Ethernet frame with the packet: up to KIT_HEADERS_MAX bytes and the payload. Returns its size. Takes the
 * flow's next number unless `numbered` or `unnumbered`. */
size_t psp_write(const struct psp_packet *p, uint8_t *out);

/* Sends the packet to the R-PHY port. Fails if the port is full: run rounds in between. */
void psp_send(const struct psp_packet *p);

/* Sends a whole Ethernet frame to the R-PHY port, unchanged. Fails if the port is full. */
void kit_inject(const void *frame, size_t size);

/* Sends a burst of a SID in one PSP packet of flow 0. kit_send_plain() sends it with the stream's SID on its first
 * channel, without a segment header. */
void kit_send_burst(uint32_t session, uint16_t sid, const void *payload, size_t size);
void kit_send_plain(unsigned stream, const void *bytes, size_t size);

/* Sends a segment on the stream's first channel. `pointer`: bytes from the segment header to the first frame, or
 * KIT_NO_POINTER. kit_send_segment() takes the stream's next number; kit_send_segment_as() uses the header `h`. */
#define KIT_NO_POINTER (-1)
void kit_send_segment(unsigned stream, int pointer, const void *bytes, size_t size);
void kit_send_segment_as(unsigned stream, const struct segment_header *h, const void *bytes,
			 size_t size);

uint32_t kit_session(unsigned channel); /* the session of its data */

/* Writes the Ethernet frame of a packet, without CRC: IPv4 and UDP, from the modem's address. */
void kit_write_ethernet(unsigned stream, uint32_t serial, size_t size, uint8_t *out);

/* Writes the stream's next packet, of `size` bytes without CRC (at least KIT_FRAME_MIN), as a MAC frame. Returns the
 * size of the frame. kit_next_frame() encrypts two packets with each key generation alternately. Frames of modems
 * without a key, and all of kit_next_clear_frame(), are in the clear. */
size_t kit_next_frame(unsigned stream, size_t size, uint8_t *out);
size_t kit_next_clear_frame(unsigned stream, size_t size, uint8_t *out);

/* Writes a MAC frame with a PDU of `size` bytes and its CRC. If h->encrypted, encrypts it with the
 * key generation that h->key_sequence names. Returns the size of the frame. */
size_t kit_write_frame(unsigned modem, const struct docsis_up_header *h, const void *pdu,
		       size_t size, uint8_t *out);

/* Runs rounds of the upstream without advancing the clock. Fails if a unit does not balance. */
void kit_run_round(void);
void kit_run_rounds(unsigned n);

/* Runs rounds, and receives packets and messages, until no packet moves. Fails if the upstream has not received all
 * sent packets. kit_advance() first advances the clock by `ns`. */
void kit_settle(void);
void kit_advance(uint64_t ns);

/* Receives up to `most` frames from the network port. Returns how many. Fails unless the packets of a stream have the
 * right bytes and increasing serials. Other frames are counted, the latest is in `other`. */
unsigned kit_receive(unsigned most);

/* Fails unless all packets of the stream that kit_next_*frame() wrote were received. */
void kit_check_complete(unsigned stream);

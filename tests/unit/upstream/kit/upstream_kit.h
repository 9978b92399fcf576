/* SPDX-License-Identifier: BSD-3-Clause */
/* A kit for tests of the upstream of one service group: configuration, in-memory ports, sent and
 * received packets. The test plays the R-PHY device, the network and the control plane. */
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
#define KIT_PACKET_MAX 9200 /* bytes of an L2TPv3 packet with its headers */
#define KIT_FRAME_MAX 2100 /* bytes of a MAC frame that kit_next_frame() writes */
#define KIT_SERIALS 65536
#define KIT_FRAME_MIN 60 /* bytes without CRC; the upstream pads shorter frames */
#define KIT_MS 1000000ull
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

/* The streams: one per SID cluster, in the order of the upstream's tables. Index:
 * 0, 1  modem 0, two AES keys: cluster 0 on channels 0 and 2, cluster 3 on channel 2
 * 2     modem 0, another flow: channel 1
 * 3     modem 1, one AES key, no segment headers: channel 0
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
	unsigned control_depth; /* the same of the control port */
	bool no_control; /* the group has no control port */
	unsigned packet_buffers, frame_buffers, piece_buffers; /* per pool */
	unsigned packet_slot; /* bytes of a packet buffer */
	bool copy_frames; /* copy each frame instead of attaching it to its packet */
	unsigned added_modems; /* modems that kit_add_modems() added */
	const struct group_capacity *capacity; /* capacity for live changes, or NULL */
	struct message_path *path; /* of an upstream scheduler, or NULL */

	struct upstream *u; /* under test */
	struct clock clock;
	struct crypto_provider *crypto;
	struct crypto_queue *queue;
	void *schedules[2 * KIT_MAX_MODEMS];
	struct rte_mempool *packets, *frames, *pieces;
	uint16_t rphy, network, control; /* the test's ends of the ports */
	uint16_t near[3]; /* the upstream's ends: R-PHY, network, control */
	struct random random;

	uint16_t psp[4 * KIT_CHANNELS][PSP_FLOW_MAX + 1]; /* next sequence numbers */
	uint16_t segment[KIT_STREAMS]; /* next segment sequence number per stream */
	uint32_t burst_id;
	uint64_t injected; /* packets sent to the R-PHY port */
	uint32_t serial[KIT_STREAMS]; /* number of the stream's next packet */
	uint16_t size[KIT_STREAMS][KIT_SERIALS]; /* bytes of each packet that was made */
	uint32_t received[KIT_STREAMS]; /* packets that arrived, as expected */
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
void kit_set_defaults(struct upstream_kit *b);

/* The kit of the running case. */
extern struct upstream_kit *const kit;

/* For `prepare`: adds modems without keys, each with a flow of one SID cluster. */
void kit_add_modems(unsigned count);

/* Creates ports, pools and the upstream. kit_open() sets the defaults first. */
void kit_start(void);
void kit_open(void);

/* Stops and frees the upstream. Fails if drops differ from those expected, a packet is missing, the
 * units do not balance, or a buffer, crypto operation or pending buffer is left after the stop. */
void kit_close(void);

/* Creates and frees a crypto provider, a queue and the key schedules of the configuration. */
void kit_crypto_open(void);
void kit_crypto_close(struct crypto_provider *crypto, struct crypto_queue *queue,
		      void *schedules[2 * KIT_MAX_MODEMS]);

/* Expects `n` more drops. */
void kit_expect_drops(enum drop_reason reason, uint64_t n);

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
	uint8_t count;
	uint8_t table[PSP_COUNT_MAX * PSP_ENTRY_SIZE];
	uint8_t data[KIT_PACKET_MAX];
	size_t size;
};

/* Begins an empty packet, and adds a PSP segment to it. */
void psp_begin(struct psp_packet *p, uint32_t session);
void psp_add_segment(struct psp_packet *p, bool begin, bool end, const void *bytes, size_t size);

/* Adds the UEPI header or trailer of a burst, in the format of the session's channel. */
void psp_add_header(struct psp_packet *p, uint16_t sid);
void psp_add_trailer(struct psp_packet *p);

/* Writes the whole L2TPv3 packet with its headers. Returns its size. */
size_t psp_write(const struct psp_packet *p, uint8_t *out);

/* Sends the packet to the R-PHY port. Fails if the port is full: run rounds in between. */
void psp_send(const struct psp_packet *p);

/* Sends a whole Ethernet frame to the R-PHY port, unchanged. */
void kit_inject(const void *frame, size_t size);

/* Sends a burst in one PSP packet of flow 0; kit_send_plain() on the first channel of a stream. */
void kit_send_burst(uint32_t session, uint16_t sid, const void *payload, size_t size);
void kit_send_plain(unsigned stream, const void *bytes, size_t size);

/* Sends a segment on the stream's first channel. `pointer`: to the first frame, or KIT_NO_POINTER.
 * Without a header of the caller, the number is the stream's next one. */
#define KIT_NO_POINTER (-1)
void kit_send_segment(unsigned stream, int pointer, const void *bytes, size_t size);
void kit_send_segment_as(unsigned stream, const struct segment_header *h, const void *bytes,
			 size_t size);

uint32_t kit_session(unsigned channel); /* of data */

/* Writes the Ethernet frame of a packet, without CRC: IPv4 and UDP, from the modem's address. */
void kit_write_ethernet(unsigned stream, uint32_t serial, size_t size, uint8_t *out);

/* Writes the stream's next packet of `size` bytes as a MAC frame: encrypted with the modem's keys
 * in turn, or in the clear. Returns the size of the frame. */
size_t kit_next_frame(unsigned stream, size_t size, uint8_t *out);
size_t kit_next_clear_frame(unsigned stream, size_t size, uint8_t *out);

/* Writes a MAC frame with a PDU of `size` bytes and its CRC. If h->encrypted, encrypts it with the
 * key generation that h->key_sequence names. Returns the size of the frame. */
size_t kit_write_frame(unsigned modem, const struct docsis_up_header *h, const void *pdu,
		       size_t size, uint8_t *out);

/* Runs rounds of the upstream without advancing the clock. Fails if the units do not balance. */
void kit_run_round(void);
void kit_run_rounds(unsigned n);

/* Runs rounds until no packet moves, and receives them; kit_advance() `ns` later. */
void kit_settle(void);
void kit_advance(uint64_t ns);

/* Receives up to `most` frames from the network port and checks them. Returns how many. */
unsigned kit_receive(unsigned most);

/* Fails unless all packets that were made of the stream have been received. */
void kit_check_complete(unsigned stream);

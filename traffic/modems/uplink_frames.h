/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MAC frames as modems send them, one behind the other in a buffer:
 *
 *     +------------+-----------------+-----+    key of the modem: CRC and BPI+ are left to the
 *     | MAC header | Ethernet frame  | CRC |    crypto provider, for all frames of a round together;
 *     +------------+-----------------+-----+    in the clear: the CRC is written at once
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#include "modems/key_store.h"
#include "modems/uplink_encrypt.h"
#include "modems/uplink_frame.h"
#include "modems/uplink_packets.h"
#include "wire/docsis_up.h"

#define UPLINK_KEY_FRAMES 64 /* that a modem encrypts with one generation of its key in turn */

/* Bytes of the longest frame, and what a packet may touch behind its end. */
#define UPLINK_FRAME_MAX (DOCSIS_UP_HEADER_MAX + PACKET_SIZE_MAX + 4)
#define UPLINK_FRAME_SLACK PACKET_START_MAX

struct uplink_modem {
	uint32_t index; /* in the service group */
	uint8_t mac[6];
	uint8_t key_count; /* 0: everything goes in the clear */
	bool newest; /* of its keys is used alone, else they take turns */
	bool same_key; /* as before the change that brought the plan */
	struct crypto_key keys[2];
	struct stored_key *stored[2];
	uint32_t encrypted; /* frames */
	uint32_t grants;
	uint32_t first_place, place_count; /* in the plan: its SID clusters */
};

struct uplink_frames {
	const struct frame_impairer *impairer; /* NULL: nothing goes wrong */
	struct impair *impair; /* for it */
	const struct frame_refuser *refuser; /* NULL: no frames are to be dropped */
	struct uplink_refused *refused; /* for it */
	struct uplink_packets packets;
	struct uplink_encryptor encryptor;
	uint8_t cmts_mac[6];
	uint64_t management; /* messages */
	uint64_t requests; /* request frames, and requests in MAC headers */
	uint64_t fragments;
	uint64_t concatenations;
};

/* Takes the keys of a modem. Returns 0, or -1 after a message. */
int uplink_modem_create(struct uplink_modem *m, const struct service_group *sg, uint32_t index,
			struct key_store *store);

void uplink_modem_free(struct uplink_modem *m, struct key_store *store);

/* All counts are 0. */
void uplink_frames_restart(struct uplink_frames *f);

/* Whether both encrypt their next frame with the same key, where they use the newest. */
bool uplink_key_same(const struct uplink_modem *a, const struct uplink_modem *b);

/* The key of a modem's next frame; NULL where it sends in the clear. */
const struct crypto_key *uplink_key_next(struct uplink_modem *m);

/* Sets what a header says about the key, which may be NULL. */
void uplink_key_name(struct docsis_up_header *h, const struct crypto_key *key);

/* Bytes of the frame of packet `sequence` of `stream` behind this header. */
uint32_t uplink_frame_size(const struct uplink_frames *f, const struct docsis_up_header *h,
			   uint32_t stream, uint32_t sequence);

/*
 * These write a frame at offset `at` of a buffer and return its size. A packet is encrypted with
 * `key`, or in the clear with NULL. A fragment holds `size` bytes of `payload`.
 */
uint32_t uplink_frame_packet(struct uplink_frames *f, const struct docsis_up_header *h,
			     uint32_t modem, const struct packet_tag *tag,
			     const struct crypto_key *key, struct rte_mbuf *buffer, uint32_t at);
uint32_t uplink_frame_fragment(struct uplink_frames *f, const struct docsis_up_header *h,
			       const uint8_t *payload, uint32_t size, const struct crypto_key *key,
			       struct rte_mbuf *buffer, uint32_t at);

/* Writes the frame of a packet in the clear, for fragments. Returns its size. */
uint32_t uplink_frame_clear(struct uplink_frames *f, const struct docsis_up_header *h,
			    uint32_t modem, const struct packet_tag *tag, uint8_t *out);

/* Writes a RNG-REQ as it is sent to keep ranging up (MULPI, RNG-REQ). Returns its size, which is
 * UPLINK_RANGING_SIZE. */
#define UPLINK_RANGING_SIZE 34
uint32_t uplink_frame_ranging(struct uplink_frames *f, const struct uplink_modem *m, uint16_t sid,
			      uint8_t *out);

/* What struct frame_impairer is told of both kinds of flows, where there is one. */
static inline void impairer_choose(const struct uplink_frames *frames, const struct uplink_grant *g,
				   struct uplink_frame *f) {
	if (frames->impairer != NULL)
		frames->impairer->choose(frames->impair, g, f);
}

static inline void impairer_made(const struct uplink_frames *frames, struct uplink_grant *g,
				 const struct uplink_frame *f, uint32_t sequence, uint32_t at,
				 uint32_t size) {
	if (frames->impairer != NULL)
		frames->impairer->made(frames->impair, g, f, sequence, at, size);
}

static inline void impairer_plain_made(const struct uplink_frames *frames,
				       const struct uplink_grant *g, enum docsis_kind kind,
				       uint32_t size) {
	if (frames->impairer != NULL)
		frames->impairer->plain_made(frames->impair, g, kind, size);
}
